/* Emulator plugin: counts the instructions that a guest executes between region_begin() and
 * region_end(), by class.
 *
 *   qemu-aarch64 -plugin build/tools/icount.so,out=FILE[,blocks=FILE][,threads=N] PROGRAM…
 *
 * out      one line a region, in order: "region 0 total=… mac=… …"
 * blocks   every executed block: "region 0", then "block ADDRESS TIMES SYMBOL WORD…" each
 * threads  also count each of the first N threads apart ("thread 0 total=… …" after the region's
 *          line); exact when several threads run at once, which the default is not, and slower
 *
 * A program without regions is counted as one region, from start to end. An instruction is
 * classified once, when the emulator translates its block; a run of a block costs one addition. */
#include "tests/perf/plugins/a64.h"
#include "tests/perf/plugins/qemu_plugin.h"
#include "tests/perf/region.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 256 };

struct block {
    struct block *next;
    uint64_t address;
    const char *symbol;
    uint32_t counts[A64_COUNTS]; /* of one run */
    size_t words;
    uint32_t *code;
    uint64_t runs, runs_before; /* before: when the region began */
    uint64_t *thread_runs; /* [2 * thread_count]: runs, then runs before; NULL without threads */
};

static struct {
    pthread_mutex_t lock;
    struct block *blocks;
    const char *out_path, *blocks_path;
    size_t thread_count;
    unsigned regions;
    bool has_region;
} plugin = {.lock = PTHREAD_MUTEX_INITIALIZER};

PLUGIN_EXPORT int qemu_plugin_version = 1;

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fputs("icount: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

/* ---- report ---- */

static void print_counts(FILE *file, const uint64_t counts[A64_COUNTS])
{
    static const char *const names[] = {
#define NAME(name) #name,
        A64_COUNT_LIST(NAME)
#undef NAME
    };
    for (size_t i = 0; i < A64_COUNTS; i++)
        fprintf(file, " %s=%llu", names[i], (unsigned long long)counts[i]);
    fputc('\n', file);
}

/* thread < 0: all threads together */
static uint64_t runs_in_region(const struct block *block, long thread)
{
    if (!plugin.thread_count)
        return block->runs - block->runs_before;
    uint64_t runs = 0;
    for (size_t i = 0; i < plugin.thread_count; i++)
        if (thread < 0 || (size_t)thread == i)
            runs += block->thread_runs[i] - block->thread_runs[plugin.thread_count + i];
    return runs;
}

static void sum_counts(long thread, uint64_t sums[A64_COUNTS])
{
    memset(sums, 0, A64_COUNTS * sizeof *sums);
    for (const struct block *block = plugin.blocks; block; block = block->next) {
        uint64_t runs = runs_in_region(block, thread);
        for (size_t i = 0; runs && i < A64_COUNTS; i++)
            sums[i] += runs * block->counts[i];
    }
}

static void report_counts(void)
{
    FILE *file = plugin.out_path ? fopen(plugin.out_path, "a") : stderr;
    if (!file) {
        perror(plugin.out_path);
        exit(1);
    }
    uint64_t sums[A64_COUNTS];
    sum_counts(-1, sums);
    fprintf(file, "region %u", plugin.regions);
    print_counts(file, sums);
    for (size_t i = 0; i < plugin.thread_count; i++) {
        sum_counts((long)i, sums);
        if (sums[A64_total]) {
            fprintf(file, "thread %zu", i);
            print_counts(file, sums);
        }
    }
    if (file != stderr)
        fclose(file);
}

static void print_block(FILE *file, const struct block *block, uint64_t runs)
{
    fprintf(file, "block %llx %llu %s", (unsigned long long)block->address,
            (unsigned long long)runs, block->symbol);
    for (size_t i = 0; i < block->words; i++)
        fprintf(file, " %08x", (unsigned)block->code[i]);
    fputc('\n', file);
}

static void report_blocks(void)
{
    FILE *file = fopen(plugin.blocks_path, "a");
    if (!file) {
        perror(plugin.blocks_path);
        exit(1);
    }
    fprintf(file, "region %u\n", plugin.regions);
    for (const struct block *block = plugin.blocks; block; block = block->next) {
        uint64_t runs = runs_in_region(block, -1);
        if (runs)
            print_block(file, block, runs);
    }
    fclose(file);
}

static void report(void)
{
    report_counts();
    if (plugin.blocks_path)
        report_blocks();
    plugin.regions++;
}

/* ---- regions ---- */

static void begin(unsigned vcpu, void *data)
{
    (void)vcpu, (void)data;
    pthread_mutex_lock(&plugin.lock);
    plugin.has_region = true;
    for (struct block *block = plugin.blocks; block; block = block->next) {
        block->runs_before = block->runs;
        if (block->thread_runs)
            memcpy(block->thread_runs + plugin.thread_count, block->thread_runs,
                   plugin.thread_count * sizeof *block->thread_runs);
    }
    pthread_mutex_unlock(&plugin.lock);
}

static void end(unsigned vcpu, void *data)
{
    (void)vcpu, (void)data;
    pthread_mutex_lock(&plugin.lock);
    report();
    pthread_mutex_unlock(&plugin.lock);
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    if (!plugin.has_region)
        report();
}

/* ---- translation ---- */

static void count_thread(unsigned vcpu, void *data)
{
    struct block *block = data;
    if (vcpu < plugin.thread_count)
        block->thread_runs[vcpu]++;
}

static void add_word(struct block *block, size_t index, struct qemu_plugin_insn *insn)
{
    uint32_t word;
    memcpy(&word, qemu_plugin_insn_data(insn), sizeof word);
    block->code[index] = word;
    a64_count(word, block->counts);
    if (word == REGION_BEGIN_WORD)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, begin, QEMU_PLUGIN_CB_NO_REGS, NULL);
    if (word == REGION_END_WORD)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, end, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

static struct block *block_create(const struct qemu_plugin_tb *tb)
{
    struct block *block = allocate(1, sizeof *block);
    block->address = qemu_plugin_tb_vaddr(tb);
    block->words = qemu_plugin_tb_n_insns(tb);
    block->code = allocate(block->words, sizeof *block->code);
    const char *symbol = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(tb, 0));
    block->symbol = symbol && *symbol ? strdup(symbol) : "?";
    if (plugin.thread_count)
        block->thread_runs = allocate(2 * plugin.thread_count, sizeof *block->thread_runs);
    return block;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    struct block *block = block_create(tb);
    for (size_t i = 0; i < block->words; i++)
        add_word(block, i, qemu_plugin_tb_get_insn(tb, i));
    if (plugin.thread_count)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, count_thread, QEMU_PLUGIN_CB_NO_REGS, block);
    else
        qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &block->runs, 1);
    pthread_mutex_lock(&plugin.lock);
    block->next = plugin.blocks;
    plugin.blocks = block;
    pthread_mutex_unlock(&plugin.lock);
}

/* ---- start ---- */

static bool parse(const char *argument)
{
    if (!strncmp(argument, "out=", 4))
        plugin.out_path = strdup(argument + 4);
    else if (!strncmp(argument, "blocks=", 7))
        plugin.blocks_path = strdup(argument + 7);
    else if (!strncmp(argument, "threads=", 8))
        plugin.thread_count = strtoul(argument + 8, NULL, 10);
    else
        return false;
    return plugin.thread_count <= MAX_THREADS;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++)
        if (!parse(argv[i])) {
            fprintf(stderr, "icount: '%s' is not out=FILE, blocks=FILE or threads=N (at most %d)\n",
                    argv[i], MAX_THREADS);
            return -1;
        }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
