/* Elements made of elements at the same position. */
#include "src/lines/map.h"

#include <string.h>

#include "src/lines/operation.h"
#include "src/tensor/descriptor.h"

/* Elements of a line that is converted to nothing: few enough to share a tensor among threads. */
enum { PLAIN_MOST = 8 * LINE_MOST };

/* Does a step go from sources to dst as they are, in lines of any length? */
static bool is_plain(const struct map *map, const struct problem *problem)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    bool yes = map->direct && problem->attributes.post_op_count == 0 &&
               problem->attributes.quantization_count == 0 &&
               map->dst_type.element == ELEMENT_F32 && walk_step(&map->walk, dst) == 1;
    for (int i = 0; i < map->source_count && yes; i++)
        yes = map->types[i].element == ELEMENT_F32 &&
              walk_step(&map->walk, problem_tensor(problem, map->tensors[i])) == 1;
    return yes;
}

void map_init(struct map *map, const struct problem *problem, const struct cpu *cpu,
              const uint8_t *tensors, int count, bool is_one_step)
{
    const neo_memory_desc *sources[MAX_EXTRAS], *dst = &problem->tensors[DST];
    map->source_count = count;
    memcpy(map->tensors, tensors, (size_t)count);
    for (int i = 0; i < count; i++) {
        sources[i] = problem_tensor(problem, tensors[i]);
        map->types[i] = line_type(sources[i]->data_type, cpu);
    }
    map->dst_type = line_type(dst->data_type, cpu);
    if (problem_is_runtime(problem)) /* planned once more when sizes are known */
        return;
    bool has_operand = post_ops_have_operand(&problem->attributes);
    walk_init(&map->walk, dst, sources, count, has_operand, LINE_MOST);
    map->direct = is_one_step && !post_ops_fusion(problem).reads_dst;
    if (is_plain(map, problem))
        walk_init(&map->walk, dst, sources, count, has_operand, PLAIN_MOST);
}

const float *map_source(const struct map_chunk *chunk, int i, float *buffer)
{
    const struct map *map = chunk->map;
    const neo_memory_desc *desc = problem_tensor(chunk->execution->problem, map->tensors[i]);
    const struct line_type *type = &map->types[i];
    const void *data = line_at(type, execution_buffer(chunk->execution, map->tensors[i]),
                               walk_first(&map->walk, desc, &chunk->place));
    neo_dim step = walk_step(&map->walk, desc);
    if (!chunk->execution->problem->scales[map->tensors[i]])
        return lines_load(type, data, step, chunk->place.count, buffer);
    if (data != buffer)
        lines_load_to(type, data, step, chunk->place.count, buffer);
    lines_scale(chunk->execution, map->tensors[i], chunk->place.count, buffer);
    return buffer;
}

const float *map_source_or_one(const struct map_chunk *chunk, int i, float *buffer, size_t *step)
{
    const struct map *map = chunk->map;
    const neo_memory_desc *desc = problem_tensor(chunk->execution->problem, map->tensors[i]);
    *step = walk_step(&map->walk, desc) != 0;
    if (*step)
        return map_source(chunk, i, buffer);
    const struct line_type *type = &map->types[i];
    *buffer = element_read_f32(type->element, execution_buffer(chunk->execution, map->tensors[i]),
                               walk_first(&map->walk, desc, &chunk->place));
    lines_scale(chunk->execution, map->tensors[i], 1, buffer);
    return buffer;
}

struct map_run {
    const struct map *map;
    const struct execution *execution;
    map_step_fn *step;
};

static void make_chunk(const struct map_run *run, size_t tile)
{
    const struct map *map = run->map;
    const neo_memory_desc *desc = &run->execution->problem->tensors[DST];
    struct map_chunk chunk = {map, run->execution, walk_chunk(&map->walk, tile)};
    neo_dim step = walk_step(&map->walk, desc);
    void *dst = line_at(&map->dst_type, run->execution->buffers[DST],
                        walk_first(&map->walk, desc, &chunk.place));
    float buffer[LINE_MOST];
    float *values = lines_place(&map->dst_type, !map->direct, dst, step, buffer);
    struct line line;
    walk_line(&map->walk, &chunk.place, &line);
    run->step(&chunk, chunk.place.count, values);
    finish_line(run->execution, &line, values, false, dst, step);
}

static void make_chunks(void *argument, struct span tiles, int slot)
{
    (void)slot;
    for (size_t i = tiles.begin; i < tiles.end; i++)
        make_chunk(argument, i);
}

void map_run(const struct map *map, const struct execution *execution, map_step_fn *step)
{
    struct map_run run = {map, execution, step};
    parallel_for_tiles(execution->parallel, map->walk.tiles, execution->threads, make_chunks, &run);
}
