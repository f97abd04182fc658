/* KleidiAI (Debian 13's libkleidiai-dev): products whose weights were packed before; src is packed,
 * or becomes bytes, within the call. The library has kernels and nothing that chooses among them:
 * here the kernel is that for the types, for one row or for more, and for the newest instructions
 * that the processor has. */
#include "tests/perf/driver.h"

#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <kai/ukernels/matmul/matmul_clamp_f16_f16_f16p/kai_matmul_clamp_f16_f16_f16p16x1biasf16_6x16x8_neon_mla.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_bf16p_bf16p/kai_matmul_clamp_f32_bf16p1x4_bf16p12x4b_1x36_neon_dot.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_bf16p_bf16p/kai_matmul_clamp_f32_bf16p8x4_bf16p12x4b_8x12_neon_mmla.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_f32_f32p/kai_matmul_clamp_f32_f32_f32p8x1biasf32_6x8x4_neon_mla.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi4c32p/kai_matmul_clamp_f32_qai8dxp1x8_qsi4c32p8x8_1x8x32_neon_dotprod.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi4c32p/kai_matmul_clamp_f32_qai8dxp4x4_qsi4c32p4x4_16x4_neon_dotprod.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi4c32p/kai_matmul_clamp_f32_qai8dxp4x8_qsi4c32p4x8_16x4x32_neon_i8mm.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi4cxp/kai_matmul_clamp_f32_qai8dxp1x8_qsi4cxp8x8_1x8x32_neon_dotprod.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi4cxp/kai_matmul_clamp_f32_qai8dxp4x8_qsi4cxp4x4_16x4x32_neon_dotprod.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi4cxp/kai_matmul_clamp_f32_qai8dxp4x8_qsi4cxp8x8_8x8x32_neon_i8mm.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi8cxp/kai_matmul_clamp_f32_qai8dxp1x8_qsi8cxp4x8_1x4_neon_dotprod.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi8cxp/kai_matmul_clamp_f32_qai8dxp4x4_qsi8cxp4x4_16x4_neon_dotprod.h>
#include <kai/ukernels/matmul/matmul_clamp_f32_qai8dxp_qsi8cxp/kai_matmul_clamp_f32_qai8dxp4x8_qsi8cxp4x8_16x4_neon_i8mm.h>
#include <kai/ukernels/matmul/pack/kai_lhs_quant_pack_bf16p1x4_f32_neon.h>
#include <kai/ukernels/matmul/pack/kai_lhs_quant_pack_bf16p8x4_f32_neon.h>
#include <kai/ukernels/matmul/pack/kai_lhs_quant_pack_qai8dxp_f32.h>
#include <kai/ukernels/matmul/pack/kai_rhs_pack_kxn_f16p16x1biasf16_f16_f16_neon.h>
#include <kai/ukernels/matmul/pack/kai_rhs_pack_kxn_f32p8x1biasf32_f32_f32_neon.h>
#include <kai/ukernels/matmul/pack/kai_rhs_pack_kxn_qsi8cxp_qsi8cx_neon.h>
#include <kai/ukernels/matmul/pack/kai_rhs_pack_nxk_qsi4c32p_qsu4c32s1s0.h>
#include <kai/ukernels/matmul/pack/kai_rhs_pack_nxk_qsi4cxp_qs4cxs1s0.h>
#include <kai/ukernels/matmul/pack/kai_rhs_quant_pack_kxn_bf16p12x4biasf32_f32_neon.h>

enum { I8MM = 1, BF16 = 2, ONE_ROW = 4 };

struct work {
    const struct problem *problem;
    const struct method *method;
    void *src, *dst; /* of the problem's types */
    float *weights;  /* k x n */
    void *lhs, *rhs; /* packed */
    float *ones;     /* as many as weights */
};

/* A kernel, and how its operands are packed. */
struct kernel {
    size_t (*mr)(void), (*nr)(void), (*kr)(void), (*sr)(void);
    void (*bytes)(size_t m, size_t n, size_t k, const void *lhs, const void *rhs, float *dst,
                  size_t row, size_t column, float least, float greatest);
    void (*blocks)(size_t m, size_t n, size_t k, size_t block, const void *lhs, const void *rhs,
                   float *dst, size_t row, size_t column, float least, float greatest);
    void (*packed)(size_t m, size_t n, size_t k, const void *lhs, const void *rhs, void *dst,
                   size_t row, size_t column, float least, float greatest);
    void (*plain)(size_t m, size_t n, size_t k, const void *lhs, size_t stride, const void *rhs,
                  void *dst, size_t row, size_t column, float least, float greatest);
};

#define GEOMETRY(name)                                                          \
    .mr = kai_get_mr_matmul_clamp_##name, .nr = kai_get_nr_matmul_clamp_##name, \
    .kr = kai_get_kr_matmul_clamp_##name, .sr = kai_get_sr_matmul_clamp_##name
#define KERNEL(kind, name)                                  \
    {                                                       \
        GEOMETRY(name), .kind = kai_run_matmul_clamp_##name \
    }
#define PLAIN(name)                                                                 \
    {                                                                               \
        .nr = kai_get_nr_matmul_clamp_##name, .kr = kai_get_kr_matmul_clamp_##name, \
        .sr = kai_get_sr_matmul_clamp_##name, .plain = kai_run_matmul_clamp_##name  \
    }

typedef void pack_fn(struct work *work);

struct method {
    const char *types;
    bool is_dynamic, has_groups, is_bf16; /* bf16: f32 by PERF_FPMATH */
    unsigned needs;                       /* of the processor; ONE_ROW: of the problem */
    pack_fn *pack_weights, *pack_src;     /* the latter NULL: src as it is */
    struct kernel kernel;
};

/* ---- weights ---- */

/* Two weights a byte, [n][k], the first in the low half, 8 added. */
static uint8_t *nibbles(const struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    size_t row = (p->k + 1) / 2;
    uint8_t *to = driver_allocate(p->n * row);
    memset(to, 0, p->n * row);
    for (size_t n = 0; n < p->n; n++)
        for (size_t k = 0; k < p->k; k++)
            to[n * row + k / 2] |=
                (uint8_t)(((int)work->weights[k * p->n + n] + 8) << (k % 2 ? 4 : 0));
    return to;
}

static void pack_weights_s8(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    const struct kernel *kernel = &work->method->kernel;
    size_t nr = kernel->nr(), kr = kernel->kr(), sr = kernel->sr();
    const struct kai_rhs_pack_qsi8cx_params params = {.lhs_zero_point = 1, .scale_multiplier = 1};
    int8_t *bytes = driver_typed(DRIVER_S8, work->weights, p->k * p->n);
    work->rhs = driver_allocate(
        kai_get_rhs_packed_size_rhs_pack_kxn_qsi8cxp_qsi8cx_neon(p->n, p->k, nr, kr, sr));
    kai_run_rhs_pack_kxn_qsi8cxp_qsi8cx_neon(1, p->n, p->k, nr, kr, sr, bytes, NULL, work->ones,
                                             work->rhs, 0, &params);
    free(bytes);
}

static void pack_weights_s4(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    const struct kernel *kernel = &work->method->kernel;
    size_t nr = kernel->nr(), kr = kernel->kr(), sr = kernel->sr();
    const struct kai_rhs_pack_nxk_qsi4cxp_qs4cxs1s0_params params = {.lhs_zero_point = 1,
                                                                     .rhs_zero_point = 8};
    uint8_t *values = nibbles(work);
    work->rhs = driver_allocate(
        kai_get_rhs_packed_size_rhs_pack_nxk_qsi4cxp_qs4cxs1s0(p->n, p->k, nr, kr, sr));
    kai_run_rhs_pack_nxk_qsi4cxp_qs4cxs1s0(1, p->n, p->k, nr, kr, sr, values, NULL, work->ones,
                                           work->rhs, 0, &params);
    free(values);
}

static void pack_weights_blocks(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    const struct kernel *kernel = &work->method->kernel;
    size_t nr = kernel->nr(), kr = kernel->kr(), sr = kernel->sr(), block = work->problem->group;
    const struct kai_rhs_pack_nxk_qsi4c32p_qsu4c32s1s0_params params = {
        .lhs_zero_point = 1, .rhs_zero_point = 8, .scale_dt = kai_dt_bf16};
    uint8_t *values = nibbles(work);
    void *scales = driver_typed(DRIVER_BF16, work->ones, p->n * p->k);
    work->rhs = driver_allocate(kai_get_rhs_packed_size_rhs_pack_nxk_qsi4c32p_qsu4c32s1s0(
        p->n, p->k, nr, kr, sr, block, kai_dt_bf16));
    kai_run_rhs_pack_nxk_qsi4c32p_qsu4c32s1s0(1, p->n, p->k, nr, kr, sr, block, values, p->k / 2,
                                              NULL, scales, p->k / block * sizeof(uint16_t),
                                              work->rhs, 0, &params);
    free(values);
    free(scales);
}

static float *zero_bias(const struct matmul_problem *p)
{
    float *bias = driver_floats(p->n);
    memset(bias, 0, p->n * sizeof *bias);
    return bias;
}

static void pack_weights_bf16(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    const struct kernel *kernel = &work->method->kernel;
    size_t nr = kernel->nr(), kr = kernel->kr(), sr = kernel->sr();
    float *bias = zero_bias(p);
    work->rhs = driver_allocate(
        kai_get_rhs_packed_size_rhs_quant_pack_kxn_bf16p12x4biasf32_f32_neon(p->n, p->k, nr, kr));
    kai_run_rhs_quant_pack_kxn_bf16p12x4biasf32_f32_neon(1, p->n, p->k, nr, kr, sr,
                                                         p->n * sizeof(float), work->weights, bias,
                                                         NULL, work->rhs, 0, NULL);
    free(bias);
}

static void pack_weights_f16(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    const struct kernel *kernel = &work->method->kernel;
    float *bias = zero_bias(p);
    void *values = driver_typed(DRIVER_F16, work->weights, p->k * p->n);
    work->rhs = driver_allocate(
        kai_get_rhs_packed_size_rhs_pack_kxn_f16p16x1biasf16_f16_f16_neon(p->n, p->k));
    kai_run_rhs_pack_kxn_f16p16x1biasf16_f16_f16_neon(1, p->n, p->k, kernel->nr(), kernel->kr(),
                                                      kernel->sr(), p->n * sizeof(uint16_t), values,
                                                      bias, NULL, work->rhs, 0, NULL);
    free(values);
    free(bias);
}

static void pack_weights_f32(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    const struct kernel *kernel = &work->method->kernel;
    float *bias = zero_bias(p);
    work->rhs = driver_allocate(
        kai_get_rhs_packed_size_rhs_pack_kxn_f32p8x1biasf32_f32_f32_neon(p->n, p->k));
    kai_run_rhs_pack_kxn_f32p8x1biasf32_f32_f32_neon(1, p->n, p->k, kernel->nr(), kernel->kr(),
                                                     kernel->sr(), p->n * sizeof(float),
                                                     work->weights, bias, NULL, work->rhs, 0, NULL);
    free(bias);
}

/* ---- src, within the call ---- */

/* work->lhs has room for any of these: prepare() sees to it. */
static void pack_src_bytes(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    const struct kernel *kernel = &work->method->kernel;
    kai_run_lhs_quant_pack_qai8dxp_f32(p->m, p->k, kernel->mr(), kernel->kr(), kernel->sr(), 0,
                                       work->src, p->k * sizeof(float), work->lhs);
}

static void pack_row_bf16(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    const struct kernel *kernel = &work->method->kernel;
    kai_run_lhs_quant_pack_bf16p1x4_f32_neon(p->m, p->k, kernel->mr(), kernel->kr(), kernel->sr(),
                                             0, work->src, p->k * sizeof(float), work->lhs);
}

static void pack_rows_bf16(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    const struct kernel *kernel = &work->method->kernel;
    kai_run_lhs_quant_pack_bf16p8x4_f32_neon(p->m, p->k, kernel->mr(), kernel->kr(), kernel->sr(),
                                             0, work->src, p->k * sizeof(float), work->lhs);
}

/* ---- methods, the better ones first ---- */

static const struct method methods[] = {
    {"f32:s8:f32", true, false, false, ONE_ROW, pack_weights_s8, pack_src_bytes,
     KERNEL(bytes, f32_qai8dxp1x8_qsi8cxp4x8_1x4_neon_dotprod)},
    {"f32:s8:f32", true, false, false, I8MM, pack_weights_s8, pack_src_bytes,
     KERNEL(bytes, f32_qai8dxp4x8_qsi8cxp4x8_16x4_neon_i8mm)},
    {"f32:s8:f32", true, false, false, 0, pack_weights_s8, pack_src_bytes,
     KERNEL(bytes, f32_qai8dxp4x4_qsi8cxp4x4_16x4_neon_dotprod)},
    {"f32:s4:f32", true, false, false, ONE_ROW, pack_weights_s4, pack_src_bytes,
     KERNEL(bytes, f32_qai8dxp1x8_qsi4cxp8x8_1x8x32_neon_dotprod)},
    {"f32:s4:f32", true, false, false, I8MM, pack_weights_s4, pack_src_bytes,
     KERNEL(bytes, f32_qai8dxp4x8_qsi4cxp8x8_8x8x32_neon_i8mm)},
    {"f32:s4:f32", true, false, false, 0, pack_weights_s4, pack_src_bytes,
     KERNEL(bytes, f32_qai8dxp4x8_qsi4cxp4x4_16x4x32_neon_dotprod)},
    {"f32:s4:f32", true, true, false, ONE_ROW, pack_weights_blocks, pack_src_bytes,
     KERNEL(blocks, f32_qai8dxp1x8_qsi4c32p8x8_1x8x32_neon_dotprod)},
    {"f32:s4:f32", true, true, false, I8MM, pack_weights_blocks, pack_src_bytes,
     KERNEL(blocks, f32_qai8dxp4x8_qsi4c32p4x8_16x4x32_neon_i8mm)},
    {"f32:s4:f32", true, true, false, 0, pack_weights_blocks, pack_src_bytes,
     KERNEL(blocks, f32_qai8dxp4x4_qsi4c32p4x4_16x4_neon_dotprod)},
    {"f32:f32:f32", false, false, true, BF16 | ONE_ROW, pack_weights_bf16, pack_row_bf16,
     KERNEL(packed, f32_bf16p1x4_bf16p12x4b_1x36_neon_dot)},
    {"f32:f32:f32", false, false, true, BF16, pack_weights_bf16, pack_rows_bf16,
     KERNEL(packed, f32_bf16p8x4_bf16p12x4b_8x12_neon_mmla)},
    {"f32:f32:f32", false, false, false, 0, pack_weights_f32, NULL,
     PLAIN(f32_f32_f32p8x1biasf32_6x8x4_neon_mla)},
    {"f16:f16:f16", false, false, false, 0, pack_weights_f16, NULL,
     PLAIN(f16_f16_f16p16x1biasf16_6x16x8_neon_mla)},
};

#undef GEOMETRY
#undef KERNEL
#undef PLAIN

static unsigned facts_of(const struct matmul_problem *p)
{
    unsigned facts = p->m == 1 ? ONE_ROW : 0;
    if (getauxval(AT_HWCAP2) & HWCAP2_I8MM)
        facts |= I8MM;
    if (getauxval(AT_HWCAP2) & HWCAP2_BF16)
        facts |= BF16;
    return facts;
}

static const struct method *method_of(const struct problem *problem)
{
    bool is_bf16 = driver_allows_bf16();
    unsigned facts = facts_of(&problem->matmul);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        const struct method *method = &methods[i];
        if (!strcmp(method->types, problem->types) && method->is_dynamic == problem->is_dynamic &&
            method->has_groups == (problem->group > 0) && method->is_bf16 == is_bf16 &&
            !(method->needs & ~facts))
            return method;
    }
    return NULL;
}

/* ---- the peer ---- */

static const char *start(void)
{
    return NULL;
}

static const char *refusal(const struct problem *problem)
{
    const struct matmul_problem *p = &problem->matmul;
    if (problem->kind != PROBLEM_MATMUL)
        return "only products";
    if (matmul_batch(p) != 1)
        return "no batches of products";
    if (!p->packed || p->transposed)
        return "only products as they stand, with weights packed beforehand";
    if (problem->is_dynamic && (p->k % 32 || (problem->group && p->k % problem->group)))
        return "no blocks that are not whole";
    return NULL;
}

static const char *prepare(const struct problem *problem, void **state)
{
    struct work *work = driver_allocate(sizeof *work);
    *work = (struct work){.problem = problem};
    *state = work;
    const char *why_not = refusal(problem);
    work->method = why_not ? NULL : method_of(problem);
    if (!work->method)
        return why_not ? why_not : "no such types";
    const struct matmul_problem *p = &problem->matmul;
    work->weights = problem->weights;
    work->ones = driver_floats(p->k * p->n);
    for (size_t i = 0; i < p->k * p->n; i++)
        work->ones[i] = 1;
    work->src = driver_typed(problem->src_type, problem->src, problem->src_size);
    work->dst = driver_typed(problem->dst_type, problem->dst, problem->dst_size);
    work->lhs = driver_floats((p->m + 16) * (p->k + 64)); /* more than any kernel's rows take */
    work->method->pack_weights(work);
    return NULL;
}

static void run(void *state)
{
    struct work *work = state;
    const struct matmul_problem *p = &work->problem->matmul;
    const struct kernel *kernel = &work->method->kernel;
    size_t element = work->problem->dst_type == DRIVER_F16 ? 2 : 4, row = p->n * element;
    if (work->method->pack_src)
        work->method->pack_src(work);
    if (kernel->bytes)
        kernel->bytes(p->m, p->n, p->k, work->lhs, work->rhs, work->dst, row, element, -FLT_MAX,
                      FLT_MAX);
    else if (kernel->blocks)
        kernel->blocks(p->m, p->n, p->k, work->problem->group, work->lhs, work->rhs, work->dst, row,
                       element, -FLT_MAX, FLT_MAX);
    else if (kernel->packed)
        kernel->packed(p->m, p->n, p->k, work->lhs, work->rhs, work->dst, row, element, -FLT_MAX,
                       FLT_MAX);
    else
        kernel->plain(p->m, p->n, p->k, work->src, p->k * element, work->rhs, work->dst, row,
                      element, -FLT_MAX, FLT_MAX);
}

static void fetch(void *state)
{
    const struct work *work = state;
    driver_take_result(work->problem, work->dst);
}

static void release(void *state)
{
    struct work *work = state;
    free(work->src);
    free(work->dst);
    free(work->lhs);
    free(work->rhs);
    free(work->ones);
    free(work);
}

const struct peer peer = {"kleidiai", start, prepare, run, fetch, release, NULL, NULL};
