/* Blocks of weights with scales: every kernel gives back what was written, and adds what the
 * definition adds, without touching what is beside it. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "kernels/gemm/blocks/blocks.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum { NR = GEMM_BLOCKS_NR, HALF = GEMM_BLOCKS_HALF, MOST = GEMM_S4_MOST_BLOCK };
enum { BLOCK, SCALES, OFFSETS, OUT, A, GUARDS };
static struct guard guards[GUARDS];

/* A block of random weights, the least and the greatest among them. */
struct block {
    struct gemm_blocks blocks;
    int8_t values[NR * MOST];
    float *scales, *offsets;
    uint8_t *bytes;
};

static void make(struct block *b, struct gemm_blocks blocks, int end, uint32_t *seed)
{
    b->blocks = blocks;
    b->bytes = guard_at(&guards[BLOCK], gemm_blocks_bytes(&blocks), end);
    b->scales = guard_at(&guards[SCALES], NR * sizeof(float), end);
    b->offsets = guard_at(&guards[OFFSETS], NR * sizeof(float), end);
    for (size_t i = 0; i < NR * MOST; i++)
        b->values[i] =
            (int8_t)((int8_t)(fill_next(seed) >> 24) >> (blocks.weight == ELEMENT_S4 ? 4 : 0));
    fill_reals(b->scales, NR, seed);
    fill_reals(b->offsets, NR, seed);
    gemm_blocks_write(&blocks, b->values, b->scales, b->bytes);
}

static void check_s8(const struct gemm_blocks_kernel *kernel, const struct block *b, int end)
{
    size_t block = b->blocks.block;
    for (size_t group = 4; group <= 16; group *= 2)
        for (size_t half = 0; half < 2; half++) {
            int8_t *out = guard_at(&guards[OUT], HALF * block, end);
            kernel->to_s8(&b->blocks, b->bytes, half, group, out);
            for (size_t p = 0; p < block; p++)
                for (size_t j = 0; j < HALF; j++)
                    assert_int_equal(out[(p / group * HALF + j) * group + p % group],
                                     b->values[(half * HALF + j) * MOST + p]);
        }
}

static void check_f32(const struct gemm_blocks_kernel *kernel, const struct block *b, int end)
{
    float *out = guard_at(&guards[OUT], NR * b->blocks.block * sizeof *out, end);
    for (int with_offsets = 0; with_offsets < 2; with_offsets++) {
        kernel->to_f32(&b->blocks, b->bytes, b->scales, with_offsets ? b->offsets : NULL, out);
        for (size_t p = 0; p < b->blocks.block; p++)
            for (size_t j = 0; j < NR; j++) {
                float weight = b->values[j * MOST + p];
                float want = with_offsets ? fmaf(weight, b->scales[j], b->offsets[j])
                                          : weight * b->scales[j];
                assert_true(out[p * NR + j] == want);
            }
    }
}

static void weights_come_back(void **state)
{
    static const size_t sizes[] = {16, 32, 48, 128, 240};
    uint32_t seed = fill_seed();
    struct block b;
    for (size_t i = 0; i < count_of(sizes) * 4; i++) {
        const struct gemm_blocks blocks = {
            .weight = i & 1 ? ELEMENT_S4 : ELEMENT_S8, .scale = ELEMENT_F32, .block = sizes[i / 4]};
        int end = i & 2 ? 1 : 0;
        make(&b, blocks, end, &seed);
        check_s8(*state, &b, end);
        check_f32(*state, &b, end);
    }
}

/* Both kinds of scales; those of f16 are rounded. */
static void scales_come_back(void **state)
{
    uint32_t seed = fill_seed();
    struct block b;
    const struct gemm_blocks_kernel *kernel = *state;
    for (int is_f16 = 0; is_f16 < 2; is_f16++) {
        float scales[NR];
        make(&b, (struct gemm_blocks){ELEMENT_S4, is_f16 ? ELEMENT_F16 : ELEMENT_F32, 32, 0}, 1,
             &seed);
        kernel->scales(&b.blocks, b.bytes, scales);
        for (size_t j = 0; j < NR; j++)
            assert_true(scales[j] == (is_f16 ? f32_of_f16(f16_of_f32(b.scales[j])) : b.scales[j]));
    }
}

static void sums_are_added(void **state)
{
    const struct gemm_blocks_kernel *kernel = *state;
    uint32_t seed = fill_seed();
    for (size_t m = 1; m < 12; m += 3)
        for (int end = 0; end < 2; end++) {
            int32_t *sums = guard_at(&guards[BLOCK], m * HALF * sizeof *sums, end);
            float *scales = guard_at(&guards[SCALES], HALF * sizeof *scales, end);
            size_t count = (m - 1) * NR + HALF;
            float *to = guard_at(&guards[OUT], count * sizeof *to, end), before[12 * NR];
            for (size_t i = 0; i < m * HALF; i++)
                sums[i] = GEMM_FLOAT_START + ((int32_t)fill_next(&seed) >> 10); /* below 2^22 */
            fill_reals(scales, HALF, &seed);
            fill_reals(to, count, &seed);
            memcpy(before, to, count * sizeof *to);
            kernel->add_scaled(m, sums, scales, to);
            for (size_t x = 0; x < count; x++) {
                size_t i = x / NR, j = x % NR;
                float want = before[x];
                if (j < HALF)
                    want = fmaf((float)(sums[i * HALF + j] - GEMM_FLOAT_START), scales[j], want);
                assert_true(to[x] == want);
            }
        }
}

static void tiles_are_multiplied(void **state)
{
    enum { MR = GEMM_BLOCKS_MR, MOST_BLOCKS = 3 };
    const struct gemm_blocks_kernel *kernel = *state;
    static const size_t sizes[] = {16, 32, 48, 240};
    static float want[MR * NR];
    uint32_t seed = fill_seed();
    for (size_t t = 0; t < 2 * MOST_BLOCKS * count_of(sizes) && kernel->multiply; t++) {
        struct gemm_blocks_tile tile = {.block = sizes[t % count_of(sizes)], .row = NR};
        int end = (int)(t % 2);
        tile.blocks = 1 + t % MOST_BLOCKS;
        tile.a_step = tile.blocks == 1 ? 0 : 16 * (t % 3);
        size_t a_bytes = tile.blocks * (MR * tile.block + tile.a_step) - tile.a_step;
        size_t b_bytes = tile.blocks * HALF * tile.block;
        int8_t *a = guard_at(&guards[A], a_bytes, end), *b = guard_at(&guards[BLOCK], b_bytes, end);
        float *scales = guard_at(&guards[SCALES], ((tile.blocks - 1) * NR + HALF) * 4, end);
        float *c = guard_at(&guards[OUT], ((MR - 1) * NR + HALF) * sizeof *c, end);
        memset(a, t < count_of(sizes) ? 0x81 : 0, a_bytes); /* -127 by -128 */
        memset(b, t < count_of(sizes) ? 0x80 : 0, b_bytes);
        for (size_t i = 0; t >= count_of(sizes) && i < a_bytes; i++)
            a[i] = (int8_t)(fill_next(&seed) >> 24);
        for (size_t i = 0; t >= count_of(sizes) && i < b_bytes; i++)
            b[i] = (int8_t)(fill_next(&seed) >> 24);
        fill_reals(scales, (tile.blocks - 1) * NR + HALF, &seed);
        memset(c, 0x5a, ((MR - 1) * NR + HALF) * sizeof *c);
        memset(want, 0x5a, sizeof want);
        tile.a = a, tile.b = b, tile.scales = scales, tile.c = want;
        gemm_blocks_ref.multiply(&tile);
        tile.c = c;
        kernel->multiply(&tile);
        assert_memory_equal(c, want, ((MR - 1) * NR + HALF) * sizeof *c);
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(weights_come_back),
        cmocka_unit_test(scales_come_back),
        cmocka_unit_test(sums_are_added),
        cmocka_unit_test(tiles_are_multiplied),
    };
    static struct kernel_tests_guard sizes[GUARDS];
    for (size_t i = 0; i < GUARDS; i++)
        sizes[i] = (struct kernel_tests_guard){&guards[i], NR * MOST * sizeof(float)};
    for (size_t i = 0; i < gemm_blocks_kernel_count; i++) {
        const struct gemm_blocks_kernel *kernel = gemm_blocks_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
    }
    return kernel_tests_run("gemm_blocks", sizes, GUARDS);
}
