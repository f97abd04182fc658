/* Copies, line by line of the destination. */
#include "src/lines/copy.h"

#include <string.h>

#include "src/lines/operation.h"
#include "src/lines/walk.h"
#include "src/primitive/implementation.h"

struct copy {
    struct walk walk;
    const neo_memory_desc *from_desc, *to_desc;
    const void *from;
    void *to;
    struct line_type from_type, to_type;
    float scale;
    binary_f32_fn *multiply;
};

#define COPY(word)                     \
    for (size_t i = 0; i < count; i++) \
    ((word *)to)[(neo_dim)i * to_step] = ((const word *)from)[(neo_dim)i * from_step]

static void move(size_t bytes, const void *from, neo_dim from_step, size_t count, void *to,
                 neo_dim to_step)
{
    if (from_step == 1 && to_step == 1)
        memcpy(to, from, count * bytes);
    else if (bytes == 4)
        COPY(uint32_t);
    else if (bytes == 2)
        COPY(uint16_t);
    else
        COPY(uint8_t);
}

static void convert_line(const struct copy *copy, size_t tile)
{
    struct walk_chunk chunk = walk_chunk(&copy->walk, tile);
    neo_dim from_step = walk_step(&copy->walk, copy->from_desc);
    neo_dim to_step = walk_step(&copy->walk, copy->to_desc);
    const void *from =
        line_at(&copy->from_type, copy->from, walk_first(&copy->walk, copy->from_desc, &chunk));
    void *to = line_at(&copy->to_type, copy->to, walk_first(&copy->walk, copy->to_desc, &chunk));
    float buffer[LINE_MOST];
    const float *values = lines_load(&copy->from_type, from, from_step, chunk.count, buffer);
    if (copy->scale != 1) {
        copy->multiply(chunk.count, values, &copy->scale, 0, buffer);
        values = buffer;
    }
    lines_store(&copy->to_type, values, chunk.count, to, to_step);
}

/* Lines that follow each other along the dimension beside theirs, moved as they are. Returns how
 * many there were, at most `most`. */
static size_t move_lines(const struct copy *copy, size_t tile, size_t most)
{
    const struct walk *walk = &copy->walk;
    struct walk_chunk chunk = walk_chunk(walk, tile), next = chunk;
    size_t bytes = element_bytes(copy->to_type.element), count = 1;
    const char *from =
        line_at(&copy->from_type, copy->from, walk_first(walk, copy->from_desc, &chunk));
    char *to = line_at(&copy->to_type, copy->to, walk_first(walk, copy->to_desc, &chunk));
    neo_dim from_next = 0, to_next = 0;
    if (walk->chunks == 1 && walk->ndims > 1) {
        size_t *index = &next.index[walk->ndims - 2];
        count = min_size(most, walk->sizes[walk->ndims - 2] - *index);
        *index += 1;
        from_next =
            walk_first(walk, copy->from_desc, &next) - walk_first(walk, copy->from_desc, &chunk);
        to_next = walk_first(walk, copy->to_desc, &next) - walk_first(walk, copy->to_desc, &chunk);
    }
    neo_dim from_step = walk_step(walk, copy->from_desc), to_step = walk_step(walk, copy->to_desc);
    for (size_t i = 0; i < count; i++) {
        move(bytes, from, from_step, chunk.count, to, to_step);
        from += from_next * (neo_dim)bytes;
        to += to_next * (neo_dim)bytes;
    }
    return count;
}

static void copy_lines(void *argument, struct span tiles, int slot)
{
    const struct copy *copy = argument;
    bool as_it_is = copy->from_type.element == copy->to_type.element && copy->scale == 1;
    (void)slot;
    for (size_t i = tiles.begin; i < tiles.end;)
        if (as_it_is)
            i += move_lines(copy, i, tiles.end - i);
        else
            convert_line(copy, i++);
}

void lines_copy(const struct execution *execution, const neo_memory_desc *from_desc,
                const void *from, const neo_memory_desc *to_desc, void *to, float scale)
{
    const struct cpu *cpu = execution->implementation->engine->cpu;
    struct copy copy = {.from_desc = from_desc,
                        .to_desc = to_desc,
                        .from = from,
                        .to = to,
                        .scale = scale,
                        .multiply = execution->problem->binary[BINARY_F32_MUL].run,
                        .from_type = line_type(from_desc->data_type, cpu),
                        .to_type = line_type(to_desc->data_type, cpu)};
    walk_init(&copy.walk, to_desc, &from_desc, 1, false, LINE_MOST);
    parallel_for_tiles(execution->parallel, copy.walk.tiles, execution->threads, copy_lines, &copy);
}
