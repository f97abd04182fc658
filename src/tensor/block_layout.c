/* Packed layouts of weights that hold their own scales. */
#include "src/tensor/block_layout.h"

#include "src/core/checked.h"
#include "src/tensor/element.h"

enum { UNITS = 16, F16_SCALES = 16, OFFSETS = 32, VERSION = 1 };

static struct gemm_blocks blocks_of(const neo_memory_desc *desc)
{
    size_t code = (size_t)desc->packed.id - LAYOUT_MATMUL_BLOCKS;
    return (struct gemm_blocks){
        .weight = element_of(desc->data_type),
        .scale = code & F16_SCALES ? ELEMENT_F16 : ELEMENT_F32,
        .block = code % UNITS * GEMM_BLOCKS_UNIT,
        .has_offsets = (code & OFFSETS) != 0,
    };
}

bool block_layout_read(struct gemm_blocks *out, const neo_memory_desc *desc)
{
    if (desc->format_kind != NEO_FORMAT_PACKED || !block_layout_is(desc->packed.id))
        return false;
    *out = blocks_of(desc);
    return true;
}

void block_layout_set(neo_memory_desc *desc, const struct gemm_blocks *blocks)
{
    size_t code = blocks->block / GEMM_BLOCKS_UNIT +
                  (blocks->scale == ELEMENT_F16 ? F16_SCALES : 0) +
                  (blocks->has_offsets ? OFFSETS : 0);
    desc->format_kind = NEO_FORMAT_PACKED;
    desc->packed = (neo_packed_layout){
        .id = (uint16_t)(LAYOUT_MATMUL_BLOCKS + code), .version = VERSION, .panel = GEMM_BLOCKS_NR};
    desc->offset = 0;
}

static bool bytes_fit(const neo_memory_desc *desc, size_t *out)
{
    struct gemm_blocks blocks = blocks_of(desc);
    size_t k = (size_t)desc->dims[desc->ndims - 2], n = (size_t)desc->dims[desc->ndims - 1];
    const size_t most = 256; /* bytes of a panel for a step of k, scales and padding included */
    if (!checked_mul(out, k + GEMM_S4_MOST_BLOCK, most) ||
        !checked_mul(out, *out, n / GEMM_BLOCKS_NR + 1) || *out > PTRDIFF_MAX)
        return false;
    *out =
        round_up(div_up(n, GEMM_BLOCKS_NR) * gemm_blocks_panel_bytes(&blocks, k), LAYOUT_ALIGNMENT);
    return true;
}

const char *block_layout_wrong(const neo_memory_desc *desc)
{
    size_t bytes;
    if (desc->packed.version != VERSION || desc->packed.panel != GEMM_BLOCKS_NR)
        return "the packed layout is of a version that this library does not have";
    if (desc->packed.id % UNITS == 0)
        return "the packed layout is unknown";
    if (desc->data_type != NEO_S4 && desc->data_type != NEO_S8)
        return "weights in blocks with scales are of s4 or s8";
    if (desc->ndims < 2 || desc->packed.grouped)
        return "the packed layout does not fit the number of dimensions";
    for (int i = 0; i < desc->ndims; i++) {
        if (desc->dims[i] < 0)
            return "a packed tensor has a run-time size";
        if (i < desc->ndims - 2 && desc->dims[i] != 1)
            return "weights in blocks with scales are one matrix";
    }
    return bytes_fit(desc, &bytes) ? NULL : "the tensor's bytes do not fit the address space";
}

size_t block_layout_bytes(const neo_memory_desc *desc)
{
    size_t bytes = 0;
    bytes_fit(desc, &bytes);
    return bytes;
}

size_t block_layout_block(size_t group, size_t k)
{
    size_t padded = round_up(k, GEMM_BLOCKS_UNIT);
    if (group >= k) {
        size_t parts = div_up(padded, GEMM_S4_MOST_BLOCK);
        return padded ? round_up(div_up(padded, parts), GEMM_BLOCKS_UNIT) : GEMM_BLOCKS_UNIT;
    }
    size_t block = GEMM_S4_MOST_BLOCK;
    while (block && group % block)
        block -= GEMM_BLOCKS_UNIT;
    return block;
}
