/* A tensor in two forms: the library's memory, and values in natural (row-major) order. */
#include "benchdnn/tensor.h"

#include "benchdnn/element.h"
#include "benchdnn/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Every float of these bytes is a NaN. */
#define MARKER 0xff
#define MARGIN 64 /* marked bytes in front */

/* ---- memory ---- */

/* Touching pages one by one is most of the time that filling a large tensor takes. */
static void prefer_huge_pages(void *begin, size_t bytes)
{
    enum { WORTHWHILE = 4 << 20 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)begin % page;
    if (bytes >= WORTHWHILE)
        madvise((unsigned char *)begin + before, bytes - before, MADV_HUGEPAGE);
}

/* Pages with one behind them that cannot be touched. The buffer ends there if its type allows. */
static bool map_block(struct tensor *t)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (t->bytes > SIZE_MAX / 4)
        return false;
    size_t used = (t->bytes + 2 * MARGIN + page - 1) / page * page;
    t->block_bytes = used + page;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *block = mmap(NULL, t->block_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (block == MAP_FAILED)
        return false;
    t->block = block;
    prefer_huge_pages(block, used);
    size_t begin = used - t->bytes;
    bool is_packed = t->desc.format_kind == NEO_FORMAT_PACKED;
    begin -= begin % (is_packed ? 64 : 4);
    t->buffer = t->block + begin;
    mprotect(t->block + used, page, PROT_NONE);
    return true;
}

neo_status tensor_init(struct tensor *t, int arg, enum type type, const struct dims *dims,
                       const neo_memory_desc *desc, neo_engine *engine)
{
    *t = (struct tensor){.arg = arg, .type = type, .dims = *dims, .desc = *desc};
    t->bytes = neo_memory_desc_size(desc);
    if (!map_block(t))
        return NEO_OUT_OF_MEMORY;
    return neo_memory_create(&t->memory, desc, engine, t->buffer);
}

void tensor_deinit(struct tensor *t)
{
    neo_memory_destroy(t->memory);
    if (t->block)
        munmap(t->block, t->block_bytes);
    free(t->values);
    *t = (struct tensor){0};
}

void tensor_alloc_values(struct tensor *t)
{
    size_t bytes = (size_t)dims_elements(&t->dims) * sizeof *t->values;
    t->values = bench_alloc(bytes);
    prefer_huge_pages(t->values, bytes);
}

void tensor_mark(struct tensor *t)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *end = t->block + t->block_bytes - page;
    unsigned char *begin = t->buffer - MARGIN > t->block ? t->buffer - MARGIN : t->block;
    memset(begin, MARKER, (size_t)(end - begin));
}

/* ---- elements in natural order ---- */

/* Visits all elements: row(context, first, stride, index, count) for each row of the last
 * dimension, first and stride in elements of the buffer, index of the row's first value. */
typedef void row_fn(void *context, int64_t first, int64_t stride, int64_t index, int64_t count);

static void for_each_row(const struct tensor *t, row_fn *row, void *context)
{
    int last = t->dims.count - 1;
    int64_t position[NEO_MAX_NDIMS] = {0};
    int64_t count = t->dims.at[last], rows = count ? dims_elements(&t->dims) / count : 0;
    int64_t offset = t->desc.offset;
    for (int64_t r = 0; r < rows; r++) {
        row(context, offset, t->desc.strides[last], r * count, count);
        for (int d = last - 1; d >= 0; d--) {
            offset += t->desc.strides[d];
            if (++position[d] < t->dims.at[d])
                break;
            offset -= t->desc.strides[d] * t->dims.at[d];
            position[d] = 0;
        }
    }
}

struct transfer {
    enum type type;
    unsigned char *buffer;
    const float *from;
    double *to;
};

static void store_row(void *context, int64_t first, int64_t stride, int64_t index, int64_t count)
{
    const struct transfer *t = context;
    element_store_row(t->type, t->buffer, first, stride, t->from + index, count);
}

static void load_row(void *context, int64_t first, int64_t stride, int64_t index, int64_t count)
{
    const struct transfer *t = context;
    if (t->type == TYPE_F32) {
        const float *from = (const float *)(const void *)t->buffer + first;
        for (int64_t i = 0; i < count; i++)
            t->to[index + i] = (double)from[i * stride];
        return;
    }
    for (int64_t i = 0; i < count; i++)
        t->to[index + i] = element_load(t->type, t->buffer, first + i * stride);
}

static void mark_row(void *context, int64_t first, int64_t stride, int64_t index, int64_t count)
{
    const struct transfer *t = context;
    size_t bits = neo_data_type_bits(type_to_neo(t->type));
    (void)index;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = first + i * stride;
        if (bits >= 8)
            memset(t->buffer + (size_t)at * bits / 8, MARKER, bits / 8);
        else
            t->buffer[at / 2] |= (unsigned char)(0xf << at % 2 * 4);
    }
}

/* ---- packed layouts ---- */

/* Copies between the packed tensor and a dense one with the same dimensions. */
static neo_status reorder_packed(const struct tensor *packed, struct tensor *dense, bool pack,
                                 neo_engine *engine, neo_stream *stream)
{
    const struct tensor *from = pack ? dense : packed, *to = pack ? packed : dense;
    neo_primitive_desc *pd = NULL;
    neo_primitive *primitive = NULL;
    neo_status status =
        neo_reorder_primitive_desc_create(&pd, engine, &from->desc, &to->desc, NULL);
    if (status == NEO_OK)
        status = neo_primitive_create(&primitive, pd);
    neo_exec_arg args[] = {{NEO_ARG_SRC, from->memory}, {NEO_ARG_DST, to->memory}};
    if (status == NEO_OK)
        status = neo_primitive_execute(primitive, stream, 2, args);
    if (status == NEO_OK)
        status = neo_stream_wait(stream);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    return status;
}

static neo_status dense_desc(neo_memory_desc *out, const struct tensor *like)
{
    char tag[NEO_MAX_NDIMS + 1] = "";
    for (int i = 0; i < like->dims.count; i++)
        tag[i] = (char)('a' + i);
    return neo_memory_desc_init_tag(out, like->dims.count, like->dims.at, type_to_neo(like->type),
                                    tag);
}

static neo_status init_dense(struct tensor *dense, const struct tensor *like, neo_engine *engine)
{
    neo_memory_desc desc;
    neo_status status = dense_desc(&desc, like);
    if (status != NEO_OK)
        return status;
    return tensor_init(dense, like->arg, like->type, &like->dims, &desc, engine);
}

/* ---- both ---- */

static void store_rows(struct tensor *to, const float *values)
{
    struct transfer all = {.type = to->type, .buffer = to->buffer, .from = values};
    for_each_row(to, store_row, &all);
}

/* Values are what a dense tensor of f32 has already. */
static neo_status init_dense_values(struct tensor *dense, const struct tensor *t,
                                    neo_engine *engine)
{
    neo_status status =
        t->type == TYPE_F32 ? dense_desc(&dense->desc, t) : init_dense(dense, t, engine);
    if (status == NEO_OK && t->type == TYPE_F32)
        return neo_memory_create(&dense->memory, &dense->desc, engine, t->values);
    if (status == NEO_OK)
        store_rows(dense, t->values);
    return status;
}

neo_status tensor_store(struct tensor *t, neo_engine *engine, neo_stream *stream)
{
    tensor_mark(t);
    if (t->desc.format_kind != NEO_FORMAT_PACKED) {
        store_rows(t, t->values);
        return NEO_OK;
    }
    struct tensor dense = {0};
    neo_status status = init_dense_values(&dense, t, engine);
    if (status == NEO_OK)
        status = reorder_packed(t, &dense, true, engine, stream);
    tensor_deinit(&dense);
    return status;
}

neo_status tensor_load(const struct tensor *t, double *out, neo_engine *engine, neo_stream *stream)
{
    if (t->desc.format_kind != NEO_FORMAT_PACKED) {
        struct transfer all = {.type = t->type, .buffer = t->buffer, .to = out};
        for_each_row(t, load_row, &all);
        return NEO_OK;
    }
    struct tensor dense = {0};
    neo_status status = init_dense(&dense, t, engine);
    if (status == NEO_OK)
        status = reorder_packed(t, &dense, false, engine, stream);
    if (status == NEO_OK) {
        struct transfer all = {.type = t->type, .buffer = dense.buffer, .to = out};
        for_each_row(&dense, load_row, &all);
    }
    tensor_deinit(&dense);
    return status;
}

neo_status tensor_read_values(struct tensor *t, neo_engine *engine, neo_stream *stream)
{
    int64_t count = dims_elements(&t->dims);
    double *values = bench_alloc((size_t)count * sizeof *values);
    neo_status status = tensor_load(t, values, engine, stream);
    for (int64_t i = 0; status == NEO_OK && i < count; i++)
        t->values[i] = (float)values[i];
    free(values);
    return status;
}

static bool is_marked(const unsigned char *begin, const unsigned char *end)
{
    return begin == end ||
           (*begin == MARKER && memcmp(begin, begin + 1, (size_t)(end - begin) - 1) == 0);
}

bool tensor_is_intact(struct tensor *t)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const unsigned char *end = t->block + t->block_bytes - page;
    const unsigned char *begin = t->buffer - MARGIN > t->block ? t->buffer - MARGIN : t->block;
    struct transfer all = {.type = t->type, .buffer = t->buffer};
    size_t dense =
        ((size_t)dims_elements(&t->dims) * neo_data_type_bits(t->desc.data_type) + 7) / 8;
    bool has_gaps = t->desc.format_kind != NEO_FORMAT_PACKED && dense != t->bytes;
    if (has_gaps) {
        for_each_row(t, mark_row, &all);
        return is_marked(begin, end);
    }
    return is_marked(begin, t->buffer) && is_marked(t->buffer + t->bytes, end);
}
