/* Operations that make each element of dst of the elements at its position in other tensors, where
 * sizes of 1 repeat: sources are loaded as lines of f32, the operation's step makes one line of
 * them, post-operations follow, and the line is stored. */
#ifndef SRC_LINES_MAP_H
#define SRC_LINES_MAP_H

#include "src/lines/line.h"
#include "src/lines/walk.h"

/* The beginning of such an operation's plan. */
struct map {
    struct walk walk;
    int source_count;
    uint8_t tensors[MAX_EXTRAS]; /* of the sources: indices for problem_tensor() */
    struct line_type types[MAX_EXTRAS], dst_type;
    bool direct; /* a step may write to dst what post-operations then change there */
};

/* One chunk that is being made. */
struct map_chunk {
    const struct map *map;
    const struct execution *execution;
    struct walk_chunk place;
};

/* Makes count elements, before post-operations, in out, which may be where a source's are. */
typedef void map_step_fn(const struct map_chunk *chunk, size_t count, float *out);

/* Source number i's elements of the chunk, in place or in buffer (LINE_MOST values). */
const float *map_source(const struct map_chunk *chunk, int i, float *buffer);

/* The same; *step becomes 1, or 0 if there is one value for all of them. */
const float *map_source_or_one(const struct map_chunk *chunk, int i, float *buffer, size_t *step);

/* Fills the plan for sources that are these tensors. is_one_step: the step reads no source any more
 * once it has written to out. */
void map_init(struct map *map, const struct problem *problem, const struct cpu *cpu,
              const uint8_t *tensors, int count, bool is_one_step);

void map_run(const struct map *map, const struct execution *execution, map_step_fn *step);

#endif
