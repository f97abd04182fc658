/* Packing and unpacking of panels of any type, one at a time. */
#include "src/packed/typed.h"

#include <string.h>

#include "src/core/checked.h"
#include "src/packed/matrix.h"
#include "src/tensor/typed_layout.h"
#include "src/threading/partition.h"

struct typed_run {
    const struct typed_transfer *transfer;
    const struct gemm_type *type;
    struct layout_shape shape;
    struct weights_matrix matrix;
    bool is_convolution;
    size_t panels; /* of a matrix */
    void (*run)(const struct typed_run *run, const struct weights_panel *panel);
};

/* Of a convolution there is one for each group. */
static neo_dim matrix_offset(const struct typed_run *run, size_t matrix)
{
    const neo_memory_desc *plain = run->transfer->plain;
    neo_dim offset = 0;
    if (run->is_convolution)
        return run->transfer->packed->packed.grouped ? (neo_dim)matrix * plain->strides[0] : 0;
    for (int i = plain->ndims - 3; i >= 0; i--) {
        offset += (neo_dim)(matrix % (size_t)plain->dims[i]) * plain->strides[i];
        matrix /= (size_t)plain->dims[i];
    }
    return offset;
}

static struct weights_panel panel_of(const struct typed_run *run, size_t index)
{
    const struct typed_transfer *t = run->transfer;
    size_t matrix = index / run->panels, k = run->shape.k, n = run->shape.n;
    struct layout_panel panel = typed_layout_panel(run->type, n, index % run->panels);
    char *packed = (char *)t->packed_data + matrix * typed_layout_step(run->type, k, n);
    int32_t *sums = (int32_t *)(void *)(packed + typed_layout_sums_at(run->type, k, n));
    return (struct weights_panel){
        .data = t->plain_data,
        .matrix = matrix_offset(run, matrix),
        .first = panel.first,
        .lanes = panel.valid,
        .width = panel.width,
        .depth = k,
        .panel = packed + gemm_panel_bytes(run->type, panel.first, k),
        .sums = run->type->sum == ELEMENT_S32 ? sums + panel.first : NULL,
    };
}

static void pack_panel(const struct typed_run *run, const struct weights_panel *panel)
{
    if (panel->sums)
        memset(panel->sums, 0, panel->width * sizeof *panel->sums);
    weights_matrix_pack(&run->matrix, &run->transfer->side, panel);
}

static void give_back(const struct typed_run *run, const struct weights_panel *panel)
{
    weights_matrix_unpack(&run->matrix, run->type, run->transfer->plain->data_type, panel);
}

/* What is behind the sums of a matrix, or behind its panels. */
static void clear_gap(const struct typed_run *run, size_t matrix)
{
    size_t k = run->shape.k, n = run->shape.n, step = typed_layout_step(run->type, k, n);
    size_t used = typed_layout_sums_at(run->type, k, n);
    if (run->type->sum == ELEMENT_S32)
        used += typed_layout_columns(run->type, n) * sizeof(int32_t);
    memset((char *)run->transfer->packed_data + matrix * step + used, 0, step - used);
}

static void run_span(void *argument, struct span span, int slot)
{
    const struct typed_run *run = argument;
    (void)slot;
    for (size_t index = span.begin; index < span.end; index++) {
        struct weights_panel panel = panel_of(run, index);
        run->run(run, &panel);
        if (run->run == pack_panel && index % run->panels == run->panels - 1)
            clear_gap(run, index / run->panels);
    }
}

static void transfer(struct typed_run *run, const struct parallel *parallel, int threads)
{
    const neo_memory_desc *packed = run->transfer->packed, *plain = run->transfer->plain;
    run->is_convolution = typed_layout_is_convolution(packed->packed.id);
    run->matrix = run->is_convolution ? weights_matrix_of_convolution(plain, packed->packed.grouped)
                                      : weights_matrix_of(plain);
    run->type = typed_layout_type(packed->packed.id);
    run->shape = layout_shape(packed);
    run->panels = typed_layout_panel_count(run->type, run->shape.n);
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
