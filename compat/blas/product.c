/* Products on primitives that each thread keeps: a BLAS call describes its matrices anew every
 * time, and most programs repeat a few shapes. */
#include "compat/blas/product.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compat/blas/threads.h"

enum { SETS = 16, WAYS = 4, SRC = 0, WEIGHTS, DST, OPERANDS };

/* A primitive of one shape with its memory objects, whose buffers are each call's. */
struct kept {
    struct product_shape shape;
    neo_primitive *primitive; /* NULL: the slot is empty */
    neo_exec_arg args[OPERANDS];
};

/* Shapes of one set take its ways in turn. */
struct set {
    struct kept ways[WAYS];
    size_t next;
};

struct table {
    struct set sets[SETS];
};

static __thread struct table *own;
static pthread_key_t key;
static int have_key;

static void drop(struct kept *kept)
{
    neo_primitive_destroy(kept->primitive);
    for (int i = 0; i < OPERANDS; i++)
        neo_memory_destroy(kept->args[i].memory);
    memset(kept, 0, sizeof *kept);
}

static void drop_table(void *argument)
{
    struct table *table = argument;
    for (int i = 0; i < SETS * WAYS; i++)
        drop(&table->sets[i / WAYS].ways[i % WAYS]);
    free(table);
    own = NULL;
}

static void make_key(void)
{
    have_key = !pthread_key_create(&key, drop_table);
}

/* The calling thread's table; NULL where it cannot be had, or would not be freed at its end. */
static struct table *own_table(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (own)
        return own;
    (void)pthread_once(&once, make_key);
    struct table *table = have_key ? calloc(1, sizeof *table) : NULL;
    if (table && pthread_setspecific(key, table)) {
        free(table);
        table = NULL;
    }
    return own = table;
}

/* Multiplies by an odd constant of random bits (2^64 over the golden ratio), and takes the top. */
static size_t set_of(const struct product_shape *shape)
{
    uint64_t words[sizeof *shape / sizeof(uint64_t)], hash = 0;
    memcpy(words, shape, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
    return (size_t)(hash >> 32) % SETS;
}

static neo_status describe(neo_memory_desc *out, int64_t rows, int64_t columns,
                           const int64_t strides[2])
{
    return neo_memory_desc_init_strides(out, 2, (neo_dim[]){rows, columns}, NEO_F32, strides);
}

/* alpha and beta as post-operations; the sum reads dst, so without a beta there is none. */
static neo_status append(neo_attributes *attributes, const struct product_shape *shape)
{
    neo_status status = NEO_OK;
    if (shape->alpha != 1)
        status = neo_attributes_append_eltwise(attributes, NEO_ELTWISE_LINEAR, shape->alpha, 0);
    if (status == NEO_OK && shape->beta != 0)
        status = neo_attributes_append_sum(attributes, shape->beta, 0, NEO_DATA_TYPE_UNDEF);
    return status;
}

static neo_status make_primitive(neo_primitive **out, const struct product_shape *shape,
                                 const neo_matmul_desc *desc)
{
    neo_attributes *attributes = NULL;
    neo_primitive_desc *pd = NULL;
    neo_status status = neo_attributes_create(&attributes);
    if (status == NEO_OK)
        status = append(attributes, shape);
    if (status == NEO_OK)
        status = neo_matmul_primitive_desc_create(&pd, threads_engine(), desc, attributes);
    if (status == NEO_OK)
        status = neo_primitive_create(out, pd);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
    return status;
}

static neo_status make_memories(neo_exec_arg *args, const neo_matmul_desc *desc)
{
    const neo_memory_desc *descs[OPERANDS] = {&desc->src, &desc->weights, &desc->dst};
    static const int names[OPERANDS] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST};
    neo_status status = NEO_OK;
    for (int i = 0; i < OPERANDS && status == NEO_OK; i++) {
        args[i].arg = names[i];
        status = neo_memory_create(&args[i].memory, descs[i], threads_engine(), NULL);
    }
    return status;
}

static neo_status fill(struct kept *kept, const struct product_shape *shape)
{
    neo_matmul_desc desc = {0};
    neo_status status = describe(&desc.src, shape->m, shape->k, shape->src);
    if (status == NEO_OK)
        status = describe(&desc.weights, shape->k, shape->n, shape->weights);
    if (status == NEO_OK)
        status = describe(&desc.dst, shape->m, shape->n, shape->dst);
    if (status == NEO_OK)
        status = make_memories(kept->args, &desc);
    if (status == NEO_OK)
        status = make_primitive(&kept->primitive, shape, &desc);
    if (status != NEO_OK)
        drop(kept);
    else
        kept->shape = *shape;
    return status;
}

static int is_of(const struct kept *kept, const struct product_shape *shape)
{
    return kept->primitive && !memcmp(&kept->shape, shape, sizeof *shape);
}

/* The primitive of this shape, made if it is not there; NULL on failure. */
static struct kept *find(const struct product_shape *shape)
{
    struct table *table = threads_engine() ? own_table() : NULL;
    if (!table)
        return NULL;
    struct set *set = &table->sets[set_of(shape)];
    for (int i = 0; i < WAYS; i++)
        if (is_of(&set->ways[i], shape))
            return &set->ways[i];
    struct kept *kept = &set->ways[set->next++ % WAYS];
    drop(kept);
    return fill(kept, shape) == NEO_OK ? kept : NULL;
}

/* A memory object's buffer may be written; the primitive only reads src and weights. */
static void *unconst(const float *buffer)
{
    union {
        const float *in;
        void *out;
    } pun = {buffer};
    return pun.out;
}

int product_run(const struct product_shape *shape, const float *src, const float *weights,
                float *dst)
{
    struct kept *kept = find(shape);
    if (!kept)
        return 0;
    void *buffers[OPERANDS] = {unconst(src), unconst(weights), dst};
    for (int i = 0; i < OPERANDS; i++)
        if (neo_memory_set_handle(kept->args[i].memory, buffers[i]) != NEO_OK)
            return 0;
    return neo_primitive_execute(kept->primitive, threads_stream(), OPERANDS, kept->args) == NEO_OK;
}
