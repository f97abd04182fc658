/* Packing and unpacking of depthwise weights of any types, a block of channels at a time. */
#include "src/packed/depthwise.h"

#include <string.h>

#include "src/tensor/depthwise_layout.h"
#include "src/tensor/element.h"
#include "src/threading/partition.h"

struct depthwise_run {
    const struct depthwise_transfer *transfer;
    struct depthwise_layout layout;
    enum element plain, stored; /* types of the tensors; the layout has what is multiplied */
    void (*run)(const struct depthwise_run *run, size_t block);
};

static neo_dim channel_offset(const struct depthwise_run *run, size_t channel)
{
    const neo_memory_desc *plain = run->transfer->plain;
    if (!run->transfer->packed->packed.grouped)
        return (neo_dim)channel * plain->strides[0];
    size_t outputs = (size_t)plain->dims[1];
    return (neo_dim)(channel / outputs) * plain->strides[0] +
           (neo_dim)(channel % outputs) * plain->strides[1];
}

static neo_dim tap_offset(const struct depthwise_run *run, size_t tap)
{
    const neo_memory_desc *plain = run->transfer->plain;
    neo_dim offset = 0;
    for (int i = plain->ndims - 1; i > run->transfer->packed->packed.grouped + 1; i--) {
        offset += (neo_dim)(tap % (size_t)plain->dims[i]) * plain->strides[i];
        tap /= (size_t)plain->dims[i];
    }
    return offset;
}

/* The block's channels, from the first one that the block before has not, to the last one. */
static struct span own_channels(const struct depthwise_layout *layout, size_t block)
{
    size_t skipped = block * DEPTHWISE_BLOCK - depthwise_layout_first(layout, block);
    return (struct span){skipped, min_size(layout->channels, DEPTHWISE_BLOCK)};
}

static void *block_of(const struct depthwise_run *run, size_t block)
{
    return (char *)run->transfer->packed_data + block * run->layout.block_bytes;
}

static size_t taps_of(const struct depthwise_layout *layout)
{
    return layout->rows * layout->columns;
}

/* ---- packing ---- */

/* Elements of the same type keep their bits. */
static void pack_one(const struct depthwise_run *run, ptrdiff_t from, void *block, size_t to)
{
    const void *data = run->transfer->plain_data;
    size_t bytes = element_bytes(run->plain);
    uint32_t stored = 0;
    if (run->plain == run->layout.element && run->plain == run->stored) {
        memcpy((char *)block + to * bytes, (const char *)data + from * (ptrdiff_t)bytes, bytes);
        return;
    }
    element_write_f32(run->stored, &stored, 0, element_read_f32(run->plain, data, from));
    element_write_f32(run->layout.element, block, (ptrdiff_t)to,
                      element_read_f32(run->stored, &stored, 0));
}

/* Behind the blocks: sums of its own channels, and whether a weight is -128. */
static void describe_block(const struct depthwise_run *run, size_t block)
{
    const struct depthwise_layout *layout = &run->layout;
    char *packed = run->transfer->packed_data;
    const int8_t *weights = block_of(run, block);
    int32_t *sums =
        (int32_t *)(void *)(packed + layout->sums_at) + depthwise_layout_first(layout, block);
    struct span own = own_channels(layout, block);
    for (size_t c = own.begin; c < DEPTHWISE_BLOCK; c++) {
        sums[c] = 0;
        for (size_t tap = 0; tap < taps_of(layout); tap++)
            sums[c] += weights[depthwise_layout_at(layout, tap, c)];
    }
    packed[layout->flags_at + block] =
        memchr(weights, (uint8_t)INT8_MIN, layout->block_bytes) != NULL;
}

static void clear_gap(const struct depthwise_run *run)
{
    const struct depthwise_layout *layout = &run->layout;
    size_t used = layout->flags_at + (layout->element == ELEMENT_S8 ? layout->blocks : 0);
    memset((char *)run->transfer->packed_data + used, 0, layout->bytes - used);
}

static void pack_block(const struct depthwise_run *run, size_t block)
{
    const struct depthwise_layout *layout = &run->layout;
    size_t first = depthwise_layout_first(layout, block);
    void *weights = block_of(run, block);
    memset(weights, 0, layout->block_bytes);
    for (size_t c = 0; c < min_size(layout->channels, DEPTHWISE_BLOCK); c++)
        for (size_t tap = 0; tap < taps_of(layout); tap++)
            pack_one(run, (ptrdiff_t)(channel_offset(run, first + c) + tap_offset(run, tap)),
                     weights, depthwise_layout_at(layout, tap, c));
    if (layout->element == ELEMENT_S8)
        describe_block(run, block);
    if (block == layout->blocks - 1)
        clear_gap(run);
}

/* ---- unpacking ---- */

static void unpack_block(const struct depthwise_run *run, size_t block)
{
    const struct depthwise_layout *layout = &run->layout;
    size_t first = depthwise_layout_first(layout, block), bytes = element_bytes(run->plain);
    struct span own = own_channels(layout, block);
    const void *weights = block_of(run, block);
    for (size_t c = own.begin; c < own.end; c++)
        for (size_t tap = 0; tap < taps_of(layout); tap++) {
            size_t from = depthwise_layout_at(layout, tap, c);
            ptrdiff_t to = (ptrdiff_t)(channel_offset(run, first + c) + tap_offset(run, tap));
            if (run->plain == layout->element)
                memcpy((char *)run->transfer->plain_data + to * (ptrdiff_t)bytes,
                       (const char *)weights + from * bytes, bytes);
            else
                element_write_f32(run->plain, run->transfer->plain_data, to,
                                  element_read_f32(layout->element, weights, (ptrdiff_t)from));
        }
}

/* ---- both ways ---- */

static void run_span(void *argument, struct span span, int slot)
{
    const struct depthwise_run *run = argument;
    (void)slot;
    for (size_t block = span.begin; block < span.end; block++)
        run->run(run, block);
}

static void transfer(struct depthwise_run *run, const struct parallel *parallel, int threads)
{
    run->layout = depthwise_layout_read(run->transfer->packed);
    run->plain = element_of(run->transfer->plain->data_type);
    run->stored = element_of(run->transfer->packed->data_type);
    parallel_for_tiles(parallel, run->layout.blocks, threads, run_span, run);
}

void depthwise_pack(const struct depthwise_transfer *t, const struct parallel *parallel,
                    int threads)
{
    struct depthwise_run run = {.transfer = t, .run = pack_block};
    transfer(&run, parallel, threads);
}

void depthwise_unpack(const struct depthwise_transfer *t, const struct parallel *parallel,
                      int threads)
{
    struct depthwise_run run = {.transfer = t, .run = unpack_block};
    transfer(&run, parallel, threads);
}
