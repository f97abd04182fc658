/* Products without descriptors: dnnl_sgemm and its integer relatives, row-major. */
#include <math.h>
#include <stdlib.h>

#include "compat/onednn/objects.h"

/* C[m][n] = alpha * (op(A)[m][k] - a_zero) * (op(B)[k][n] - b_zero) + beta * C + offset */
struct product {
    neo_dim m, n, k, lda, ldb, ldc;
    int trans_a, trans_b; /* 0 or 1 */
    neo_data_type a_type, b_type, c_type;
    const void *a, *b;
    void *c;
    int32_t a_zero, b_zero;
    float alpha, beta;
};

static int transposed(char letter)
{
    switch (letter) {
    case 'N':
    case 'n':
        return 0;
    case 'T':
    case 't':
        return 1;
    default:
        return -1;
    }
}

static int at_least(neo_dim value, neo_dim size)
{
    return value >= (size > 1 ? size : 1);
}

static int is_valid(const struct product *p)
{
    return p->trans_a >= 0 && p->trans_b >= 0 && p->m >= 0 && p->n >= 0 && p->k >= 0 &&
           at_least(p->lda, p->trans_a ? p->m : p->k) &&
           at_least(p->ldb, p->trans_b ? p->k : p->n) && at_least(p->ldc, p->n) &&
           (p->m == 0 || p->n == 0 || (p->c && (p->k == 0 || (p->a && p->b))));
}

static neo_status describe(neo_matmul_desc *desc, const struct product *p)
{
    const neo_dim src[] = {p->m, p->k}, weights[] = {p->k, p->n}, dst[] = {p->m, p->n};
    const neo_dim by_row[] = {p->lda, 1}, by_column[] = {1, p->lda};
    const neo_dim weights_by_row[] = {p->ldb, 1}, weights_by_column[] = {1, p->ldb};
    const neo_dim dst_by_row[] = {p->ldc, 1};
    *desc = (neo_matmul_desc){0};
    neo_status status = neo_memory_desc_init_strides(&desc->src, 2, src, p->a_type,
                                                     p->trans_a ? by_column : by_row);
    if (status == NEO_OK)
        status = neo_memory_desc_init_strides(&desc->weights, 2, weights, p->b_type,
                                              p->trans_b ? weights_by_column : weights_by_row);
    if (status == NEO_OK)
        status = neo_memory_desc_init_strides(&desc->dst, 2, dst, p->c_type, dst_by_row);
    return status;
}

static neo_status describe_attributes(neo_attributes *attributes, const struct product *p)
{
    neo_status status = NEO_OK;
    if (p->a_zero)
        status = neo_attributes_set_zero_points(attributes, NEO_ARG_SRC, 0, 0, NULL, NEO_S32);
    if (status == NEO_OK && p->b_zero)
        status = neo_attributes_set_zero_points(attributes, NEO_ARG_WEIGHTS, 0, 0, NULL, NEO_S32);
    if (status == NEO_OK && p->alpha != 1)
        status = neo_attributes_append_eltwise(attributes, NEO_ELTWISE_LINEAR, p->alpha, 0);
    if (status == NEO_OK && p->beta != 0)
        status = neo_attributes_append_sum(attributes, p->beta, 0, NEO_DATA_TYPE_UNDEF);
    return status;
}

/* The arguments of one execution, and where their memory objects end. */
struct arguments {
    neo_exec_arg args[5];
    int count;
};

static neo_status add(struct arguments *arguments, int arg, const neo_memory_desc *desc,
                      const void *data)
{
    neo_exec_arg *added = &arguments->args[arguments->count];
    added->arg = arg;
    neo_status status = neo_memory_create(&added->memory, desc, shared_engine(),
                                          (void *)(uintptr_t)data); /* sources are only read */
    arguments->count += status == NEO_OK;
    return status;
}

static neo_status add_all(struct arguments *arguments, const neo_matmul_desc *desc,
                          const struct product *p)
{
    static const neo_dim one[] = {1};
    neo_memory_desc value;
    neo_status status = neo_memory_desc_init_tag(&value, 1, one, NEO_S32, "a");
    if (status == NEO_OK)
        status = add(arguments, NEO_ARG_SRC, &desc->src, p->a);
    if (status == NEO_OK)
        status = add(arguments, NEO_ARG_WEIGHTS, &desc->weights, p->b);
    if (status == NEO_OK)
        status = add(arguments, NEO_ARG_DST, &desc->dst, p->c);
    if (status == NEO_OK && p->a_zero)
        status = add(arguments, NEO_ARG_ATTR_ZERO_POINTS | NEO_ARG_SRC, &value, &p->a_zero);
    if (status == NEO_OK && p->b_zero)
        status = add(arguments, NEO_ARG_ATTR_ZERO_POINTS | NEO_ARG_WEIGHTS, &value, &p->b_zero);
    return status;
}

static neo_status execute(const neo_primitive_desc *pd, const neo_matmul_desc *desc,
                          const struct product *p)
{
    struct arguments arguments = {.count = 0};
    neo_primitive *primitive = NULL;
    neo_status status = neo_primitive_create(&primitive, pd);
    if (status == NEO_OK)
        status = add_all(&arguments, desc, p);
    if (status == NEO_OK)
        status = neo_primitive_execute(primitive, shared_stream(), arguments.count, arguments.args);
    for (int i = 0; i < arguments.count; i++)
        neo_memory_destroy(arguments.args[i].memory);
    neo_primitive_destroy(primitive);
    return status;
}

static neo_status multiply(const struct product *p)
{
    neo_matmul_desc desc;
    neo_attributes *attributes = NULL;
    neo_primitive_desc *pd = NULL;
    neo_status status = shared_stream() ? describe(&desc, p) : NEO_OUT_OF_MEMORY;
    if (status == NEO_OK)
        status = neo_attributes_create(&attributes);
    if (status == NEO_OK)
        status = describe_attributes(attributes, p);
    if (status == NEO_OK)
        status = neo_matmul_primitive_desc_create(&pd, shared_engine(), &desc, attributes);
    if (status == NEO_OK)
        status = execute(pd, &desc, p);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
    return status;
}

EXPORT dnnl_status dnnl_sgemm(char transa, char transb, neo_dim m, neo_dim n, neo_dim k,
                              float alpha, const float *a, neo_dim lda, const float *b, neo_dim ldb,
                              float beta, float *c, neo_dim ldc)
{
    struct product product = {m,
                              n,
                              k,
                              lda,
                              ldb,
                              ldc,
                              transposed(transa),
                              transposed(transb),
                              NEO_F32,
                              NEO_F32,
                              NEO_F32,
                              a,
                              b,
                              c,
                              0,
                              0,
                              alpha,
                              beta};
    if (!is_valid(&product))
        return dnnl_invalid_arguments;
    return m == 0 || n == 0 ? dnnl_success : map_status(multiply(&product));
}

/* ---- integers: the product is exact, and what follows is computed in double ---- */

/* What is added to C: a value, a column with one a row of C, or a row with one a column. */
struct offset {
    char kind; /* F, C or R */
    const int32_t *values;
};

static int32_t offset_at(const struct offset *offset, neo_dim row, neo_dim column)
{
    switch (offset->kind) {
    case 'C':
    case 'c':
        return offset->values[row];
    case 'R':
    case 'r':
        return offset->values[column];
    default:
        return offset->values[0];
    }
}

static int is_one_of(char letter, const char *letters)
{
    while (*letters && *letters != letter)
        letters++;
    return *letters != 0;
}

static int32_t saturated(double value)
{
    value = nearbyint(value);
    return value >= INT32_MAX ? INT32_MAX : value <= INT32_MIN ? INT32_MIN : (int32_t)value;
}

static void finish(const struct product *p, const int32_t *sums, float alpha, float beta,
                   const struct offset *offset)
{
    int32_t *c = p->c;
    for (neo_dim i = 0; i < p->m; i++)
        for (neo_dim j = 0; j < p->n; j++) {
            double before = beta == 0 ? 0 : (double)beta * c[i * p->ldc + j];
            c[i * p->ldc + j] =
                saturated((double)alpha * sums[i * p->n + j] + before + offset_at(offset, i, j));
        }
}

static dnnl_status integers(const struct product *p, float alpha, float beta,
                            const struct offset *offset)
{
    if (!is_valid(p) || !is_one_of(offset->kind, "FfCcRr") || !offset->values)
        return dnnl_invalid_arguments;
    if (p->m == 0 || p->n == 0)
        return dnnl_success;
    struct product sums = *p;
    sums.c = calloc((size_t)p->m, (size_t)p->n * sizeof(int32_t));
    sums.ldc = p->n;
    if (!sums.c)
        return dnnl_out_of_memory;
    neo_status status = multiply(&sums);
    if (status == NEO_OK)
        finish(p, sums.c, alpha, beta, offset);
    free(sums.c);
    return map_status(status);
}

EXPORT dnnl_status dnnl_gemm_u8s8s32(char transa, char transb, char offsetc, neo_dim m, neo_dim n,
                                     neo_dim k, float alpha, const uint8_t *a, neo_dim lda,
                                     uint8_t ao, const int8_t *b, neo_dim ldb, int8_t bo,
                                     float beta, int32_t *c, neo_dim ldc, const int32_t *co)
{
    struct product product = {
        m, n, k,  lda, ldb, ldc, transposed(transa), transposed(transb), NEO_U8, NEO_S8, NEO_S32, a,
        b, c, ao, bo,  1,   0};
    return integers(&product, alpha, beta, &(struct offset){offsetc, co});
}

EXPORT dnnl_status dnnl_gemm_s8s8s32(char transa, char transb, char offsetc, neo_dim m, neo_dim n,
                                     neo_dim k, float alpha, const int8_t *a, neo_dim lda,
                                     int8_t ao, const int8_t *b, neo_dim ldb, int8_t bo, float beta,
                                     int32_t *c, neo_dim ldc, const int32_t *co)
{
    struct product product = {
        m, n, k,  lda, ldb, ldc, transposed(transa), transposed(transb), NEO_S8, NEO_S8, NEO_S32, a,
        b, c, ao, bo,  1,   0};
    return integers(&product, alpha, beta, &(struct offset){offsetc, co});
}
