/* Packing of panels of every type, and back. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/gemm/types.h"
#include "kernels/pack/panel.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum { WIDEST = 25, MOST_K = 67, MOST = 4 * WIDEST * (MOST_K + 16) };
static struct guard guard_plain, guard_panel, guard_sums;

static const struct pack_panel_kernel *kernel_of(void **state)
{
    return *state;
}

/* Strides of a plain matrix of count x k, by kind. */
static const struct layout {
    const char *name;
    int lane, lane_k, lane_gap, step, step_count, step_gap; /* lane + lane_k * k + lane_gap, … */
} layouts[] = {
    {"lanes far, steps near", 0, 1, 0, 1, 0, 0},
    {"lanes far with gaps, steps near", 0, 1, 2, 1, 0, 0},
    {"lanes backwards, steps near", 0, -1, 0, 1, 0, 0},
    {"lanes near, steps far", 1, 0, 0, 0, 1, 0},
    {"lanes near, steps far with gaps", 1, 0, 0, 0, 1, 3},
    {"both far", 0, 3, 0, 3, 0, 0},
    {"steps backwards", 0, 1, 0, -1, 0, 0},
    {"one lane for all", 0, 0, 0, 1, 0, 0},
    {"one step for all", 1, 0, 0, 0, 0, 0},
};

/* A plain matrix on guarded memory; origin: element (0, 0). */
struct plain {
    enum element element;
    unsigned char *base, *origin;
    ptrdiff_t lane, step;
    size_t bytes;
};

static ptrdiff_t below(ptrdiff_t value)
{
    return value < 0 ? value : 0;
}

static ptrdiff_t above(ptrdiff_t value)
{
    return value > 0 ? value : 0;
}

static struct plain make_plain(const struct layout *layout, enum element element, size_t count,
                               size_t k, int end)
{
    struct plain plain = {.element = element};
    plain.lane = layout->lane + layout->lane_k * (ptrdiff_t)k + layout->lane_gap;
    plain.step = layout->step + layout->step_count * (ptrdiff_t)count + layout->step_gap;
    ptrdiff_t far_lane = (ptrdiff_t)(count - 1) * plain.lane;
    ptrdiff_t far_step = (ptrdiff_t)(k ? k - 1 : 0) * plain.step;
    ptrdiff_t low = below(far_lane) + below(far_step), high = above(far_lane) + above(far_step);
    ptrdiff_t bytes = (ptrdiff_t)element_bytes(element);
    plain.bytes = k && count ? (size_t)((high - low + 1) * bytes) : 0;
    plain.base = guard_at(&guard_plain, plain.bytes, end);
    plain.origin = plain.base - low * bytes;
    return plain;
}

static void *at(const struct plain *plain, size_t i, size_t p)
{
    ptrdiff_t place = (ptrdiff_t)i * plain->lane + (ptrdiff_t)p * plain->step;
    return plain->origin + place * (ptrdiff_t)element_bytes(plain->element);
}

/* Values of all sizes, and now and then what is special. */
static void fill_plain(const struct plain *plain, uint32_t *seed)
{
    size_t bytes = element_bytes(plain->element);
    for (size_t i = 0; i < plain->bytes / bytes; i++) {
        uint32_t bits = fill_next(seed);
        int is_special = bits >> 28 == 0 && plain->element <= ELEMENT_BF16;
        if (is_special)
            element_write_f32(plain->element, plain->base, (ptrdiff_t)i,
                              (const float[]){NAN, INFINITY, 65519, 65520, 0x1p-24f, 0x1p-130f,
                                              -0.f, 0x1p-25f}[bits & 7]);
        else if (plain->element == ELEMENT_F32)
            bits = bits_of_f32((float)((int32_t)bits >> 7) / (float)(1 << (bits & 31) % 31));
        if (!is_special)
            memcpy(plain->base + i * bytes, &bits, bytes);
    }
}

/* What the panel has to hold, in its own type. */
static uint32_t converted(const struct pack_panel *panel, const void *from)
{
    uint32_t bits = 0;
    if (panel->to == ELEMENT_S8)
        return panel->from == ELEMENT_U8 ? *(const uint8_t *)from ^ 0x80u : *(const uint8_t *)from;
    if (panel->to == panel->from)
        memcpy(&bits, from, element_bytes(panel->to));
    else
        element_write_f32(panel->to, &bits, 0, element_read_f32(panel->from, from, 0));
    return bits;
}

static int is_nan(enum element element, uint32_t bits)
{
    return element <= ELEMENT_BF16 && isnan(element_read_f32(element, &bits, 0));
}

static void check_panel(const struct pack_panel *panel, const struct plain *plain,
                        const struct pack_panel_kernel *kernel, const struct layout *layout)
{
    size_t bytes = element_bytes(panel->to), rest = panel->k % panel->group;
    size_t k = panel->k + (rest ? panel->group - rest : 0);
    for (size_t p = 0; p < k; p++)
        for (size_t i = 0; i < panel->width; i++) {
            int is_valid = i < panel->count && p < panel->k;
            uint32_t got = 0, want = is_valid ? converted(panel, at(plain, i, p)) : 0;
            const char *out = panel->out;
            memcpy(&got, out + gemm_panel_at(panel->group, panel->width, i, p) * bytes, bytes);
            if (got == want || (is_nan(panel->to, got) && is_nan(panel->to, want)))
                continue;
            print_error("%s, %s: group=%zu width=%zu count=%zu k=%zu pointers=%d: (%zu, %zu) is "
                        "%x, not %x\n",
                        kernel->name, layout->name, panel->group, panel->width, panel->count,
                        panel->k, panel->lanes != NULL, i, p, got, want);
            fail();
        }
}

static void check_sums(const struct pack_panel *panel)
{
    for (size_t i = 0; panel->sums && i < panel->count; i++) {
        int32_t sum = (int32_t)i;
        for (size_t p = 0; p < panel->k; p++)
            sum += ((const int8_t *)panel->out)[gemm_panel_at(panel->group, panel->width, i, p)];
        assert_int_equal(panel->sums[i], sum);
    }
}

static void check_back(const struct pack_panel *panel, const struct plain *plain)
{
    static unsigned char dst[MOST * 3];
    size_t bytes = element_bytes(panel->from);
    int is_byte = bytes == 1 && (panel->to == ELEMENT_S8 || panel->to == ELEMENT_BF16);
    int is_same = panel->to == panel->from || is_byte;
    if (!is_same || plain->lane == 0 || plain->step == 0 || plain->bytes > sizeof dst)
        return;
    memset(dst, 0x5a, sizeof dst);
    unpack_panel(&(struct unpack_panel){.from = panel->to,
                                        .to = panel->from,
                                        .group = panel->group,
                                        .width = panel->width,
                                        .count = panel->count,
                                        .k = panel->k,
                                        .panel = panel->out,
                                        .dst = dst + (plain->origin - plain->base),
                                        .lane = plain->lane,
                                        .step = plain->step});
    for (size_t i = 0; i < panel->count; i++)
        for (size_t p = 0; p < panel->k; p++) {
            unsigned char *from = at(plain, i, p);
            assert_memory_equal(dst + (from - plain->base), from, bytes);
            memset(dst + (from - plain->base), 0x5a, bytes);
        }
    for (size_t i = 0; i < plain->bytes; i++)
        assert_int_equal(dst[i], 0x5a);
}

static void check_pack(const struct pack_panel_kernel *kernel, const struct layout *layout,
                       struct pack_panel panel, uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 5;
    struct plain plain = make_plain(layout, panel.from, panel.count, panel.k, options & 1);
    fill_plain(&plain, seed);
    size_t rest = panel.k % panel.group;
    size_t all = (panel.k + (rest ? panel.group - rest : 0)) * panel.width;
    panel.out = guard_at(&guard_panel, all * element_bytes(panel.to), options >> 1 & 1);
    memset(panel.out, 0x55, all * element_bytes(panel.to));
    const void *lanes[WIDEST];
    for (size_t i = 0; i < panel.count; i++)
        lanes[i] = at(&plain, i, 0);
    panel.step = plain.step;
    if (options & 4)
        panel.lanes = lanes;
    else
        panel.src = plain.origin, panel.lane = plain.lane;
    if (panel.to == ELEMENT_S8 && options & 8)
        panel.sums = guard_at(&guard_sums, panel.count * sizeof *panel.sums, options & 1);
    for (size_t i = 0; panel.sums && i < panel.count; i++)
        panel.sums[i] = (int32_t)i;
    kernel->pack(&panel);
    check_panel(&panel, &plain, kernel, layout);
    check_sums(&panel);
    check_back(&panel, &plain);
}

/* Every width with every depth, the layouts in turn. */
static void pack_all(const struct pack_panel_kernel *kernel, size_t group, uint32_t *seed)
{
    static const size_t widths[] = {1, 3, 4, 7, 8, 12, 24, WIDEST};
    static const size_t depths[] = {0, 1, 3, 8, 15, 16, 35, MOST_K};
    size_t turn = 0;
    for (size_t w = 0; w < count_of(widths); w++)
        for (size_t d = 0; d < count_of(depths); d++, turn++) {
            struct pack_panel panel = {.from = kernel->from,
                                       .to = kernel->to,
                                       .group = group,
                                       .width = widths[w],
                                       .count = widths[w],
                                       .k = depths[d]};
            check_pack(kernel, &layouts[turn % count_of(layouts)], panel, seed);
            panel.count = fill_next(seed) % widths[w];
            check_pack(kernel, &layouts[(turn + 4) % count_of(layouts)], panel, seed);
        }
}

static void packs_every_layout(void **state)
{
    const struct pack_panel_kernel *kernel = kernel_of(state);
    uint32_t seed = fill_seed();
    for (size_t group = 1; group <= 16; group *= 2)
        if (!kernel->group || kernel->group == group)
            pack_all(kernel, group, &seed);
}

static void every_pair_of_types_is_found(void **state)
{
    (void)state;
    const uint32_t tiers[] = {0, CPU_NEON, cpu_get()->features};
    for (size_t t = 0; t < count_of(tiers); t++)
        for (size_t i = 0; i < pack_panel_kernel_count; i++) {
            const struct pack_panel_kernel *kernel = pack_panel_kernels[i];
            for (size_t group = 1; group <= 16; group *= 2)
                assert_non_null(pack_panel_find(tiers[t], kernel->from, kernel->to, group));
        }
    assert_null(pack_panel_find(0, ELEMENT_S32, ELEMENT_S8, 4));
    assert_null(pack_panel_find(0, ELEMENT_F16, ELEMENT_BF16, 2));
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(packs_every_layout),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(every_pair_of_types_is_found),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_plain, MOST * 4},
        {&guard_panel, MOST},
        {&guard_sums, WIDEST * sizeof(int32_t)},
    };
    kernel_tests_add_alone(alone, count_of(alone));
    for (size_t i = 0; i < pack_panel_kernel_count; i++) {
        const struct pack_panel_kernel *kernel = pack_panel_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
    }
    return kernel_tests_run("pack_panel", guards, count_of(guards));
}
