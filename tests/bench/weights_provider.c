/* What providers cost without any primitive: the packer is memcpy.
 *
 *   build/portable-gcc/bench/weights_provider [MIB [ENTRY_MIB [PATH]]]
 *
 * Each line is: name, value, unit. "cold" makes all entries, "warm" finds them in a new provider;
 * with "hashed" the source is hashed each time, as it is when a key is not at hand. The
 * proportional set size (/proc/self/smaps_rollup) is summed over processes that all have all
 * entries mapped and read. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/core/log.h"
#include "src/packed/key.h"
#include "src/packed/provider.h"
#include "tests/bench/check.h"
#include "tests/support/temporary.h"

static size_t entry_bytes, entries;
static unsigned char *source; /* all entries' plain weights */
static const char *path;

static void print(const char *name, double value, const char *unit)
{
    printf("%-34s %10.3f %s\n", name, value, unit);
}

static double total_mib(void)
{
    return (double)(entries * entry_bytes) / (1 << 20);
}

/* Milliseconds since begin, also as a rate. */
static double print_time(const char *name, uint64_t begin)
{
    double ms = (double)(log_now_ns() - begin) / 1e6;
    printf("%-34s %10.3f ms %12.0f MiB/s\n", name, ms, total_mib() / ms * 1e3);
    return ms;
}

static neo_weights_key key_of(size_t i, bool hashed)
{
    static const uint32_t layout[] = {1, 1, 8};
    neo_weights_content content = {.low = i, .high = 1};
    if (hashed)
        content = neo_weights_hash(source + i * entry_bytes, entry_bytes);
    neo_weights_key key;
    weights_key_init(&key, content, layout, 3);
    return key;
}

static neo_status pack(void *argument, void *data)
{
    memcpy(data, argument, entry_bytes);
    return NEO_OK;
}

/* Acquires all entries; uses[] has room for them. */
static void acquire_all(const neo_weights_provider *provider, bool hashed, struct weights_use *uses)
{
    for (size_t i = 0; i < entries; i++) {
        neo_weights_key key = key_of(i, hashed);
        struct weights_request request = {&key, entry_bytes, 64, pack, source + i * entry_bytes,
                                          NULL};
        check(weights_acquire(&uses[i], provider, NULL, &request) == NEO_OK, "acquire failed");
    }
}

static void release_all(struct weights_use *uses)
{
    for (size_t i = 0; i < entries; i++)
        weights_release(&uses[i]);
}

static neo_weights_provider open_file(uint32_t flags)
{
    neo_weights_provider provider;
    neo_weights_file_options options = {.flags = flags};
    check(neo_weights_file_provider_create(&provider, path, &options) == NEO_OK, "open failed");
    return provider;
}

static double time_provider(const char *name, neo_weights_provider provider, bool hashed)
{
    struct weights_use *uses = calloc(entries, sizeof *uses);
    uint64_t begin = log_now_ns();
    acquire_all(&provider, hashed, uses);
    double ms = print_time(name, begin);
    release_all(uses);
    free(uses);
    provider.destroy(provider.context);
    return ms;
}

/* ---- the peers: what memory does at best ---- */

static void time_memory(void)
{
    unsigned char *copy = malloc(entries * entry_bytes);
    check(copy, "no memory");
    for (int touched = 0; touched < 2; touched++) {
        uint64_t begin = log_now_ns();
        memcpy(copy, source, entries * entry_bytes);
        __asm__ volatile("" : : "r"(copy) : "memory"); /* somebody might read it */
        print_time(touched ? "memcpy to touched pages" : "memcpy to new pages", begin);
    }
    free(copy);
    uint64_t begin = log_now_ns();
    neo_weights_content content = neo_weights_hash(source, entries * entry_bytes);
    print_time(content.low ? "hash" : "hash ", begin);
}

/* ---- memory of processes ---- */

static double pss_kib(void)
{
    char line[256];
    double sum = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "Pss:", 4))
            sum = strtod(line + 4, NULL);
    if (file)
        fclose(file);
    return sum;
}

static void map_and_report(int ready, int go, int result, int end)
{
    char byte = 0;
    free(source); /* its pages would be counted too */
    source = NULL;
    double before = pss_kib();
    struct weights_use *uses = calloc(entries, sizeof *uses);
    neo_weights_provider provider = open_file(0);
    acquire_all(&provider, false, uses); /* the comparison with the checksum reads every page */
    check(write(ready, &byte, 1) == 1 && read(go, &byte, 1) == 1, "pipe");
    double pss = pss_kib() - before;
    check(write(result, &pss, sizeof pss) == sizeof pss && read(end, &byte, 1) == 1, "pipe");
    _exit(0);
}

static void release_children(int go, int count)
{
    for (int i = 0; i < count; i++)
        check(write(go, "x", 1) == 1, "pipe");
}

static void measure_pss(int count)
{
    int ready[2], go[2], result[2], end[2];
    char byte;
    check(!pipe(ready) && !pipe(go) && !pipe(result) && !pipe(end), "pipe");
    fflush(stdout);
    for (int i = 0; i < count; i++)
        if (fork() == 0)
            map_and_report(ready[1], go[0], result[1], end[0]);
    for (int i = 0; i < count; i++)
        check(read(ready[0], &byte, 1) == 1, "pipe");
    release_children(go[1], count);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double pss;
        check(read(result[0], &pss, sizeof pss) == sizeof pss, "pipe");
        sum += pss;
    }
    release_children(end[1], count);
    while (wait(NULL) > 0)
        ;
    char name[64];
    snprintf(name, sizeof name, "PSS of %d process%s, together", count, count > 1 ? "es" : "");
    print(name, sum / 1024 / total_mib(), "copies");
    int ends[] = {ready[0], ready[1], go[0], go[1], result[0], result[1], end[0], end[1]};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        close(ends[i]);
}

/* ---- */

static void fill_source(void)
{
    uint64_t x = 1;
    source = malloc(entries * entry_bytes);
    check(source, "no memory");
    for (size_t i = 0; i < entries * entry_bytes; i += sizeof x) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        memcpy(source + i, &x, sizeof x);
    }
}

static void print_sizes(void)
{
    struct stat file;
    check(!stat(path, &file), "stat");
    print("file size", (double)file.st_size / (double)(entries * entry_bytes), "of unique bytes");
}

int main(int count, char **words)
{
    size_t mib = count > 1 ? strtoul(words[1], NULL, 10) : 512;
    entry_bytes = (count > 2 ? strtoul(words[2], NULL, 10) : 8) << 20;
    entries = (mib << 20) / entry_bytes;
    path = count > 3 ? words[3] : temporary_file("bench");
    check(entry_bytes && entries, "wrong arguments");
    fill_source();
    unlink(path);
    printf("%zu entries of %zu MiB\n", entries, entry_bytes >> 20);
    time_memory();
    neo_weights_provider memory;
    check(neo_weights_memory_provider_create(&memory, NULL) == NEO_OK, "create");
    time_provider("memory, cold", memory, false);
    time_provider("file, cold", open_file(0), false);
    print_sizes();
    time_provider("file, warm", open_file(0), false);
    double warm = time_provider("file, warm, trusted", open_file(NEO_WEIGHTS_TRUST), false);
    time_provider("file, warm, trusted, populated",
                  open_file(NEO_WEIGHTS_TRUST | NEO_WEIGHTS_POPULATE), false);
    unlink(path);
    double cold = time_provider("file, cold, hashed", open_file(0), true);
    time_provider("file, warm, hashed", open_file(0), true);
    print("cold hashed / warm trusted", cold / warm, "times");
    unlink(path);
    time_provider("file, cold, again", open_file(0), false);
    for (int processes = 1; processes <= 4; processes *= 2)
        measure_pss(processes);
    unlink(path);
    free(source);
    return 0;
}
