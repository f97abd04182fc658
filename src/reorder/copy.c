/* Plain layout to plain layout: lines along the dimension that is innermost in dst. */
#include <string.h>

#include "kernels/asm/inline.h"
#include "src/core/checked.h"
#include "src/primitive/finish.h"
#include "src/primitive/quantization.h"
#include "src/reorder/reorder.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/element.h"
#include "src/threading/partition.h"

enum { CHUNK = 480 };

struct reorder_copy {
    int direction; /* the lines' dimension */
    size_t lines;
    bool is_plain_copy; /* of the same values: of one type, and nothing is done to them */
    size_t bytes;       /* of an element, if it is */
    bool shares_bytes;  /* the last element of a line and the first of another may be in one byte */
};

static const char *copy_refuse(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self, (void)cpu;
    for (int t = SRC; t <= DST; t++)
        if (problem->tensors[t].format_kind == NEO_FORMAT_PACKED)
            return "a side is packed";
    return NULL;
}

static double copy_estimate(const struct algorithm *self, const struct problem *problem,
                            const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return reorder_estimate(problem, 2);
}

/* The dimension of more than one element with the smallest stride in dst. */
static int innermost(const neo_memory_desc *dst)
{
    int best = dst->ndims - 1;
    for (int i = dst->ndims - 1; i >= 0; i--)
        if (dst->dims[i] != 1 && (dst->dims[best] == 1 || dst->strides[i] < dst->strides[best]))
            best = i;
    return best;
}

static bool has_halves(const neo_memory_desc *desc)
{
    return neo_data_type_bits(desc->data_type) < 8;
}

/* Lines that begin with whole bytes do not. */
static bool shares_bytes(const neo_memory_desc *dst, int direction)
{
    bool shares = dst->strides[direction] != 1 || dst->offset % 2;
    for (int i = 0; i < dst->ndims; i++)
        shares |= i != direction && dst->dims[i] > 1 && dst->strides[i] % 2;
    return has_halves(dst) && shares;
}

static void copy_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct reorder_copy *mine = plan;
    const neo_memory_desc *dst = &problem->tensors[DST];
    (void)cpu;
    mine->direction = innermost(dst);
    const neo_memory_desc *src = &problem->tensors[SRC];
    mine->is_plain_copy = problem->attributes.post_op_count == 0 &&
                          problem->attributes.quantization_count == 0 &&
                          src->data_type == dst->data_type && !has_halves(dst);
    mine->bytes = neo_data_type_bits(dst->data_type) / 8;
    mine->shares_bytes = shares_bytes(dst, mine->direction);
    mine->lines = 1;
    for (int i = 0; i < dst->ndims; i++)
        if (i != mine->direction)
            mine->lines *= (size_t)dst->dims[i]; /* made again when sizes are known */
}

static const char *copy_kernel(const void *plan)
{
    (void)plan;
    return "copy";
}

static void line_position(const neo_memory_desc *dst, int direction, size_t index,
                          neo_dim *position)
{
    for (int i = dst->ndims - 1; i >= 0; i--) {
        if (i == direction) {
            position[i] = 0;
            continue;
        }
        position[i] = (neo_dim)(index % (size_t)dst->dims[i]);
        index /= (size_t)dst->dims[i];
    }
}

/* Elements of the same type, of as many bytes. */
INLINE void copy_elements(const void *src, neo_dim src_step, void *dst, neo_dim dst_step,
                          size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        memcpy((char *)dst + (neo_dim)i * dst_step * (neo_dim)bytes,
               (const char *)src + (neo_dim)i * src_step * (neo_dim)bytes, bytes);
}

static void copy_part(const struct reorder_copy *plan, const struct execution *execution,
                      const struct line *line)
{
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    neo_dim src_step = src->strides[plan->direction], dst_step = dst->strides[plan->direction];
    const void *from =
        element_at(src->data_type, execution->buffers[SRC], desc_offset(src, line->position));
    void *to =
        element_to(dst->data_type, execution->buffers[DST], desc_offset(dst, line->position));
    if (plan->bytes == 4)
        copy_elements(from, src_step, to, dst_step, line->count, 4);
    else if (plan->bytes == 2)
        copy_elements(from, src_step, to, dst_step, line->count, 2);
    else
        copy_elements(from, src_step, to, dst_step, line->count, 1);
}

/* Halves of bytes have no addresses: a sum reads a copy of them that begins with a whole byte. Not
 * in the frame of what is done to other types. */
static __attribute__((noinline)) void finish_halves(const struct execution *execution,
                                                    const struct line *line, float *values,
                                                    neo_dim first, neo_dim step)
{
    const struct problem *problem = execution->problem;
    neo_data_type type = problem->tensors[DST].data_type;
    void *data = execution->buffers[DST];
    uint8_t old[CHUNK / 2] = {0};
    for (size_t i = 0; problem->attributes.post_op_count && i < line->count; i++) {
        int32_t half = element_read_s32(element_of(type), data, first + (neo_dim)i * step);
        old[i / 2] |= (uint8_t)((half & 15) << i % 2 * 4);
    }
    finish_values(execution, line, values, false, old, 1);
    line_store(problem->convert, type, data, first, step, line->count, values);
}

/* As f32: less src's zero point, times its scale, and what is done to every line of results. */
static void convert_part(const struct reorder_copy *plan, const struct execution *execution,
                         const struct line *line)
{
    const struct problem *problem = execution->problem;
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    float values[CHUNK];
    line_load(problem->convert, src->data_type, execution->buffers[SRC],
              desc_offset(src, line->position), src->strides[plan->direction], line->count, values);
    quantization_apply(execution, problem->zero_points[SRC], src,
                       problem->binary[BINARY_F32_SUB].run, line, values);
    quantization_apply(execution, problem->scales[SRC], src, problem->binary[BINARY_F32_MUL].run,
                       line, values);
    neo_dim first = desc_offset(dst, line->position), step = dst->strides[plan->direction];
    if (has_halves(dst))
        finish_halves(execution, line, values, first, step);
    else
        finish_line(execution, line, values, false,
                    element_to(dst->data_type, execution->buffers[DST], first), step);
}

static void copy_line(const struct reorder_copy *plan, const struct execution *execution,
                      struct line *line)
{
    size_t count = (size_t)execution->problem->tensors[DST].dims[plan->direction];
    for (size_t from = 0; from < count; from += CHUNK) {
        line->position[plan->direction] = (neo_dim)from;
        line->count = min_size(CHUNK, count - from);
        (plan->is_plain_copy ? copy_part : convert_part)(plan, execution, line);
    }
}

struct copy_run {
    const struct reorder_copy *plan;
    const struct execution *execution;
};

static void run_lines(void *argument, struct span lines, int slot)
{
    (void)slot;
    const struct copy_run *run = argument;
    const neo_memory_desc *dst = &run->execution->problem->tensors[DST];
    struct line line = {.direction = run->plan->direction};
    for (size_t i = lines.begin; i < lines.end; i++) {
        line_position(dst, run->plan->direction, i, line.position);
        copy_line(run->plan, run->execution, &line);
    }
}

static void copy_run(const void *plan, const struct execution *execution)
{
    const struct reorder_copy *mine = plan;
    struct copy_run run = {mine, execution};
    int threads = mine->shares_bytes ? 1 : execution->threads;
    if (mine->is_plain_copy && execution->buffers[SRC] == execution->buffers[DST])
        return; /* in place, which only one descriptor can be */
    parallel_for_tiles(execution->parallel, mine->lines, threads, run_lines, &run);
}

const struct algorithm reorder_copy = {
    .name = "copy",
    .types = reorder_all_types,
    .quantizes = true,
    .refuse = copy_refuse,
    .estimate = copy_estimate,
    .plan = copy_plan,
    .plan_bytes = sizeof(struct reorder_copy),
    .kernel = copy_kernel,
    .run = copy_run,
};
