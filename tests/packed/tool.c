/* The command neoprene-weights, run as users run it. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/packed/file/format.h"
#include "tests/support/packed/weights.h"

enum { ENTRIES = 6 };

static char tool[4096]; /* with the emulator, if there is one */
static char output[65536];

/* The command is built beside this program. */
static void find_tool(void)
{
    char self[2048];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    *strrchr(self, '/') = 0;
    const char *emulator = getenv("EMULATOR");
    snprintf(tool, sizeof tool, "%s %s/../../tools/neoprene-weights", emulator ? emulator : "",
             self);
}

/* Returns the exit status; what the command printed is in output. */
static int run(const char *arguments, const char *path)
{
    char command[8192];
    snprintf(command, sizeof command, "%s %s %s 2>&1", tool, arguments, path ? path : "");
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t used = fread(output, 1, sizeof output - 1, pipe);
    output[used] = 0;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool printed(const char *text)
{
    return strstr(output, text) != NULL;
}

static size_t lines(void)
{
    size_t count = 0;
    for (const char *at = output; *at; at++)
        count += *at == '\n';
    return count;
}

static void make_file(const char *path)
{
    neo_weights_provider provider = weights_open(path, 0);
    for (uint32_t i = 0; i < ENTRIES; i++)
        assert_int_equal(weights_add(&provider, i), NEO_OK);
    weights_close(&provider);
}

static void add_version(const char *path, uint32_t i, uint32_t version)
{
    neo_weights_provider provider = weights_open(path, 0);
    neo_weights_key key = weights_key_of(i, version);
    neo_weights_reservation reservation;
    neo_weights_blob blob;
    assert_int_equal(provider.reserve_space(provider.context, &key, 100, 64, &reservation), NEO_OK);
    memset(reservation.data, 1, 100);
    assert_int_equal(provider.look_up_or_insert(provider.context, &key, &reservation, &blob),
                     NEO_OK);
    provider.unpin(provider.context, blob.offset);
    weights_close(&provider);
}

static void flip_last_byte_of(const char *path, uint32_t slot)
{
    struct format_record record;
    FILE *file = fopen(path, "r+b");
    fseek(file, FORMAT_HEADER_BYTES + (long)slot * FORMAT_RECORD_BYTES, SEEK_SET);
    assert_int_equal(fread(&record, sizeof record, 1, file), 1);
    fseek(file, (long)(record.offset + record.size - 1), SEEK_SET);
    int byte = fgetc(file);
    fseek(file, -1, SEEK_CUR);
    fputc(byte ^ 1, file);
    fclose(file);
}

static void list_prints_a_line_for_each_entry(void **state)
{
    make_file(*state);
    assert_int_equal(run("list", *state), 0);
    assert_int_equal(lines(), ENTRIES);
    assert_true(printed(" 7.1 ") && printed("usable"));
    neo_weights_key key = weights_key_of(3, 1);
    char hash[64];
    snprintf(hash, sizeof hash, "%016llx%016llx  7.1 ", (unsigned long long)key.content.high,
             (unsigned long long)key.content.low);
    assert_true(printed(hash) && printed("       70000 "));
}

static void the_environment_names_the_file(void **state)
{
    make_file(*state);
    assert_int_equal(run("list", NULL), 2);
    setenv("NEOPRENE_WEIGHTS_CACHE", *state, 1);
    assert_int_equal(run("list", NULL), 0);
    assert_int_equal(lines(), ENTRIES);
    unsetenv("NEOPRENE_WEIGHTS_CACHE");
}

static void verify_finds_damage(void **state)
{
    make_file(*state);
    assert_int_equal(run("verify", *state), 0);
    assert_true(printed("6 entries are sound, 0 damaged"));
    flip_last_byte_of(*state, 3);
    assert_int_equal(run("verify", *state), 1);
    assert_true(printed("5 entries are sound, 1 damaged") && printed("70000"));
    assert_int_equal(run("compact", *state), 0);
    assert_int_equal(run("verify", *state), 0);
    assert_true(printed("5 entries are sound, 0 damaged"));
}

static void stats_prints_sums(void **state)
{
    make_file(*state);
    assert_int_equal(run("stats", *state), 0);
    assert_true(printed("usable      6 entries, 84.8 KiB"));
    assert_true(printed("generation  1") && printed("lost        0 records"));
    assert_false(printed("writer"));
}

static void compact_keeps_to_a_limit(void **state)
{
    make_file(*state);
    assert_int_equal(run("compact --limit=64K", *state), 0);
    assert_true(weights_file_bytes(*state) <= 65536);
    assert_int_equal(run("list", *state), 0);
    assert_true(lines() < ENTRIES && lines() > 0);
    assert_false(printed("70000"));
}

static void stale_versions_can_be_dropped(void **state)
{
    make_file(*state);
    add_version(*state, 1, 2);
    assert_int_equal(run("list", *state), 0);
    assert_true(printed("stale") && printed(" 7.2 "));
    assert_int_equal(run("compact --stale", *state), 0);
    assert_int_equal(run("list", *state), 0);
    assert_int_equal(lines(), ENTRIES);
    assert_false(printed("stale"));
}

static void entries_are_deleted_by_layout_content_and_age(void **state)
{
    make_file(*state);
    add_version(*state, 1, 2);
    assert_int_equal(run("delete --layout=7.2", *state), 0);
    assert_int_equal(run("list", *state), 0);
    assert_int_equal(lines(), ENTRIES);
    neo_weights_key key = weights_key_of(3, 1);
    char arguments[128];
    snprintf(arguments, sizeof arguments, "delete --content %016llx%016llx",
             (unsigned long long)key.content.high, (unsigned long long)key.content.low);
    assert_int_equal(run(arguments, *state), 0);
    assert_int_equal(run(arguments, *state), 1); /* it is gone */
    assert_true(printed("no entry is selected"));
    assert_int_equal(run("delete --unused=1", *state), 1);
    assert_int_equal(run("delete --layout=8", *state), 1);
    assert_int_equal(run("list", *state), 0);
    assert_int_equal(lines(), ENTRIES - 1);
    assert_int_equal(run("delete --unused=0 --layout 7", *state), 0);
    assert_int_equal(run("list", *state), 0);
    assert_int_equal(lines(), 0);
}

static void delete_removes_only_a_cache(void **state)
{
    make_file(*state);
    assert_int_equal(run("delete", *state), 0);
    assert_int_equal(access(*state, F_OK), -1);
    assert_int_equal(run("delete", *state), 3);
    assert_true(printed("there is no such file"));
    FILE *file = fopen(*state, "w");
    fputs("my own text, long enough to be anything at all", file);
    fclose(file);
    chmod(*state, 0600);
    assert_int_equal(run("delete", *state), 3);
    assert_true(printed("no weights cache"));
    assert_int_equal(access(*state, F_OK), 0);
}

static void a_file_that_is_being_written_to_is_busy(void **state)
{
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_key key = weights_key_of(0, 1);
    neo_weights_reservation reservation;
    assert_int_equal(provider.reserve_space(provider.context, &key, 100, 64, &reservation), NEO_OK);
    assert_int_equal(run("compact", *state), 4);
    assert_int_equal(run("delete", *state), 4);
    assert_int_equal(run("stats", *state), 0);
    char writer[64];
    snprintf(writer, sizeof writer, "writer      process %d", (int)getpid());
    assert_true(printed(writer));
    provider.cancel(provider.context, &reservation);
    weights_close(&provider);
    assert_int_equal(run("compact", *state), 0);
}

static void wrong_usage_is_explained(void **state)
{
    static const struct {
        const char *arguments, *text;
        int status;
    } rows[] = {
        {"", "a command is needed", 2},
        {"lsit x", "unknown command 'lsit'; did you mean 'list'?", 2},
        {"frobnicate x", "unknown command 'frobnicate'\n", 2},
        {"compact --limt=1G x", "unknown option '--limt'; did you mean '--limit'?", 2},
        {"compact --limit", "needs a value", 2},
        {"compact --limit=12Q x", "not a value for the option: 12Q", 2},
        {"compact --limit=0 x", "not a value", 2},
        {"compact '--limit=1 ' x", "not a value", 2},
        {"compact --stale=1 x", "takes no value", 2},
        {"delete --layout=7. x", "not a value", 2},
        {"delete --content=12 x", "not a value", 2},
        {"list --stale x", "this command does not take the option: --stale", 2},
        {"list -x y", "unknown option '-x'", 2},
        {"list a b", "only one file at a time: b", 2},
        {"list -- /nowhere/-x", "there is no such file: /nowhere/-x", 3},
        {"--help", "Usage: neoprene-weights COMMAND", 0},
        {"list -h", "Exit status:", 0},
        {"--version", "neoprene-weights 0.", 0},
    };
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++) {
        assert_int_equal(run(rows[i].arguments, NULL), rows[i].status);
        assert_true(printed(rows[i].text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WEIGHTS_TEST(list_prints_a_line_for_each_entry),
        WEIGHTS_TEST(the_environment_names_the_file),
        WEIGHTS_TEST(verify_finds_damage),
        WEIGHTS_TEST(stats_prints_sums),
        WEIGHTS_TEST(compact_keeps_to_a_limit),
        WEIGHTS_TEST(stale_versions_can_be_dropped),
        WEIGHTS_TEST(entries_are_deleted_by_layout_content_and_age),
        WEIGHTS_TEST(delete_removes_only_a_cache),
        WEIGHTS_TEST(a_file_that_is_being_written_to_is_busy),
        cmocka_unit_test(wrong_usage_is_explained),
    };
    unsetenv("NEOPRENE_WEIGHTS_CACHE");
    find_tool();
    return cmocka_run_group_tests_name("weights_tool", tests, NULL, NULL);
}
