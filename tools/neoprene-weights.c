/* neoprene-weights: looks after a file of packed weights. The man page is docs/neoprene-weights.1.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "neoprene/weights.h"

enum { EXIT_OK, EXIT_FOUND, EXIT_USAGE, EXIT_UNUSABLE, EXIT_BUSY };

#define count_of(array) (sizeof(array) / sizeof((array)[0]))

/* What the command line says. */
struct wishes {
    const char *path;
    uint64_t limit;
    uint64_t unused_days;
    bool any_selection, stale, by_age, by_layout, by_version, by_content;
    uint32_t layout, version;
    neo_weights_content content;
};

/* ---- messages ---- */

static int fail(int status, const char *what, const char *about)
{
    fprintf(stderr, "neoprene-weights: %s%s%s\n", what, about ? ": " : "", about ? about : "");
    return status;
}

static int exit_of(neo_status status)
{
    return status == NEO_OK ? EXIT_OK : status == NEO_BUSY ? EXIT_BUSY : EXIT_UNUSABLE;
}

static int report(neo_status status, const char *path)
{
    if (status == NEO_BUSY)
        return fail(EXIT_BUSY, "another process is writing to the file; try again", path);
    if (status == NEO_NOT_FOUND)
        return fail(EXIT_UNUSABLE, "there is no such file", path);
    if (status == NEO_CORRUPT)
        return fail(EXIT_UNUSABLE, "this is no weights cache, or its header is damaged", path);
    if (status == NEO_UNSUPPORTED)
        return fail(EXIT_UNUSABLE, "a newer Neoprene wrote this file", path);
    return status == NEO_OK ? EXIT_OK : fail(exit_of(status), neo_status_text(status), path);
}

/* ---- printing ---- */

static const char *const state_names[] = {
    [NEO_WEIGHTS_USABLE] = "usable",
    [NEO_WEIGHTS_STALE] = "stale",
    [NEO_WEIGHTS_DEAD] = "replaced",
    [NEO_WEIGHTS_DAMAGED] = "damaged",
};

/* 1536 → "1.5 KiB" */
static const char *human(uint64_t bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < count_of(units)) {
        value /= 1024;
        unit++;
    }
    snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

static const char *date(uint64_t seconds, char text[32])
{
    time_t when = (time_t)seconds;
    struct tm parts;
    if (!localtime_r(&when, &parts) || !strftime(text, 32, "%Y-%m-%d %H:%M", &parts))
        snprintf(text, 32, "?");
    return text;
}

static int print_entry(void *argument, const neo_weights_file_entry *entry)
{
    char used[32];
    (void)argument;
    printf("%016" PRIx64 "%016" PRIx64 "  %" PRIu32 ".%-4" PRIu32 " %12" PRIu64 "  %-16s  %s\n",
           entry->key.content.high, entry->key.content.low, entry->key.layout[0],
           entry->key.layout[1], entry->size, date(entry->used_s, used), state_names[entry->state]);
    return 1;
}

static void print_summary(const neo_weights_file_summary *summary)
{
    char text[32];
    uint64_t usable = summary->bytes[NEO_WEIGHTS_USABLE] + summary->bytes[NEO_WEIGHTS_STALE];
    printf("file        %s\n", human(summary->file_bytes, text));
    printf("created     %s\n", date(summary->created_s, text));
    printf("generation  %" PRIu64 "\n", summary->generation);
    for (size_t i = 0; i < count_of(state_names); i++)
        printf("%-11s %" PRIu64 " entries, %s\n", state_names[i], summary->entries[i],
               human(summary->bytes[i], text));
    printf("lost        %" PRIu64 " records\n", summary->lost_records);
    printf("overhead    %s\n",
           human(summary->file_bytes > usable ? summary->file_bytes - usable : 0, text));
    if (summary->writer)
        printf("writer      process %" PRIu32 "\n", summary->writer);
}

/* ---- selection ---- */

static bool is_selected(const struct wishes *wishes, const neo_weights_file_entry *entry)
{
    const neo_weights_key *key = &entry->key;
    uint64_t age_s = (uint64_t)time(NULL) - entry->used_s;
    return (!wishes->stale || entry->state == NEO_WEIGHTS_STALE) &&
           (!wishes->by_age || (age_s < UINT64_MAX / 2 && age_s >= wishes->unused_days * 86400)) &&
           (!wishes->by_layout || key->layout[0] == wishes->layout) &&
           (!wishes->by_version || key->layout[1] == wishes->version) &&
           (!wishes->by_content ||
            (key->content.low == wishes->content.low && key->content.high == wishes->content.high));
}

struct selection {
    const struct wishes *wishes;
    uint64_t dropped;
};

static int keep_unselected(void *argument, const neo_weights_file_entry *entry)
{
    struct selection *selection = argument;
    bool selected = selection->wishes->any_selection && is_selected(selection->wishes, entry);
    selection->dropped += selected;
    return !selected;
}

/* ---- commands ---- */

static int run_list(const struct wishes *wishes)
{
    neo_status status = neo_weights_file_list(wishes->path, 0, print_entry, NULL, NULL);
    return report(status, wishes->path);
}

static int print_if_damaged(void *argument, const neo_weights_file_entry *entry)
{
    return entry->state == NEO_WEIGHTS_DAMAGED ? print_entry(argument, entry) : 1;
}

static int run_verify(const struct wishes *wishes)
{
    neo_weights_file_summary summary;
    neo_status status = neo_weights_file_list(wishes->path, 1, print_if_damaged, NULL, &summary);
    if (status != NEO_OK)
        return report(status, wishes->path);
    uint64_t damaged = summary.entries[NEO_WEIGHTS_DAMAGED] + summary.lost_records;
    uint64_t usable = summary.entries[NEO_WEIGHTS_USABLE] + summary.entries[NEO_WEIGHTS_STALE];
    printf("%" PRIu64 " entries are sound, %" PRIu64 " damaged\n", usable, damaged);
    return damaged ? EXIT_FOUND : EXIT_OK;
}

static int run_stats(const struct wishes *wishes)
{
    neo_weights_file_summary summary;
    neo_status status = neo_weights_file_list(wishes->path, 0, NULL, NULL, &summary);
    if (status == NEO_OK)
        print_summary(&summary);
    return report(status, wishes->path);
}

static int compact(const struct wishes *wishes, uint64_t *dropped)
{
    char before_text[32], after_text[32];
    struct selection selection = {.wishes = wishes};
    neo_weights_file_summary before, after;
    neo_status status = neo_weights_file_list(wishes->path, 0, NULL, NULL, &before);
    if (status == NEO_OK)
        status = neo_weights_file_compact(wishes->path, wishes->limit, keep_unselected, &selection,
                                          &after);
    if (status == NEO_OK)
        printf("%s before, %s after\n", human(before.file_bytes, before_text),
               human(after.file_bytes, after_text));
    *dropped = selection.dropped;
    return report(status, wishes->path);
}

static int run_compact(const struct wishes *wishes)
{
    uint64_t dropped;
    return compact(wishes, &dropped);
}

static int run_delete(const struct wishes *wishes)
{
    if (!wishes->any_selection)
        return report(neo_weights_file_delete(wishes->path), wishes->path);
    uint64_t dropped;
    int status = compact(wishes, &dropped);
    if (status == EXIT_OK && !dropped)
        return fail(EXIT_FOUND, "no entry is selected", wishes->path);
    return status;
}

static const struct command {
    const char *name, *text;
    int (*run)(const struct wishes *wishes);
    const char *options; /* those it takes, each followed by a blank */
} commands[] = {
    {"list", "print all entries: content, layout, bytes, last use, state", run_list, ""},
    {"verify", "compare all entries with their checksums", run_verify, ""},
    {"stats", "print what the file holds, in sums", run_stats, ""},
    {"compact", "write the file anew without what is damaged or replaced", run_compact,
     "limit stale unused "},
    {"delete", "remove the selected entries, or the file if none are selected", run_delete,
     "stale unused layout content "},
};

/* ---- the command line ---- */

static bool parse_number(const char *text, uint64_t high, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || errno || *end || value > high)
        return false;
    *out = value;
    return true;
}

/* With K, M or G. */
static bool parse_bytes(const char *text, struct wishes *wishes)
{
    static const char suffixes[] = "KkMmGg";
    char digits[32];
    size_t length = strlen(text);
    const char *suffix = length > 1 ? strchr(suffixes, text[length - 1]) : NULL;
    unsigned shift = suffix ? 10 * (unsigned)((suffix - suffixes) / 2 + 1) : 0;
    length -= suffix != NULL;
    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    if (!parse_number(digits, UINT64_MAX >> shift, &wishes->limit))
        return false;
    wishes->limit <<= shift;
    return wishes->limit > 0;
}

static bool parse_days(const char *text, struct wishes *wishes)
{
    wishes->by_age = wishes->any_selection = true;
    return parse_number(text, 36500, &wishes->unused_days);
}

static bool parse_stale(const char *text, struct wishes *wishes)
{
    (void)text;
    return wishes->stale = wishes->any_selection = true;
}

/* ID or ID.VERSION */
static bool parse_layout(const char *text, struct wishes *wishes)
{
    char id[16];
    uint64_t value;
    size_t length = strcspn(text, ".");
    if (length >= sizeof id)
        return false;
    memcpy(id, text, length);
    id[length] = 0;
    wishes->by_layout = wishes->any_selection = true;
    if (!parse_number(id, UINT32_MAX, &value))
        return false;
    wishes->layout = (uint32_t)value;
    wishes->by_version = text[length] == '.';
    if (!wishes->by_version)
        return true;
    if (!parse_number(text + length + 1, UINT32_MAX, &value))
        return false;
    wishes->version = (uint32_t)value;
    return true;
}

/* 32 hexadecimal digits, as list prints them. */
static bool parse_content(const char *text, struct wishes *wishes)
{
    char high[17];
    if (strlen(text) != 32 || strspn(text, "0123456789abcdefABCDEF") != 32)
        return false;
    memcpy(high, text, 16);
    high[16] = 0;
    wishes->content.high = strtoull(high, NULL, 16);
    wishes->content.low = strtoull(text + 16, NULL, 16);
    return wishes->by_content = wishes->any_selection = true;
}

static const struct option {
    const char *name, *value, *text;
    bool (*parse)(const char *text, struct wishes *wishes);
} options[] = {
    {"limit", "BYTES", "keep the file below that, dropping the least recently used (K, M, G)",
     parse_bytes},
    {"stale", NULL, "select entries of which there is a newer layout version", parse_stale},
    {"unused", "DAYS", "select entries that were not used for so long", parse_days},
    {"layout", "ID[.VERSION]", "select entries of that layout", parse_layout},
    {"content", "HASH", "select entries made from that content", parse_content},
    {"help", NULL, "print this text", NULL},
    {"version", NULL, "print the version", NULL},
};

static void print_help(void)
{
    puts("Usage: neoprene-weights COMMAND [OPTION]... [FILE]\n\n"
         "Looks after a file of packed weights. Without FILE it is what NEOPRENE_WEIGHTS_CACHE "
         "names.\n\nCommands:");
    for (size_t i = 0; i < count_of(commands); i++)
        printf("  %-24s %s\n", commands[i].name, commands[i].text);
    puts("\nOptions:");
    for (size_t i = 0; i < count_of(options); i++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", options[i].name, options[i].value ? "=" : "",
                 options[i].value ? options[i].value : "");
        printf("  %-24s %s\n", left, options[i].text);
    }
    puts("\nSelecting options together select what all of them select. compact drops what is "
         "selected, too.\n\n"
         "Exit status: 0 done; 1 verify found damage, or delete had nothing to delete; 2 wrong\n"
         "usage; 3 the file cannot be used; 4 another process is writing to it.");
}

/* The number of letters to insert, remove or change. */
static size_t distance(const char *a, const char *b)
{
    size_t row[32];
    size_t columns = strlen(b);
    if (columns >= count_of(row))
        return SIZE_MAX;
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[columns];
}

/* names is the first of count names that lie stride bytes apart. */
static int unknown(const char *kind, const char *dashes, const char *word, const char *const *names,
                   size_t count, size_t stride)
{
    const char *nearest = NULL;
    size_t least = 4; /* from there on it is another word */
    for (size_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)(const void *)((const char *)names + i * stride);
        size_t far = distance(word, name);
        if (far < least && far < strlen(name)) {
            least = far;
            nearest = name;
        }
    }
    fprintf(stderr, "neoprene-weights: unknown %s '%s%s'", kind, dashes, word);
    if (nearest)
        fprintf(stderr, "; did you mean '%s%s'?", dashes, nearest);
    fprintf(stderr, "\nTry 'neoprene-weights --help'.\n");
    return EXIT_USAGE;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < count_of(commands); i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static const struct option *find_option(const char *name, size_t length)
{
    for (size_t i = 0; i < count_of(options); i++)
        if (strlen(options[i].name) == length && !strncmp(options[i].name, name, length))
            return &options[i];
    return NULL;
}

static bool takes(const struct command *command, const struct option *option)
{
    size_t length = strlen(option->name);
    for (const char *at = command->options; *at; at = strchr(at, ' ') + 1)
        if (!strncmp(at, option->name, length) && at[length] == ' ')
            return true;
    return false;
}

/* One option of a command; *i is moved past its value. */
static int read_option(const struct command *command, char **words, int count, int *i,
                       struct wishes *wishes)
{
    const char *word = words[*i] + 2;
    size_t length = strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : NULL;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word);
    const struct option *option = find_option(word, length);
    if (!option)
        return unknown("option", "--", name, &options[0].name, count_of(options),
                       sizeof options[0]);
    if (!option->parse || !takes(command, option))
        return fail(EXIT_USAGE, "this command does not take the option", words[*i]);
    if (!option->value && value)
        return fail(EXIT_USAGE, "this option takes no value", words[*i]);
    if (option->value && !value)
        value = *i + 1 < count ? words[++*i] : NULL;
    if (option->value && !value)
        return fail(EXIT_USAGE, "this option needs a value", words[*i]);
    if (!option->parse(value, wishes))
        return fail(EXIT_USAGE, "this is not a value for the option", value);
    return EXIT_OK;
}

static int read_words(const struct command *command, char **words, int count, struct wishes *wishes)
{
    bool only_files = false;
    for (int i = 0; i < count; i++) {
        if (!only_files && !strcmp(words[i], "--")) {
            only_files = true;
        } else if (!only_files && !strncmp(words[i], "--", 2)) {
            int status = read_option(command, words, count, &i, wishes);
            if (status != EXIT_OK)
                return status;
        } else if (!only_files && words[i][0] == '-' && words[i][1]) {
            return unknown("option", "", words[i], &options[0].name, 0, sizeof options[0]);
        } else if (wishes->path) {
            return fail(EXIT_USAGE, "only one file at a time", words[i]);
        } else {
            wishes->path = words[i];
        }
    }
    if (!wishes->path)
        wishes->path = getenv("NEOPRENE_WEIGHTS_CACHE");
    if (!wishes->path || !*wishes->path)
        return fail(EXIT_USAGE, "no file is named, and NEOPRENE_WEIGHTS_CACHE is not set", NULL);
    return EXIT_OK;
}

static bool asks_for(const char *word, const char *name, const char *letter)
{
    return !strcmp(word, letter) || (!strncmp(word, "--", 2) && !strcmp(word + 2, name));
}

/* Options that are answered wherever they stand before "--". */
static bool answer_at_once(char **words, int count)
{
    for (int i = 1; i < count && strcmp(words[i], "--") != 0; i++) {
        if (asks_for(words[i], "help", "-h")) {
            print_help();
            return true;
        }
        if (asks_for(words[i], "version", "-V")) {
            const neo_version *version = neo_get_version();
            printf("neoprene-weights %d.%d.%d\n", version->major, version->minor, version->patch);
            return true;
        }
    }
    return false;
}

int main(int count, char **words)
{
    struct wishes wishes = {.path = NULL};
    if (answer_at_once(words, count))
        return EXIT_OK;
    if (count < 2)
        return fail(EXIT_USAGE,
                    "a command is needed: list, verify, stats, compact or delete; try "
                    "'neoprene-weights --help'",
                    NULL);
    const struct command *command = find_command(words[1]);
    if (!command)
        return unknown("command", "", words[1], &commands[0].name, count_of(commands),
                       sizeof commands[0]);
    int status = read_words(command, words + 2, count - 2, &wishes);
    if (status == EXIT_OK)
        status = command->run(&wishes);
    if (fflush(stdout) || ferror(stdout))
        return fail(EXIT_UNUSABLE, "the output cannot be written", strerror(errno));
    return status;
}
