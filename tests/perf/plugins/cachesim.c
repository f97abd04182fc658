/* Emulator plugin: a model of L1D, L2 and TLB, fed with the data accesses that a guest makes
 * between region_begin() and region_end(). Counts cache lines moved between the levels.
 *
 *   qemu-aarch64 -plugin build/tools/cachesim.so,out=FILE[,l1=KIB:WAYS][,l2=KIB:WAYS][,line=BYTES]
 *                        [,prefetch=0|1][,tlb=ENTRIES][,page=BYTES] PROGRAM…
 *
 * One line a region: "region 0 accesses=… l1_fills=… l1_writebacks=… l2_fills=… l2_writebacks=…
 * prefetches=… tlb_misses=…". Caches are write-back, write-allocate, least recently used, and keep
 * their contents between regions: a warm-up call before a region warms them too.
 *
 * prefetch=1: a demand miss in L1 also brings the next line (counted in prefetches, and in the
 * fills of the levels that it passes). Prefetch instructions move nothing.
 * Only the thread that began a region is modelled. The emulator reports a 128-bit access as two
 * of 64 bits, so accesses are not instructions; lines are exact. */
#include "tests/perf/plugins/qemu_plugin.h"
#include "tests/perf/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER_LIST(X) \
    X(accesses)         \
    X(l1_fills) X(l1_writebacks) X(l2_fills) X(l2_writebacks) X(prefetches) X(tlb_misses)

enum {
#define COUNTER(name) COUNT_##name,
    COUNTER_LIST(COUNTER)
#undef COUNTER
        COUNTERS
};

/* A set is `ways` entries, most recently used first. An entry is line number * 2 + dirty, plus 2,
 * so that 0 means empty. */
struct cache {
    size_t sets, ways;
    uint64_t *entries;
};

static struct {
    struct cache l1, l2, tlb;
    unsigned line_shift, page_shift;
    bool prefetch;
    bool inside;
    unsigned vcpu;
    uint64_t last_line; /* the line at the front of its set, so that runs of hits cost nothing */
    bool last_dirty;
    uint64_t counts[COUNTERS];
    unsigned regions;
    const char *out_path;
} model;

PLUGIN_EXPORT int qemu_plugin_version = 1;

/* ---- caches ---- */

static bool cache_init(struct cache *cache, size_t sets, size_t ways)
{
    *cache = (struct cache){.sets = sets, .ways = ways};
    cache->entries = sets && ways ? calloc(sets * ways, sizeof *cache->entries) : NULL;
    return cache->entries;
}

static void move_to_front(uint64_t *set, size_t index, uint64_t entry)
{
    memmove(set + 1, set, index * sizeof *set);
    set[0] = entry;
}

/* Looks for a line and makes it the most recent one. On a miss *evicted is the entry that left. */
static bool cache_touch(struct cache *cache, uint64_t line, bool dirty, uint64_t *evicted)
{
    uint64_t *set = cache->entries + line % cache->sets * cache->ways;
    uint64_t wanted = line + 1;
    for (size_t i = 0; i < cache->ways; i++)
        if (set[i] >> 1 == wanted) {
            move_to_front(set, i, set[i] | dirty);
            return true;
        }
    *evicted = set[cache->ways - 1];
    move_to_front(set, cache->ways - 1, wanted << 1 | dirty);
    return false;
}

static void touch_l2(uint64_t line, bool dirty)
{
    uint64_t evicted;
    if (cache_touch(&model.l2, line, dirty, &evicted))
        return;
    model.counts[COUNT_l2_fills]++;
    model.counts[COUNT_l2_writebacks] += evicted & 1;
}

/* A line that is written back has its place in L2 already, or gets one without being read. */
static void write_back(uint64_t evicted)
{
    uint64_t evicted_by_it = 0;
    model.counts[COUNT_l1_writebacks]++;
    if (!cache_touch(&model.l2, (evicted >> 1) - 1, true, &evicted_by_it))
        model.counts[COUNT_l2_writebacks] += evicted_by_it & 1;
}

static bool touch_l1(uint64_t line, bool dirty)
{
    uint64_t evicted;
    if (cache_touch(&model.l1, line, dirty, &evicted))
        return true;
    model.counts[COUNT_l1_fills]++;
    if (evicted & 1)
        write_back(evicted);
    touch_l2(line, false);
    return false;
}

static void access_line(uint64_t line, bool store)
{
    if (line == model.last_line && (model.last_dirty || !store))
        return;
    bool hit = touch_l1(line, store);
    model.last_line = line;
    model.last_dirty = store;
    if (hit || !model.prefetch)
        return;
    uint64_t fills = model.counts[COUNT_l1_fills];
    touch_l1(line + 1, false);
    model.counts[COUNT_prefetches] += model.counts[COUNT_l1_fills] - fills;
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    (void)data;
    if (model.inside && vcpu != model.vcpu)
        return;
    bool store = qemu_plugin_mem_is_store(info);
    uint64_t last = address + (1u << qemu_plugin_mem_size_shift(info)) - 1;
    model.counts[COUNT_accesses]++;
    for (uint64_t line = address >> model.line_shift; line <= last >> model.line_shift; line++)
        access_line(line, store);
    uint64_t evicted;
    model.counts[COUNT_tlb_misses] +=
        !cache_touch(&model.tlb, address >> model.page_shift, false, &evicted);
}

/* ---- regions ---- */

static void begin(unsigned vcpu, void *data)
{
    (void)data;
    model.inside = true;
    model.vcpu = vcpu;
    memset(model.counts, 0, sizeof model.counts);
}

static void end(unsigned vcpu, void *data)
{
    static const char *const names[] = {
#define NAME(name) #name,
        COUNTER_LIST(NAME)
#undef NAME
    };
    (void)vcpu, (void)data;
    FILE *file = model.out_path ? fopen(model.out_path, "a") : stderr;
    if (!file) {
        perror(model.out_path);
        exit(1);
    }
    fprintf(file, "region %u", model.regions++);
    for (size_t i = 0; i < COUNTERS; i++)
        fprintf(file, " %s=%llu", names[i], (unsigned long long)model.counts[i]);
    fputc('\n', file);
    if (file != stderr)
        fclose(file);
    model.inside = false;
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
    (void)id;
    if (!model.regions)
        end(0, data);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint32_t word;
        memcpy(&word, qemu_plugin_insn_data(insn), sizeof word);
        if (word == REGION_BEGIN_WORD)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, begin, QEMU_PLUGIN_CB_NO_REGS, NULL);
        else if (word == REGION_END_WORD)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, end, QEMU_PLUGIN_CB_NO_REGS, NULL);
        else
            qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_RW, NULL);
    }
}

/* ---- start ---- */

struct options {
    unsigned l1_kib, l1_ways, l2_kib, l2_ways, line, prefetch, tlb, page;
};

static bool parse(const char *text, struct options *options)
{
    if (!strncmp(text, "out=", 4)) {
        model.out_path = strdup(text + 4);
        return true;
    }
    return sscanf(text, "l1=%u:%u", &options->l1_kib, &options->l1_ways) == 2 ||
           sscanf(text, "l2=%u:%u", &options->l2_kib, &options->l2_ways) == 2 ||
           sscanf(text, "line=%u", &options->line) == 1 ||
           sscanf(text, "prefetch=%u", &options->prefetch) == 1 ||
           sscanf(text, "tlb=%u", &options->tlb) == 1 ||
           sscanf(text, "page=%u", &options->page) == 1;
}

static bool is_power_of_two(unsigned value)
{
    return value && !(value & (value - 1));
}

static size_t sets_of(unsigned kib, unsigned ways, unsigned line)
{
    return ways ? (size_t)kib * 1024 / line / ways : 0;
}

static bool model_init(const struct options *options)
{
    if (!is_power_of_two(options->line) || !is_power_of_two(options->page))
        return false;
    model.line_shift = (unsigned)__builtin_ctz(options->line);
    model.page_shift = (unsigned)__builtin_ctz(options->page);
    model.prefetch = options->prefetch;
    model.last_line = UINT64_MAX;
    return cache_init(&model.l1, sets_of(options->l1_kib, options->l1_ways, options->line),
                      options->l1_ways) &&
           cache_init(&model.l2, sets_of(options->l2_kib, options->l2_ways, options->line),
                      options->l2_ways) &&
           cache_init(&model.tlb, 1, options->tlb);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    struct options options = {64, 4, 1024, 8, 64, 0, 48, 4096};
    for (int i = 0; i < argc; i++)
        if (!parse(argv[i], &options)) {
            fprintf(stderr, "cachesim: '%s' is not an option\n", argv[i]);
            return -1;
        }
    if (!model_init(&options)) {
        fputs("cachesim: sizes must be at least one line a way, line and page powers of two\n",
              stderr);
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
