/* Products with weights of four bits: every kernel has the same bits; packing of plain weights. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "kernels/asm/sizes.h"
#include "kernels/gemm/s4/s4.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum { MOST_K = 480, MOST_BLOCKS = 15, MOST_GAP = 3, MOST_PANEL = MOST_K * 8 + MOST_BLOCKS * 64 };
enum { A, B, C, STARTS, ROW_SCALES, GUARDS };
static struct guard guards[GUARDS];

static const struct gemm_s4_kernel *kernel_of(void **state)
{
    return *state;
}

static void fill_bytes(void *out, size_t count, uint32_t *seed)
{
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)out)[i] = (uint8_t)(fill_next(seed) >> 24);
}

/* Plain weights and what they are packed from and to. */
struct weights {
    uint8_t plain[MOST_K * GEMM_S4_NR / 2];
    float scales[MOST_BLOCKS * GEMM_S4_NR];
    struct pack_s4_panel panel;
};

/* Lanes are next to each other, or steps; u4 now and then. */
static void make_weights(struct weights *weights, size_t k, size_t block, size_t count,
                         enum element scale, uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 8;
    size_t blocks = (k + block - 1) / block;
    fill_bytes(weights->plain, sizeof weights->plain, seed);
    for (size_t i = 0; i < MOST_BLOCKS * GEMM_S4_NR; i++) {
        float value = (float)((fill_next(seed) >> 20) + 1) / (1 << 16);
        element_write_f32(scale, weights->scales, (ptrdiff_t)i, value);
    }
    weights->panel = (struct pack_s4_panel){
        .k = k,
        .block = block,
        .count = count,
        .from = options & 1 ? ELEMENT_S4 : ELEMENT_U4,
        .src = weights->plain,
        .lane = options & 2 ? 1 : (ptrdiff_t)k,
        .step = options & 2 ? (ptrdiff_t)count : 1,
        .scale_from = scale,
        .scale = scale,
        .scales = weights->scales,
        .scale_lane = options & 4 ? 1 : (ptrdiff_t)blocks,
        .scale_step = options & 4 ? (ptrdiff_t)count : 1,
        .out = guard_at(&guards[B], blocks * gemm_s4_block_bytes(block, scale), options >> 3 & 1)};
    pack_s4_panel(&weights->panel);
}

/* What a plain weight is, times its scale. */
static float scale_of(const struct pack_s4_panel *panel, size_t g, size_t j)
{
    ptrdiff_t at = (ptrdiff_t)j * panel->scale_lane + (ptrdiff_t)g * panel->scale_step;
    return element_read_f32(panel->scale_from, panel->scales, at);
}

static int32_t weight_of(const struct pack_s4_panel *panel, size_t p, size_t j)
{
    size_t at = j * (size_t)panel->lane + p * (size_t)panel->step;
    int32_t half = panel->src[at / 2] >> (at % 2 * 4) & 15;
    return panel->from == ELEMENT_U4 ? half - 8 : half >= 8 ? half - 16 : half;
}

static struct gemm_s4_tile make_tile(const struct weights *weights, size_t mr, uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 8;
    int end = options & 1;
    const struct pack_s4_panel *panel = &weights->panel;
    size_t blocks = (panel->k + panel->block - 1) / panel->block, k = blocks * panel->block;
    size_t row = panel->count + (options >> 1 & MOST_GAP);
    int8_t *a = guard_at(&guards[A], k * mr, end);
    float *c = guard_at(&guards[C], ((mr - 1) * row + panel->count) * sizeof *c, end);
    int32_t *starts = guard_at(&guards[STARTS], blocks * mr * sizeof *starts, end);
    float *row_scales = guard_at(&guards[ROW_SCALES], mr * sizeof *row_scales, end);
    fill_bytes(a, k * mr, seed);
    if (options & 16)
        memset(a, 0x80, k * mr); /* -128: sums as large as they come */
    fill_reals(row_scales, mr, seed);
    fill_reals(c, (mr - 1) * row + panel->count, seed);
    gemm_s4_starts(a, mr, blocks, panel->block, starts);
    return (struct gemm_s4_tile){.blocks = blocks,
                                 .block = panel->block,
                                 .a = a,
                                 .b = panel->out,
                                 .c = c,
                                 .row = row,
                                 .starts = starts,
                                 .row_scales = row_scales,
                                 .mr = (uint32_t)mr,
                                 .n = (uint32_t)panel->count,
                                 .add = options >> 5 & 1};
}

static float want(const struct gemm_s4_tile *tile, const struct pack_s4_panel *panel, size_t i,
                  size_t j, float before)
{
    float sum = 0;
    for (size_t g = 0; g < tile->blocks; g++) {
        int32_t products = 0;
        for (size_t p = g * tile->block; p < (g + 1) * tile->block && p < panel->k; p++)
            products += tile->a[(p / 4 * tile->mr + i) * 4 + p % 4] * weight_of(panel, p, j);
        sum = fmaf((float)products, scale_of(panel, g, j), sum);
    }
    volatile float scaled = sum * tile->row_scales[i];
    return tile->add ? scaled + before : scaled;
}

struct call {
    gemm_s4_fn *run;
    const struct gemm_s4_tile *tile;
};

static void run_call(void *argument)
{
    const struct call *call = argument;
    call->run(call->tile);
}

static void check_tile(const struct gemm_s4_kernel *kernel, const struct weights *weights,
                       const struct gemm_s4_tile *tile)
{
    float before[GEMM_S4_MR * (GEMM_S4_NR + MOST_GAP)];
    size_t all = (tile->mr - 1) * tile->row + tile->n;
    memcpy(before, tile->c, all * sizeof *before);
    kernel_tests_call(run_call, &(struct call){kernel->run, tile});
    for (size_t x = 0; x < all; x++) {
        size_t i = x / tile->row, j = x % tile->row;
        float expected = j < tile->n ? want(tile, &weights->panel, i, j, before[x]) : before[x];
        if (tile->c[x] == expected)
            continue;
        print_error("%s, %ux%u, k=%zu in blocks of %zu, add=%u: (%zu, %zu) is %.9g, not %.9g\n",
                    kernel->name, tile->mr, tile->n, weights->panel.k, tile->block, tile->add, i, j,
                    (double)tile->c[x], (double)expected);
        fail();
    }
}

static void has_the_same_bits_as_a_plain_sum(void **state)
{
    static const size_t blocks[] = {16, 32, 48, 128, GEMM_S4_MOST_BLOCK};
    const struct gemm_s4_kernel *kernel = kernel_of(state);
    uint32_t seed = fill_seed();
    for (size_t x = 0; x < count_of(blocks); x++)
        for (size_t mr = 1; mr <= GEMM_S4_MR; mr++)
            for (size_t count = 1; count <= GEMM_S4_NR; count += count == 1 ? 6 : 9) {
                struct weights weights;
                size_t most = smaller(MOST_K, MOST_BLOCKS * blocks[x]) / blocks[x] * blocks[x];
                size_t k = fill_next(&seed) & 256 ? most : 1 + fill_next(&seed) % most;
                make_weights(&weights, k, blocks[x], count, kernel->scale, &seed);
                struct gemm_s4_tile tile = make_tile(&weights, mr, &seed);
                check_tile(kernel, &weights, &tile);
            }
}

/* Panels say what plain weights say. */
static void panels_have_the_weights(void **state)
{
    (void)state;
    uint32_t seed = fill_seed();
    for (size_t count = 1; count <= GEMM_S4_NR; count++) {
        struct weights weights;
        size_t block = 32, k = 70;
        make_weights(&weights, k, block, count, ELEMENT_F32, &seed);
        size_t bytes = gemm_s4_block_bytes(block, ELEMENT_F32);
        for (size_t p = 0; p < 96; p++)
            for (size_t j = 0; j < GEMM_S4_NR; j++) {
                const uint8_t *at = weights.panel.out + p / block * bytes;
                int exists = p < k && j < count;
                int32_t weight = exists ? weight_of(&weights.panel, p, j) : 0;
                assert_int_equal(gemm_s4_weight(at, p % block, j), weight);
                float scale = j < count ? scale_of(&weights.panel, p / block, j) : 0;
                assert_true(gemm_s4_scale(at, block, ELEMENT_F32, j) == scale);
            }
    }
}

static void both_types_of_scales_are_found(void **state)
{
    (void)state;
    const uint32_t tiers[] = {0, CPU_NEON, cpu_get()->features};
    for (size_t t = 0; t < count_of(tiers); t++) {
        assert_non_null(gemm_s4_find(tiers[t], ELEMENT_F32));
        assert_non_null(gemm_s4_find(tiers[t], ELEMENT_F16));
        assert_null(gemm_s4_find(tiers[t], ELEMENT_S8));
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(has_the_same_bits_as_a_plain_sum),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(panels_have_the_weights),
        cmocka_unit_test(both_types_of_scales_are_found),
    };
    static struct kernel_tests_guard sizes[GUARDS];
    for (size_t i = 0; i < GUARDS; i++)
        sizes[i] = (struct kernel_tests_guard){&guards[i], MOST_PANEL * 2};
    kernel_tests_add_alone(alone, count_of(alone));
    for (size_t i = 0; i < gemm_s4_kernel_count; i++) {
        const struct gemm_s4_kernel *kernel = gemm_s4_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
    }
    return kernel_tests_run("gemm_s4", sizes, GUARDS);
}
