/* Checks a simulated core against what is published of the real one.
 *
 *   PROBE
 *
 * Prints cycles of short blocks of instructions and of loads that wait for each other, beside what
 * Cortex-A55 takes: by Arm's optimisation guide, and as authors of kernels for it have measured,
 * ncnn's and ONNX Runtime's: a load of 128 bits takes both slots for two cycles, one of 64 issues
 * beside a multiply-accumulate. Its exit status says whether all are within a tenth. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#ifndef __aarch64__
#error "probes are AArch64 programs"
#endif

enum { ROUNDS = 400, WARM = 8, PLACES = 1 << 11 };

static void *chain[PLACES]; /* fits into every L1 cache */

#define EIGHT(text) text text text text text text text text

/* A loop of a block, whose instructions may use x0, an address, and all vectors. */
#define PROBE(name, block)                                                                        \
    static void name(uint64_t rounds)                                                             \
    {                                                                                             \
        const void *at = chain;                                                                   \
        __asm__ volatile("1:\n\t" block "subs %0, %0, #1\n\tb.ne 1b"                              \
                         : "+r"(rounds), "+r"(at)                                                 \
                         :                                                                        \
                         : "x9", "x10", "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", \
                           "v7", "v8", "v9", "v10", "v11", "v30", "v31");                         \
    }

#define FMLA(n) "fmla v" #n ".4s, v30.4s, v31.4s\n\t"
#define TWELVE \
    FMLA(0)    \
    FMLA(1) FMLA(2) FMLA(3) FMLA(4) FMLA(5) FMLA(6) FMLA(7) FMLA(8) FMLA(9) FMLA(10) FMLA(11)

#define FOUR FMLA(0) FMLA(1) FMLA(2) FMLA(3)

PROBE(sums, TWELVE TWELVE)
PROBE(chained, EIGHT(FMLA(0)))
PROBE(loads_of_64, EIGHT("ldr d4, [%1]\n\tldr d5, [%1]\n\t"))
PROBE(sums_and_128, EIGHT(FOUR "ldr q4, [%1]\n\t"))
PROBE(sums_and_64, EIGHT(FMLA(0) "ldr d4, [%1]\n\t" FMLA(1) FMLA(2) "ldr x9, [%1]\n\t" FMLA(3)))
PROBE(integers, EIGHT(EIGHT("add x9, %1, #1\n\tadd x10, %1, #2\n\t")))
PROBE(pointers, EIGHT("ldr %1, [%1]\n\t"))

#undef FOUR
#undef PROBE
#undef TWELVE
#undef FMLA
#undef EIGHT

static const double GIGAHERTZ = 1.8;

static const struct {
    const char *name;
    void (*run)(uint64_t rounds);
    double cycles; /* of a round */
} probes[] = {
    {"24 independent FMLA", sums, 24},
    {"8 FMLA, each of the one before", chained, 32},
    {"16 vectors of 64 bits are loaded", loads_of_64, 16},
    {"32 FMLA and 8 loads of 128 bits", sums_and_128, 48},
    {"32 FMLA and 16 loads of 64 bits", sums_and_64, 32},
    {"128 additions", integers, 64},
    {"8 loads, each from where the one before says", pointers, 16},
};

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double cycles_of(void (*run)(uint64_t))
{
    run(WARM);
    double start = now();
    run(ROUNDS);
    return (now() - start) * GIGAHERTZ / ROUNDS;
}

static int is_near(double measured, double published)
{
    return fabs(measured - published) <= published / 10 + 1; /* a cycle for the loop */
}

int main(void)
{
    int good = 1;
    for (size_t i = 0; i < PLACES; i++)
        chain[i] = &chain[(i + 1) % PLACES];
    __asm__ volatile(".inst 0xff520110" ::: "memory"); /* cycle by cycle from here on */
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        double published = probes[i].cycles;
        double measured = cycles_of(probes[i].run);
        good &= is_near(measured, published);
        printf("%-46s %6.2f %6.2f%s\n", probes[i].name, measured, published,
               is_near(measured, published) ? "" : "  differs");
    }
    fflush(stdout);
    _exit(!good);
}
