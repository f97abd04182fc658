/* Element-wise functions with every f32: the largest error of each, and whether it is within what
 * the public header says.
 *
 *   sweep [FUNCTION…]     such as tanh; without names all of them
 *   sweep --hash          one number from the bits of many results of each function
 *
 * The kernels are those of AArch64, there or by tests/sweep/x86. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/cases/eltwise_bounds.h"

enum { PIECE = 4096 };
#define ALL ((uint64_t)1 << 32)

struct worst {
    double ulps;
    float at, got;
    double want;
};

/* Most values are exact or nearer than the worst one so far: a unit in the last place is at least
 * 2^-24 of the value, so those need no further look. NaN does. */
static bool is_near(double near, double worst_ulps, double want, float got)
{
    double error = fabs((double)got - want);
    return ((float)want == got) | (error <= near) | (error <= worst_ulps * 0x1p-24 * fabs(want));
}

static bool are_near(double near, double worst_ulps, const double *want, const float *got)
{
    uint64_t count = 0;
    for (size_t i = 0; i < PIECE; i++)
        count += is_near(near, worst_ulps, want[i], got[i]);
    return count == PIECE;
}

static void keep_worst(const struct eltwise_bound *bound, const float *x, const double *want,
                       const float *got, struct worst *worst)
{
    for (size_t i = 0; i < PIECE; i++) {
        if (is_near(bound->near, worst->ulps, want[i], got[i]))
            continue;
        double error = eltwise_error(bound, want[i], got[i]);
        if (error > worst->ulps)
            *worst = (struct worst){error, x[i], got[i], want[i]};
    }
}

static void fill_with_bits(float *x, uint64_t first, uint32_t step)
{
    for (uint32_t i = 0; i < PIECE; i++) {
        uint32_t bits = (uint32_t)first + i * step;
        memcpy(&x[i], &bits, sizeof bits);
    }
}

static struct worst sweep(enum eltwise_f32_alg alg, size_t p)
{
    static float x[PIECE], got[PIECE];
    static double want[PIECE];
    const struct eltwise_bound *bound = &eltwise_bounds[alg];
    struct worst worst = {0};
    for (uint64_t first = 0; first < ALL; first += PIECE) {
        fill_with_bits(x, first, 1);
        eltwise_f32_neon[alg].run(PIECE, x, got, bound->alpha[p], bound->beta[p]);
        eltwise_define(alg, PIECE, x, want, bound->alpha[p], bound->beta[p]);
        if (!are_near(bound->near, worst.ulps, want, got))
            keep_worst(bound, x, want, got, &worst);
    }
    return worst;
}

static bool is_within(enum eltwise_f32_alg alg)
{
    const struct eltwise_bound *bound = &eltwise_bounds[alg];
    bool is_right = true;
    for (size_t p = 0; p < ELTWISE_PARAMETERS; p++) {
        if (!eltwise_bound_is_new(bound, p))
            continue;
        struct worst w = sweep(alg, p);
        bool is_good = w.ulps <= bound->ulps;
        printf("  %-28s alpha %-9.6g beta %-5.4g %6.3f ulp of %-4g at %.9g: %.9g, not %.12g%s\n",
               eltwise_f32_neon[alg].name, (double)bound->alpha[p], (double)bound->beta[p], w.ulps,
               bound->ulps, (double)w.at, (double)w.got, w.want, is_good ? "" : " FAILED");
        fflush(stdout);
        is_right = is_right && is_good;
    }
    return is_right;
}

/* eltwise_f32_tanh_neon is tanh. A function without a kernel of its own is the C library's. */
static bool is_named(enum eltwise_f32_alg alg, const char *name)
{
    if (!eltwise_f32_neon[alg].name)
        return false;
    const char *full = eltwise_f32_neon[alg].name + strlen("eltwise_f32_");
    size_t length = strlen(name);
    return strncmp(full, name, length) == 0 && strcmp(full + length, "_neon") == 0;
}

/* FNV-1a of the results' bits; all NaN count as one. */
static uint64_t hash_of(enum eltwise_f32_alg alg, size_t p)
{
    static float x[PIECE], got[PIECE];
    const uint32_t pieces = 64, step = 0xffffffffu / (pieces * PIECE);
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t piece = 0; piece < pieces; piece++) {
        fill_with_bits(x, (uint64_t)piece * PIECE * step, step);
        eltwise_f32_neon[alg].run(PIECE, x, got, eltwise_bounds[alg].alpha[p],
                                  eltwise_bounds[alg].beta[p]);
        for (size_t i = 0; i < PIECE; i++) {
            uint32_t bits = 0x7fc00000;
            if (!isnan(got[i]))
                memcpy(&bits, &got[i], sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3u;
        }
    }
    return hash;
}

static int print_hashes(void)
{
    for (size_t alg = 0; alg < ELTWISE_F32_COUNT; alg++)
        for (size_t p = 0; eltwise_f32_neon[alg].name && p < ELTWISE_PARAMETERS; p++)
            printf("%s %zu %016llx\n", eltwise_f32_neon[alg].name, p,
                   (unsigned long long)hash_of((enum eltwise_f32_alg)alg, p));
    return 0;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    if (argc == 2 && strcmp(argv[1], "--hash") == 0)
        return print_hashes();
    for (int alg = 0; alg < ELTWISE_F32_COUNT; alg++) {
        bool is_wanted = argc == 1 && eltwise_f32_neon[alg].name;
        for (int i = 1; i < argc; i++)
            is_wanted = is_wanted || is_named((enum eltwise_f32_alg)alg, argv[i]);
        if (is_wanted)
            *(is_within((enum eltwise_f32_alg)alg) ? &passed : &failed) += 1;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 || passed == 0;
}
