/* A walk over the elements of dst, and of the tensors that go with it, line by line. */
#ifndef SRC_LINES_WALK_H
#define SRC_LINES_WALK_H

#include "src/primitive/post_ops.h"
#include "src/primitive/problem.h"

/* Dimensions of dst from the outermost in memory to the innermost, along which the lines are; those
 * of size 1 are left out, and those that follow each other without a gap in every tensor count as
 * one, unless post-operations want to know positions. A pure function of the tensors. */
struct walk {
    int ndims;                    /* at least 1 */
    bool has_positions;           /* every dimension is one of dst's */
    int dimension[NEO_MAX_NDIMS]; /* of dst: the innermost one of those that count as one */
    size_t sizes[NEO_MAX_NDIMS];
    size_t line, chunk, chunks; /* elements of a line, of a part of it; parts of a line */
    size_t tiles;               /* parts of all lines */
};

/* tensors: as many as dst's dimensions long, with sizes like dst's or 1, where they repeat. most:
 * elements of a chunk. */
void walk_init(struct walk *walk, const neo_memory_desc *dst, const neo_memory_desc *const *tensors,
               int count, bool has_positions, size_t most);

/* One chunk of a line. */
struct walk_chunk {
    size_t index[NEO_MAX_NDIMS]; /* of its first element, by the walk's dimensions */
    size_t count;
};

struct walk_chunk walk_chunk(const struct walk *walk, size_t tile);

/* Where a tensor's elements of a chunk are: from its first element on, and from one to the next. */
neo_dim walk_first(const struct walk *walk, const neo_memory_desc *desc,
                   const struct walk_chunk *chunk);
neo_dim walk_step(const struct walk *walk, const neo_memory_desc *desc);

/* What post-operations want to know of a chunk. */
void walk_line(const struct walk *walk, const struct walk_chunk *chunk, struct line *line);

#endif
