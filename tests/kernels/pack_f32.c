/* Packing into panels: every width, every kind of stride, nothing beyond the operands. */
#include "tests/support/test.h"

#include <string.h>

#include "kernels/pack/f32/pack.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum { WIDEST = 17, MOST_K = 131, MOST = 16 * WIDEST * MOST_K };
static struct guard guard_plain, guard_panel;

/* How element (i, p) is found in a plain matrix of count x k. */
struct layout {
    const char *name;
    ptrdiff_t (*lane)(size_t count, size_t k);
    ptrdiff_t (*step)(size_t count, size_t k);
};

static ptrdiff_t one(size_t count, size_t k)
{
    (void)count, (void)k;
    return 1;
}
static ptrdiff_t zero(size_t count, size_t k)
{
    (void)count, (void)k;
    return 0;
}
static ptrdiff_t three(size_t count, size_t k)
{
    (void)count, (void)k;
    return 3;
}
static ptrdiff_t minus_one(size_t count, size_t k)
{
    (void)count, (void)k;
    return -1;
}
static ptrdiff_t by_k(size_t count, size_t k)
{
    (void)count;
    return (ptrdiff_t)k;
}
static ptrdiff_t by_k_and_gap(size_t count, size_t k)
{
    (void)count;
    return (ptrdiff_t)k + 2;
}
static ptrdiff_t by_3k(size_t count, size_t k)
{
    (void)count;
    return (ptrdiff_t)k * 3;
}
static ptrdiff_t by_minus_k(size_t count, size_t k)
{
    (void)count;
    return -(ptrdiff_t)k;
}
static ptrdiff_t by_count(size_t count, size_t k)
{
    (void)k;
    return (ptrdiff_t)count;
}
static ptrdiff_t by_count_and_gap(size_t count, size_t k)
{
    (void)k;
    return (ptrdiff_t)count + 3;
}

static const struct layout layouts[] = {
    {"lanes far, steps near", by_k, one},
    {"lanes far with gaps, steps near", by_k_and_gap, one},
    {"lanes backwards, steps near", by_minus_k, one},
    {"lanes near, steps far", one, by_count},
    {"lanes near, steps far with gaps", one, by_count_and_gap},
    {"both far", by_3k, three},
    {"steps backwards", by_k, minus_one},
};
/* Two elements in one place can be read but not written. */
static const struct layout read_only[] = {
    {"one lane for all", zero, one},
    {"one step for all", one, zero},
};

/* A plain matrix on guarded memory, all its elements within [base, base + count). */
struct plain {
    float *base, *origin; /* origin: element (0, 0) */
    ptrdiff_t lane, step;
    size_t elements;
};

static struct plain make_plain(const struct layout *layout, size_t count, size_t k, int end)
{
    struct plain plain = {.lane = layout->lane(count, k), .step = layout->step(count, k)};
    ptrdiff_t far_lane = (ptrdiff_t)(count - 1) * plain.lane;
    ptrdiff_t far_step = (ptrdiff_t)(k ? k - 1 : 0) * plain.step;
    ptrdiff_t low = (far_lane < 0 ? far_lane : 0) + (far_step < 0 ? far_step : 0);
    ptrdiff_t high = (far_lane > 0 ? far_lane : 0) + (far_step > 0 ? far_step : 0);
    plain.elements = k ? (size_t)(high - low) + 1 : 0;
    plain.base = guard_at(&guard_plain, plain.elements * sizeof(float), end);
    plain.origin = plain.base - low;
    return plain;
}

static const float *at(const struct plain *plain, size_t i, size_t p)
{
    return plain->origin + (ptrdiff_t)i * plain->lane + (ptrdiff_t)p * plain->step;
}

static void check_pack(const struct layout *layout, size_t width, size_t count, size_t k,
                       uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 5;
    struct plain plain = make_plain(layout, count ? count : 1, count ? k : 0, options & 1);
    fill_reals(plain.base, plain.elements, seed);
    float *out = guard_at(&guard_panel, width * k * sizeof(float), options >> 1 & 1);
    fill_marker(out, width * k);
    const float *lanes[WIDEST];
    for (size_t i = 0; i < count; i++)
        lanes[i] = at(&plain, i, 0);
    struct pack_f32_panel panel = {
        .width = width, .count = count, .k = k, .step = plain.step, .out = out};
    if (options & 4)
        panel.lanes = lanes;
    else
        panel.src = plain.origin, panel.lane = plain.lane;
    pack_f32(&panel);
    for (size_t p = 0; p < k; p++)
        for (size_t i = 0; i < width; i++)
            if (out[p * width + i] != (i < count ? *at(&plain, i, p) : 0)) {
                print_error("%s: width=%zu count=%zu k=%zu pointers=%d: (%zu, %zu) is wrong\n",
                            layout->name, width, count, k, panel.lanes != NULL, i, p);
                fail();
            }
}

static const size_t depths[] = {0, 1, 2, 3, 4, 5, 8, 13, 64, 67, MOST_K};

static void packs_every_layout(void **state)
{
    (void)state;
    uint32_t seed = fill_seed();
    for (size_t width = 1; width <= WIDEST; width++)
        for (size_t count = 0; count <= width; count++)
            for (size_t d = 0; d < count_of(depths); d++) {
                for (size_t l = 0; l < count_of(layouts); l++)
                    check_pack(&layouts[l], width, count, depths[d], &seed);
                for (size_t l = 0; l < count_of(read_only); l++)
                    check_pack(&read_only[l], width, count, depths[d], &seed);
            }
}

static void check_taps(const struct pack_f32_panel *shape, size_t gap, uint32_t *seed)
{
    struct pack_f32_panel panel = *shape;
    size_t lane = panel.k + gap, channels = panel.k / panel.taps;
    size_t elements = panel.count && panel.k ? (panel.count - 1) * lane + panel.k : 0;
    uint32_t options = fill_next(seed) >> 5;
    float *src = guard_at(&guard_plain, elements * sizeof(float), options & 1);
    fill_reals(src, elements, seed);
    panel.src = src;
    panel.lane = (ptrdiff_t)lane;
    panel.step = 1;
    panel.out = guard_at(&guard_panel, panel.width * panel.k * sizeof(float), options >> 1 & 1);
    fill_marker(panel.out, panel.width * panel.k);
    pack_f32(&panel);
    for (size_t x = 0; x < panel.width * panel.k; x++) {
        size_t i = x % panel.width, p = x / panel.width % channels, t = x / panel.width / channels;
        if (panel.out[x] != (i < panel.count ? src[i * lane + p * panel.taps + t] : 0)) {
            print_error("width=%zu count=%zu k=%zu taps=%zu: (%zu, %zu, %zu) is wrong\n",
                        panel.width, panel.count, panel.k, panel.taps, i, p, t);
            fail();
        }
    }
}

static void packs_taps(void **state)
{
    static const size_t taps[] = {1, 2, 3, 4, 9, 25}, channels[] = {0, 1, 2, 3, 5, 16, 20};
    static const size_t widths[] = {1, 4, 5, 8, 12, 13, 27};
    (void)state;
    uint32_t seed = fill_seed();
    for (size_t w = 0; w < count_of(widths); w++)
        for (size_t count = 0; count <= widths[w]; count++)
            for (size_t t = 0; t < count_of(taps); t++)
                for (size_t c = 0; c < count_of(channels); c++) {
                    const struct pack_f32_panel shape = {.width = widths[w],
                                                         .count = count,
                                                         .k = channels[c] * taps[t],
                                                         .taps = taps[t]};
                    check_taps(&shape, 0, &seed);
                    check_taps(&shape, 3, &seed);
                }
}

int main(void)
{
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(packs_every_layout),
        cmocka_unit_test(packs_taps),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_plain, MOST * sizeof(float)},
        {&guard_panel, MOST * sizeof(float)},
    };
    kernel_tests_add_alone(alone, count_of(alone));
    return kernel_tests_run("pack_f32", guards, count_of(guards));
}
