/* Packing and unpacking of panels of any type, one at a time. */
#include "src/packed/typed.h"

#include <string.h>

#include "src/core/checked.h"
#include "src/tensor/element.h"
#include "src/tensor/typed_layout.h"
#include "src/threading/partition.h"

/* One panel of one matrix, on both sides. */
struct place {
    struct layout_panel panel;
    size_t k;
    neo_dim first; /* the plain element */
    void *packed;
    int32_t *sums; /* or NULL */
};

struct typed_run {
    const struct typed_transfer *transfer;
    const struct gemm_type *type;
    struct layout_shape shape;
    size_t panels; /* of a matrix */
    void (*run)(const struct typed_run *run, const struct place *place);
};

static neo_dim matrix_offset(const neo_memory_desc *plain, size_t matrix)
{
    neo_dim offset = 0;
    for (int i = plain->ndims - 3; i >= 0; i--) {
        offset += (neo_dim)(matrix % (size_t)plain->dims[i]) * plain->strides[i];
        matrix /= (size_t)plain->dims[i];
    }
    return offset;
}

static struct place place_of(const struct typed_run *run, size_t index)
{
    const struct typed_transfer *t = run->transfer;
    size_t matrix = index / run->panels, k = run->shape.k, n = run->shape.n;
    struct layout_panel panel = layout_panel(n, index % run->panels);
    char *packed = (char *)t->packed_data + matrix * typed_layout_step(run->type, k, n);
    int32_t *sums = (int32_t *)(void *)(packed + typed_layout_sums_at(run->type, k, n));
    return (struct place){
        .panel = panel,
        .k = k,
        .first = matrix_offset(t->plain, matrix) +
                 (neo_dim)panel.first * t->plain->strides[t->plain->ndims - 1],
        .packed = packed + gemm_panel_bytes(run->type, panel.first, k),
        .sums = run->type->sum == ELEMENT_S32 ? sums + panel.first : NULL,
    };
}

static void pack_panel(const struct typed_run *run, const struct place *place)
{
    const struct typed_transfer *t = run->transfer;
    int last = t->plain->ndims - 1;
    if (place->sums)
        memset(place->sums, 0, place->panel.width * sizeof *place->sums);
    gemm_side_pack(&t->side, &(struct gemm_side_panel){
                                 .data = t->plain_data,
                                 .first = (ptrdiff_t)place->first,
                                 .lane = (ptrdiff_t)t->plain->strides[last],
                                 .step = (ptrdiff_t)t->plain->strides[last - 1],
                                 .width = place->panel.width,
                                 .count = place->panel.valid,
                                 .k = place->k,
                                 .out = place->packed,
                                 .sums = place->sums,
                             });
}

static void give_back(const struct typed_run *run, const struct place *place)
{
    const struct typed_transfer *t = run->transfer;
    int last = t->plain->ndims - 1;
    unpack_panel(&(struct unpack_panel){
        .from = run->type->element,
        .to = element_of(t->plain->data_type),
        .group = run->type->group,
        .width = place->panel.width,
        .count = place->panel.valid,
        .k = place->k,
        .panel = place->packed,
        .dst = element_to(t->plain->data_type, t->plain_data, place->first),
        .lane = (ptrdiff_t)t->plain->strides[last],
        .step = (ptrdiff_t)t->plain->strides[last - 1],
    });
}

/* What is behind the sums of a matrix, or behind its panels. */
static void clear_gap(const struct typed_run *run, size_t matrix)
{
    size_t k = run->shape.k, n = run->shape.n, step = typed_layout_step(run->type, k, n);
    size_t used = typed_layout_sums_at(run->type, k, n);
    if (run->type->sum == ELEMENT_S32)
        used += layout_tail_offset(n) * sizeof(int32_t);
    memset((char *)run->transfer->packed_data + matrix * step + used, 0, step - used);
}

static void run_span(void *argument, struct span span, int slot)
{
    const struct typed_run *run = argument;
    (void)slot;
    for (size_t index = span.begin; index < span.end; index++) {
        struct place place = place_of(run, index);
        run->run(run, &place);
        if (run->run == pack_panel && index % run->panels == run->panels - 1)
            clear_gap(run, index / run->panels);
    }
}

static void transfer(struct typed_run *run, const struct parallel *parallel, int threads)
{
    const neo_memory_desc *packed = run->transfer->packed;
    run->type = typed_layout_type(packed->packed.id);
    run->shape = layout_shape(packed);
    run->panels = layout_panel_count(run->shape.n);
    parallel_for_tiles(parallel, run->shape.matrices * run->panels, threads, run_span, run);
}

void typed_pack(const struct typed_transfer *t, const struct parallel *parallel, int threads)
{
    struct typed_run run = {.transfer = t, .run = pack_panel};
    transfer(&run, parallel, threads);
}

void typed_unpack(const struct typed_transfer *t, const struct parallel *parallel, int threads)
{
    struct typed_run run = {.transfer = t, .run = give_back};
    transfer(&run, parallel, threads);
}
