/* The file provider: what it refuses, and what it does when the file refuses. */
#include "tests/support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/packed/file/format.h"
#include "tests/support/fault.h"
#include "tests/support/packed/weights.h"
#include "tests/support/syscalls.h"
#include "tests/support/temporary.h"

/* ---- the file refuses ---- */

/* All entries are right, and each that the file did not take is counted. */
static void expect_fallbacks(const char *path, neo_status file_status, int file_errno)
{
    neo_weights_provider provider = weights_open(path, 0);
    neo_weights_blob blobs[4];
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(weights_put(&provider, i, &blobs[i]), NEO_OK);
    neo_weights_statistics statistics = weights_statistics(&provider);
    assert_int_equal(statistics.fallbacks, 4);
    assert_int_equal(statistics.file_status, file_status);
    assert_int_equal(statistics.file_errno, file_errno);
    assert_int_equal(statistics.memory_bytes, weights_unique_bytes(4));
    for (uint32_t i = 0; i < 4; i++)
        provider.unpin(provider.context, blobs[i].offset);
    weights_close(&provider);
    neo_weights_file_options options = {.flags = NEO_WEIGHTS_REQUIRE_FILE};
    neo_status status = neo_weights_file_provider_create(&provider, path, &options);
    assert_int_equal(status, file_status == NEO_NOT_FOUND ? NEO_IO_ERROR : file_status);
}

static void links_folders_and_pipes_are_refused(void **state)
{
    char other[4096];
    snprintf(other, sizeof other, "%s.other", (const char *)*state);
    weights_add_all(other, 4);
    assert_int_equal(symlink(other, *state), 0);
    expect_fallbacks(*state, NEO_IO_ERROR, ELOOP);
    unlink(*state);
    assert_int_equal(mkdir(*state, 0700), 0);
    expect_fallbacks(*state, NEO_IO_ERROR, EISDIR);
    rmdir(*state);
    assert_int_equal(mkfifo(*state, 0600), 0);
    expect_fallbacks(*state, NEO_IO_ERROR, EPERM);
    unlink(*state);
}

static void a_file_that_others_may_write_to_is_refused(void **state)
{
    static const mode_t modes[] = {0620, 0602};
    weights_add_all(*state, 4);
    for (size_t i = 0; i < count_of(modes); i++) {
        assert_int_equal(chmod(*state, modes[i]), 0);
        expect_fallbacks(*state, NEO_IO_ERROR, EPERM);
    }
    if (geteuid() == 0) { /* only root can give files away */
        assert_int_equal(chmod(*state, 0600), 0);
        assert_int_equal(chown(*state, 65534, 65534), 0);
        expect_fallbacks(*state, NEO_IO_ERROR, EPERM);
    }
}

static void a_missing_folder_is_no_disaster(void **state)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/in/no/folder", (const char *)*state);
    expect_fallbacks(path, NEO_NOT_FOUND, ENOENT);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
    chmod(path, 0600);
}

static void a_file_that_is_no_cache_is_never_written_to(void **state)
{
    static const char model[30000] = "my only copy of a model";
    static const char zeros[1000000];
    write_file(*state, model, sizeof model);
    expect_fallbacks(*state, NEO_CORRUPT, EILSEQ);
    assert_int_equal(neo_weights_file_delete(*state), NEO_CORRUPT);
    assert_int_equal(neo_weights_file_compact(*state, 0, NULL, NULL, NULL), NEO_CORRUPT);
    char back[sizeof model];
    FILE *file = fopen(*state, "rb");
    assert_int_equal(fread(back, 1, sizeof back, file), sizeof back);
    fclose(file);
    assert_memory_equal(back, model, sizeof model);
    write_file(*state, "x", 1);
    expect_fallbacks(*state, NEO_CORRUPT, EILSEQ);
    write_file(*state, zeros, sizeof zeros);
    expect_fallbacks(*state, NEO_CORRUPT, EILSEQ);
}

static void write_model(void *path)
{
    static const char model[] = "a model";
    int fd = open(path, O_WRONLY);
    assert_int_equal(write(fd, model, sizeof model), sizeof model);
    close(fd);
}

static void an_empty_file_that_gets_contents_meanwhile_is_left_alone(void **state)
{
    write_file(*state, "", 0);
    neo_weights_provider provider = weights_open(*state, 0);
    syscalls_hook(SYSCALL_FLOCK, write_model, *state); /* between the first look and the lease */
    assert_int_equal(weights_add(&provider, 0), NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 1);
    assert_int_equal(weights_statistics(&provider).file_errno, EILSEQ);
    assert_int_equal(weights_file_bytes(*state), sizeof "a model");
    weights_close(&provider);
}

static void a_newer_format_is_left_alone(void **state)
{
    weights_add_all(*state, 4);
    int fd = open(*state, O_RDWR);
    uint32_t version = FORMAT_VERSION + 1;
    assert_int_equal(pwrite(fd, &version, sizeof version, offsetof(struct format_header, version)),
                     sizeof version);
    close(fd);
    expect_fallbacks(*state, NEO_UNSUPPORTED, EPROTONOSUPPORT);
    assert_int_equal(neo_weights_file_list(*state, 0, NULL, NULL, NULL), NEO_UNSUPPORTED);
}

static void an_empty_file_is_used(void **state)
{
    write_file(*state, "", 0);
    weights_add_all(*state, 4);
    weights_get_all(*state, 4, 0);
}

/* Runs check in a child without privileges; the parent's asserts see its exit status. */
static void as_nobody(void (*check)(const char *path), const char *path)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(2);
        check(path);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void require(bool condition, int code)
{
    if (!condition)
        _exit(code);
}

static void insert_without_permission(const char *path)
{
    neo_weights_provider provider = weights_open(path, 0);
    require(weights_get(&provider, 1) == NEO_OK, 3); /* root's file may be read */
    require(weights_add(&provider, 9) == NEO_OK, 4);
    neo_weights_statistics statistics = weights_statistics(&provider);
    require(statistics.fallbacks == 1 && statistics.file_errno == EACCES, 5);
    weights_close(&provider);
}

static void create_without_permission(const char *path)
{
    neo_weights_provider provider = weights_open(path, 0);
    require(weights_add(&provider, 9) == NEO_OK, 4);
    neo_weights_statistics statistics = weights_statistics(&provider);
    require(statistics.fallbacks == 1 && statistics.file_errno == EACCES, 5);
    weights_close(&provider);
}

static void a_read_only_file_and_folder_are_no_disaster(void **state)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", (const char *)*state);
    *strrchr(folder, '/') = 0;
    assert_int_equal(chmod(folder, 0555), 0);
    as_nobody(create_without_permission, *state);
    assert_int_equal(chmod(folder, 0755), 0);
    weights_add_all(*state, 4);
    assert_int_equal(chmod(*state, 0444), 0);
    as_nobody(insert_without_permission, *state);
}

static void a_read_only_provider_changes_nothing(void **state)
{
    weights_add_all(*state, 4);
    struct stat before, after;
    assert_int_equal(stat(*state, &before), 0);
    neo_weights_provider provider = weights_open(*state, NEO_WEIGHTS_READ_ONLY);
    assert_int_equal(weights_get(&provider, 1), NEO_OK);
    assert_int_equal(weights_add(&provider, 5), NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 1);
    assert_int_equal(weights_statistics(&provider).file_errno, EROFS);
    weights_close(&provider);
    assert_int_equal(stat(*state, &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
}

static void under_file_size_limit(const char *path)
{
    struct rlimit limit = {100000, 100000};
    require(setrlimit(RLIMIT_FSIZE, &limit) == 0, 3);
    neo_weights_provider provider = weights_open(path, 0);
    for (uint32_t i = 0; i < 8; i++)
        require(weights_add(&provider, i) == NEO_OK, 4);
    neo_weights_statistics statistics = weights_statistics(&provider);
    require(statistics.fallbacks >= 1 && statistics.file_errno == EFBIG, 5);
    require(statistics.file_entries >= 5, 6);
    weights_close(&provider);
}

static void a_file_size_limit_does_not_kill(void **state)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        under_file_size_limit(*state);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status)); /* SIGXFSZ would have ended it */
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(weights_file_bytes(*state) <= 100000);
}

/* On a disk of 256 KiB: a tmpfs in the child's own mount namespace, where one may be made. */
static void on_a_full_disk(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s.disk", path);
    require(mkdir(folder, 0700) == 0, 3);
    if (mount("none", folder, "tmpfs", 0, "size=256k"))
        _exit(77);
    snprintf(folder, sizeof folder, "%s.disk/cache", path);
    neo_weights_provider provider = weights_open(folder, 0);
    neo_weights_blob blobs[24];
    for (uint32_t i = 0; i < 24; i++)
        require(weights_put(&provider, i, &blobs[i]) == NEO_OK, 4);
    neo_weights_statistics statistics = weights_statistics(&provider);
    require(statistics.fallbacks >= 1 && statistics.file_errno == ENOSPC, 5);
    require(statistics.inserts == 24 && statistics.file_entries >= 8, 6);
    for (uint32_t i = 0; i < 24; i++)
        require(provider.unpin(provider.context, blobs[i].offset) == NEO_OK, 7);
    weights_close(&provider);
    snprintf(folder, sizeof folder, "%s.disk", path);
    umount(folder);
}

static void a_full_disk_is_no_disaster(void **state)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        on_a_full_disk(*state);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) { /* no right to mount: the refusal is played instead */
        syscalls_fail_all(SYSCALL_FALLOCATE, ENOSPC);
        expect_fallbacks(*state, NEO_IO_ERROR, ENOSPC);
        syscalls_reset();
    } else {
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void every_kind_of_call_may_fail_for_good(void **state)
{
    for (int kind = 0; kind < SYSCALL_KINDS; kind++) {
        unlink(*state);
        syscalls_reset();
        syscalls_fail_all((enum syscall_kind)kind, EIO);
        neo_weights_provider provider = weights_open(*state, NEO_WEIGHTS_DURABLE);
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(weights_add(&provider, i), NEO_OK);
            assert_int_equal(weights_get(&provider, i), NEO_OK);
        }
        weights_close(&provider);
        syscalls_reset();
    }
}

static void any_failed_call_leaves_right_entries(void **state)
{
    bool delivered = true;
    for (size_t n = 1; delivered; n++) {
        unlink(*state);
        neo_weights_provider provider = weights_open(*state, NEO_WEIGHTS_DURABLE);
        syscalls_fail_at(n, ENOSPC);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(weights_add(&provider, i), NEO_OK);
        neo_status compacted = neo_weights_file_compact(*state, 0, NULL, NULL, NULL);
        delivered = syscalls_reset();
        assert_true(compacted == NEO_OK || delivered);
        for (uint32_t i = 0; i < 6; i++)
            assert_int_equal(weights_add(&provider, i), NEO_OK);
        assert_in_range(weights_statistics(&provider).fallbacks, 0, 1);
        weights_close(&provider);
        weights_add_all(*state, 6);
        weights_get_all(*state, 6, 0);
    }
}

/* Neither the right to write nor the place stays with an entry that could not be committed. */
static void a_failed_commit_is_in_nobody_s_way(void **state)
{
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_blob blob;
    assert_int_equal(weights_add(&provider, 0), NEO_OK);
    syscalls_fail_all(SYSCALL_PWRITE, EIO);
    assert_int_equal(weights_put(&provider, 1, &blob), NEO_OK); /* into memory, and pinned */
    syscalls_reset();
    assert_int_equal(weights_statistics(&provider).fallbacks, 1);
    uint64_t before = weights_file_bytes(*state);
    weights_add_all(*state, 2); /* another provider, which need not wait */
    assert_true(weights_file_bytes(*state) <= before);
    assert_int_equal(provider.unpin(provider.context, blob.offset), NEO_OK);
    weights_close(&provider);
    weights_get_all(*state, 2, 0);
}

/* Adds as many entries as the first index block holds and another one, with a failure between. */
static uint64_t bytes_after_a_second_block(const char *path, bool fails)
{
    enum { FULL = FORMAT_BLOCK_SLOTS - 1 };
    unlink(path);
    neo_weights_provider provider = weights_open(path, 0);
    for (uint32_t i = 0; i < FULL; i++)
        assert_int_equal(weights_add(&provider, i), NEO_OK);
    if (fails) {
        syscalls_fail_all(SYSCALL_PWRITE, EIO);
        assert_int_equal(weights_add(&provider, FULL), NEO_OK);
        syscalls_reset();
    }
    assert_int_equal(weights_statistics(&provider).fallbacks, fails);
    assert_int_equal(weights_add(&provider, FULL + 1), NEO_OK);
    weights_close(&provider);
    return weights_file_bytes(path);
}

static void an_index_block_that_was_not_written_takes_no_place(void **state)
{
    uint64_t bytes = bytes_after_a_second_block(*state, false);
    assert_int_equal(bytes_after_a_second_block(*state, true), bytes);
}

static int files_beside(const char *path)
{
    char folder[256];
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    int count = -2; /* the folder itself and the one above */
    while (readdir(entries))
        count++;
    closedir(entries);
    return count;
}

/* On a file system that has files without a name, and on one that has not. */
static const int nameless_errors[] = {0, EOPNOTSUPP};

static void a_rewrite_that_fails_leaves_no_file_behind(void **state)
{
    static const enum syscall_kind kinds[] = {SYSCALL_PWRITE, SYSCALL_FALLOCATE, SYSCALL_FDATASYNC,
                                              SYSCALL_LINK, SYSCALL_RENAME};
    weights_add_all(*state, 4);
    for (size_t e = 0; e < count_of(nameless_errors); e++)
        for (size_t i = 0; i < count_of(kinds); i++) {
            syscalls_fail_all(SYSCALL_NAMELESS, nameless_errors[e]);
            syscalls_fail_all(kinds[i], EIO);
            neo_status status = neo_weights_file_compact(*state, 0, NULL, NULL, NULL);
            syscalls_reset();
            bool calls_it = !nameless_errors[e] || kinds[i] != SYSCALL_LINK;
            assert_int_equal(status, calls_it ? NEO_IO_ERROR : NEO_OK);
            assert_int_equal(files_beside(*state), 1);
        }
    weights_get_all(*state, 4, 0);
}

/* Names that a rewrite might choose are other people's, links among them. */
static void a_rewrite_touches_no_other_file(void **state)
{
    static const char *const endings[] = {".new", ".tmp", "~"};
    char beside[count_of(endings)][256], text[8] = {0};
    weights_add_all(*state, 4);
    for (size_t i = 0; i < count_of(endings); i++) {
        snprintf(beside[i], sizeof beside[i], "%s%s", (const char *)*state, endings[i]);
        if (i == 1)
            assert_int_equal(symlink("nowhere", beside[i]), 0);
        else
            temporary_put("", beside[i], "mine");
    }
    for (size_t e = 0; e < count_of(nameless_errors); e++) {
        syscalls_fail_all(SYSCALL_NAMELESS, nameless_errors[e]);
        assert_int_equal(neo_weights_file_compact(*state, 0, NULL, NULL, NULL), NEO_OK);
        syscalls_reset();
        assert_int_equal(files_beside(*state), 1 + count_of(endings));
        assert_int_equal(readlink(beside[1], text, sizeof text), 7);
        for (size_t i = 0; i < count_of(endings); i += 2)
            assert_int_equal(weights_file_bytes(beside[i]), 4);
    }
    weights_get_all(*state, 4, 0);
}

static void any_failed_allocation_leaves_right_entries(void **state)
{
    bool delivered = true;
    for (size_t n = 1; delivered; n++) {
        unlink(*state);
        neo_weights_provider provider;
        fault_arm(n);
        neo_status status = neo_weights_file_provider_create(&provider, *state, NULL);
        for (uint32_t i = 0; status == NEO_OK && i < 4; i++) {
            neo_status added = weights_add(&provider, i);
            assert_true(added == NEO_OK || added == NEO_OUT_OF_MEMORY);
        }
        neo_status compacted = neo_weights_file_compact(*state, 0, NULL, NULL, NULL);
        delivered = fault_disarm();
        assert_true(status == NEO_OK || status == NEO_OUT_OF_MEMORY);
        assert_true(compacted == NEO_OK || delivered);
        if (status == NEO_OK) {
            for (uint32_t i = 0; i < 6; i++)
                assert_int_equal(weights_add(&provider, i), NEO_OK);
            weights_close(&provider);
        }
        weights_add_all(*state, 6);
        weights_get_all(*state, 6, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WEIGHTS_TEST(links_folders_and_pipes_are_refused),
        WEIGHTS_TEST(a_file_that_others_may_write_to_is_refused),
        WEIGHTS_TEST(a_missing_folder_is_no_disaster),
        WEIGHTS_TEST(a_file_that_is_no_cache_is_never_written_to),
        WEIGHTS_TEST(an_empty_file_that_gets_contents_meanwhile_is_left_alone),
        WEIGHTS_TEST(a_newer_format_is_left_alone),
        WEIGHTS_TEST(an_empty_file_is_used),
        WEIGHTS_TEST(a_read_only_file_and_folder_are_no_disaster),
        WEIGHTS_TEST(a_read_only_provider_changes_nothing),
        WEIGHTS_TEST(a_file_size_limit_does_not_kill),
        WEIGHTS_TEST(a_full_disk_is_no_disaster),
        WEIGHTS_TEST(every_kind_of_call_may_fail_for_good),
        WEIGHTS_TEST(any_failed_call_leaves_right_entries),
        WEIGHTS_TEST(a_failed_commit_is_in_nobody_s_way),
        WEIGHTS_TEST(an_index_block_that_was_not_written_takes_no_place),
        WEIGHTS_TEST(a_rewrite_that_fails_leaves_no_file_behind),
        WEIGHTS_TEST(a_rewrite_touches_no_other_file),
        WEIGHTS_TEST(any_failed_allocation_leaves_right_entries),
    };
    setenv("NEOPRENE_VERBOSE", "none", 0);
    return cmocka_run_group_tests_name("weights_refusals", tests, NULL, NULL);
}
