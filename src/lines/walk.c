/* Walks over tensors. */
#include "src/lines/walk.h"

#include "src/core/checked.h"
#include "src/tensor/descriptor.h"

/* From an element to the next one along a dimension of dst. */
static neo_dim stride_of(const neo_memory_desc *desc, int dimension)
{
    return desc->dims[dimension] == 1 ? 0 : desc->strides[dimension];
}

/* Does one stride lead through both dimensions, the outer and the inner one? */
static bool follow(const neo_memory_desc *desc, int outer, int inner, size_t inner_size)
{
    return stride_of(desc, outer) == stride_of(desc, inner) * (neo_dim)inner_size;
}

static bool all_follow(const neo_memory_desc *dst, const neo_memory_desc *const *tensors, int count,
                       int outer, int inner, size_t inner_size)
{
    bool yes = follow(dst, outer, inner, inner_size);
    for (int t = 0; t < count && yes; t++)
        yes = follow(tensors[t], outer, inner, inner_size);
    return yes;
}

/* The dimensions of dst that have more than one element, the innermost first. */
static int order_inwards(const neo_memory_desc *dst, int *order)
{
    int all[NEO_MAX_NDIMS], count = 0;
    desc_memory_order(dst, all);
    for (int i = dst->ndims - 1; i >= 0; i--)
        if (dst->dims[all[i]] != 1)
            order[count++] = all[i];
    if (count == 0)
        order[count++] = 0;
    return count;
}

/* Of what has been collected with the innermost first. */
static void turn_around(struct walk *walk)
{
    for (int i = 0, j = walk->ndims - 1; i < j; i++, j--) {
        int dimension = walk->dimension[i];
        size_t size = walk->sizes[i];
        walk->dimension[i] = walk->dimension[j];
        walk->sizes[i] = walk->sizes[j];
        walk->dimension[j] = dimension;
        walk->sizes[j] = size;
    }
}

void walk_init(struct walk *walk, const neo_memory_desc *dst, const neo_memory_desc *const *tensors,
               int count, bool has_positions, size_t most)
{
    int order[NEO_MAX_NDIMS], dimensions = order_inwards(dst, order);
    *walk = (struct walk){.has_positions = has_positions};
    for (int i = 0; i < dimensions; i++) {
        int last = walk->ndims - 1, here = order[i];
        size_t size = (size_t)dst->dims[here];
        if (i > 0 && !has_positions &&
            all_follow(dst, tensors, count, here, walk->dimension[last], walk->sizes[last])) {
            walk->sizes[last] *= size;
            continue;
        }
        walk->dimension[walk->ndims] = here;
        walk->sizes[walk->ndims++] = size;
    }
    turn_around(walk);
    walk->line = walk->sizes[walk->ndims - 1];
    walk->chunk = min_size(most, walk->line);
    walk->chunks = walk->chunk ? (walk->line + walk->chunk - 1) / walk->chunk : 0;
    walk->tiles = walk->chunks;
    for (int i = 0; i < walk->ndims - 1; i++)
        walk->tiles *= walk->sizes[i];
}

struct walk_chunk walk_chunk(const struct walk *walk, size_t tile)
{
    struct walk_chunk chunk;
    size_t line = tile / walk->chunks, first = tile % walk->chunks * walk->chunk;
    for (int i = walk->ndims - 2; i >= 0; i--) {
        chunk.index[i] = line % walk->sizes[i];
        line /= walk->sizes[i];
    }
    chunk.index[walk->ndims - 1] = first;
    chunk.count = min_size(walk->chunk, walk->line - first);
    return chunk;
}

neo_dim walk_first(const struct walk *walk, const neo_memory_desc *desc,
                   const struct walk_chunk *chunk)
{
    neo_dim first = 0;
    for (int i = 0; i < walk->ndims; i++)
        first += (neo_dim)chunk->index[i] * stride_of(desc, walk->dimension[i]);
    return first;
}

neo_dim walk_step(const struct walk *walk, const neo_memory_desc *desc)
{
    return stride_of(desc, walk->dimension[walk->ndims - 1]);
}

void walk_line(const struct walk *walk, const struct walk_chunk *chunk, struct line *line)
{
    *line = (struct line){.direction = walk->dimension[walk->ndims - 1], .count = chunk->count};
    for (int i = 0; i < walk->ndims && walk->has_positions; i++)
        line->position[walk->dimension[i]] = (neo_dim)chunk->index[i];
}
