/* The benchmark of packed weights: what its parts share. */
#ifndef TESTS_BENCH_WEIGHTS_WEIGHTS_H
#define TESTS_BENCH_WEIGHTS_WEIGHTS_H

#include <stdint.h>

#include "neoprene/packed_weights.h"
#include "tests/bench/check.h"
#include "tests/bench/shapes.h"

enum { MOST_SHAPES = 64 };

struct network {
    const char *name, *file;
    struct shape shapes[MOST_SHAPES];
    size_t count;
};

/* ---- layers (layers.c) ---- */

/* Of the plain weights. */
size_t shape_bytes(const struct shape *shape);
size_t network_bytes(const struct network *network);

/* A convolution by sums of products, or a product. */
neo_primitive_desc *describe(neo_engine *engine, const struct shape *shape);

/* Memory of zeros. */
neo_memory *memory_of(neo_engine *engine, const neo_memory_desc *desc);

/* One array with two times the largest tensor: layer i begins somewhere in it, so that it is not in
 * a cache, and its first words make it unique. */
struct source {
    float *data;
    size_t room, next;
};

struct source make_source(const struct network *network);
float *next_tensor(struct source *source, size_t bytes, uint32_t number);

/* ---- starts of a program (start.c) ---- */

/* FIRST is the first one after the file has come to rest: it verifies, for all that follow. */
enum start_kind { COLD, FIRST, WARM, WARM_VERIFIED, KNOWN_VERIFIED, KNOWN, STARTS };

extern const struct start {
    const char *name;
    bool known; /* the contents are given; else the sources are hashed */
    uint32_t flags;
} starts[STARTS];

struct result {
    double pack_ms, first_ms, peak_mib, fallbacks;
    double rss_mib, pss_mib; /* of the weights */
    double own_mib;          /* anonymous memory of the whole process */
};

/* Of the cache file, and room for the contents of all tensors, which processes share. */
void start_prepare(const char *cache_path);

/* All weights of a network; then one layer of each kind is run. */
void run_start(const struct network *network, enum start_kind kind, struct result *result);

/* Maps all and touches every page, to verify it, as inference does; then measures beside the
 * others. barrier: read from the first, written to the second. */
void run_share(const struct network *network, struct result *result, const int barrier[2]);

/* ---- processes (processes.c) ---- */

struct result measure_start(const struct network *network, enum start_kind kind);

/* The sums over so many processes that have all weights at the same time. */
struct result measure_share(const struct network *network, int processes);

/* The sum of a name's figures in a file of /proc. */
double proc_kib(const char *path, const char *name);

/* ---- packing against memcpy (rates.c) ---- */

enum { COPY, PACK, UNPACK, TRANSFERS };

struct rates {
    double ns[TRANSFERS], bytes;
};

/* One tensor of each shape, in one thread, between pages that are there. */
struct rates measure_rates(const struct network *network);

#endif
