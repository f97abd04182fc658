/* Packed weights in a file of the caller's own: written from where the library keeps them, found
 * again by another engine, which is given them where they are mapped and packs nothing. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/packed/packed.h"
#include "tests/support/session.h"
#include "tests/support/temporary.h"

enum { ROWS = 5, BEGIN = 4096 /* of the weights in the file; before them is their descriptor */ };

static const char *path;

static void write_all(int file, const void *data, size_t bytes, off_t at)
{
    assert_int_equal(pwrite(file, data, bytes, at), (ssize_t)bytes);
}

/* What a program does that has the weights packed. */
static void export_weights(neo_packed_weights *weights)
{
    const neo_memory *memory = neo_packed_weights_memory(weights);
    const neo_memory_desc *desc = neo_memory_get_desc(memory);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    write_all(file, desc, sizeof *desc, 0);
    write_all(file, neo_memory_get_handle(memory), neo_memory_desc_size(desc), BEGIN);
    close(file);
}

/* The file in memory, read-only. */
static void *map(size_t bytes)
{
    int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    void *data = mmap(NULL, BEGIN + bytes, PROT_READ, MAP_SHARED, file, 0);
    assert_ptr_not_equal(data, MAP_FAILED);
    close(file);
    return data;
}

static void multiply(neo_stream *in, const neo_primitive_desc *pd, neo_memory *weights,
                     const struct tensor *src, const struct tensor *dst, neo_status want)
{
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, src->memory}, {NEO_ARG_WEIGHTS, weights}, {NEO_ARG_DST, dst->memory}};
    assert_int_equal(neo_primitive_execute(primitive, in, 3, args), want);
    neo_primitive_destroy(primitive);
}

/* Multiplies with this engine's own packed weights, and leaves these in the file. */
static void multiply_here(const struct tensor *src, const struct tensor *dst)
{
    neo_primitive_desc *pd = packed_describe(engine, ROWS, NULL);
    struct tensor plain = packed_source(engine, "ab", 21);
    neo_packed_weights *weights = packed_make(stream, pd, &plain);
    packed_multiply(pd, stream, weights, src, dst);
    export_weights(weights);
    neo_packed_weights_destroy(weights);
    tensor_free(&plain);
    neo_primitive_desc_destroy(pd);
}

struct other {
    neo_engine *engine;
    neo_stream *stream;
    neo_primitive_desc *pd;
    struct tensor src, dst;
};

static struct other other_make(void)
{
    struct other o;
    neo_memory_desc src = tensor_matrix(ROWS, 40, "ab"), dst = tensor_matrix(ROWS, 30, "ab");
    assert_int_equal(neo_engine_create(&o.engine), NEO_OK);
    assert_int_equal(neo_stream_create(&o.stream, o.engine, NULL), NEO_OK);
    o.pd = packed_describe(o.engine, ROWS, NULL);
    o.src = tensor_make(o.engine, &src, 3);
    o.dst = tensor_make(o.engine, &dst, 0);
    return o;
}

static void other_free(struct other *o)
{
    tensor_free(&o->src);
    tensor_free(&o->dst);
    neo_primitive_desc_destroy(o->pd);
    neo_stream_destroy(o->stream);
    neo_engine_destroy(o->engine);
}

static void weights_are_used_where_a_file_is_mapped(void **state)
{
    (void)state;
    neo_memory_desc dst_desc = tensor_matrix(ROWS, 30, "ab");
    struct other o = other_make();
    struct tensor src = tensor_make(engine, &o.src.desc, 3);
    struct tensor want = tensor_make(engine, &dst_desc, 0);
    multiply_here(&src, &want);
    const neo_memory_desc *wanted = neo_primitive_desc_query(o.pd, NEO_ARG_WEIGHTS);
    size_t bytes = neo_memory_desc_size(wanted), differing;
    unsigned char *file = map(bytes);
    neo_memory_desc found;
    memcpy(&found, file, sizeof found);
    assert_true(neo_memory_desc_equal(&found, wanted));
    neo_memory *weights;
    assert_int_equal(neo_memory_create(&weights, &found, o.engine, file + BEGIN), NEO_OK);
    multiply(o.stream, o.pd, weights, &o.src, &o.dst, NEO_OK);
    assert_memory_equal(o.dst.data, want.data, sizeof(float) * ROWS * 30);
    assert_int_equal(packed_statistics(o.engine).inserts, 0);

    for (int is_other = 0; is_other < 2; is_other++) {
        struct tensor plain = packed_source(o.engine, "ba", is_other ? 22 : 21);
        assert_int_equal(neo_weights_compare(&differing, o.stream, weights, plain.memory), NEO_OK);
        assert_int_equal(differing != 0, is_other);
        tensor_free(&plain);
    }
    neo_memory_destroy(weights);
    munmap(file, BEGIN + bytes);
    tensor_free(&src);
    tensor_free(&want);
    other_free(&o);
}

/* A reorder packs straight into the file. */
static void weights_are_packed_into_a_mapped_file(void **state)
{
    (void)state;
    struct other o = other_make();
    const neo_memory_desc *wanted = neo_primitive_desc_query(o.pd, NEO_ARG_WEIGHTS);
    size_t bytes = neo_memory_desc_size(wanted);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0 && ftruncate(file, (off_t)bytes) == 0);
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(data, MAP_FAILED);
    close(file);
    struct tensor plain = packed_source(o.engine, "ab", 22);
    neo_memory *weights;
    neo_primitive_desc *reorder;
    neo_primitive *packing;
    assert_int_equal(neo_memory_create(&weights, wanted, o.engine, data), NEO_OK);
    assert_int_equal(
        neo_reorder_primitive_desc_create(&reorder, o.engine, &plain.desc, wanted, NULL), NEO_OK);
    assert_int_equal(neo_primitive_create(&packing, reorder), NEO_OK);
    neo_exec_arg args[] = {{NEO_ARG_SRC, plain.memory}, {NEO_ARG_DST, weights}};
    assert_int_equal(neo_primitive_execute(packing, o.stream, 2, args), NEO_OK);
    munmap(data, bytes);

    neo_packed_weights *kept = packed_make(o.stream, o.pd, &plain);
    file = open(path, O_RDONLY);
    data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    assert_ptr_not_equal(data, MAP_FAILED);
    close(file);
    assert_memory_equal(data, packed_data(kept), bytes);
    munmap(data, bytes);
    neo_packed_weights_destroy(kept);
    neo_primitive_destroy(packing);
    neo_primitive_desc_destroy(reorder);
    neo_memory_destroy(weights);
    tensor_free(&plain);
    other_free(&o);
}

/* The descriptor that is beside the weights tells it. */
static void weights_of_another_version_or_layout_are_refused(void **state)
{
    (void)state;
    struct other o = other_make();
    const neo_memory_desc *wanted = neo_primitive_desc_query(o.pd, NEO_ARG_WEIGHTS);
    neo_memory_desc others[] = {*wanted, *wanted, *wanted, *wanted};
    others[0].packed.version++;
    others[1].packed.id++;
    others[2].dims[1]++;
    others[3].data_type = NEO_F16;
    struct tensor plain = tensor_make(o.engine, &o.src.desc, 1);
    for (size_t i = 0; i < count_of(others); i++) {
        neo_memory *weights;
        assert_false(neo_memory_desc_equal(&others[i], wanted));
        if (neo_memory_create(&weights, &others[i], o.engine, NULL) != NEO_OK)
            continue; /* there is no such layout */
        assert_int_equal(neo_memory_set_handle(weights, plain.data), NEO_OK); /* is not read */
        multiply(o.stream, o.pd, weights, &o.src, &o.dst, NEO_INVALID_ARGUMENT);
        neo_memory_destroy(weights);
    }
    tensor_free(&plain);
    other_free(&o);
}

int main(void)
{
    path = temporary_file("weights");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_used_where_a_file_is_mapped),
        cmocka_unit_test(weights_are_packed_into_a_mapped_file),
        cmocka_unit_test(weights_of_another_version_or_layout_are_refused),
    };
    return cmocka_run_group_tests(tests, session_setup, session_teardown);
}
