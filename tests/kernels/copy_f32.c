/* Strided copies between every pair of layouts; gaps survive, nothing beyond is touched. */
#include "tests/support/test.h"

#include "kernels/pack/f32/copy.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum { LONGEST = 67, MOST = 8 * LONGEST * LONGEST, DOWN_VALUES = 4096 /* a kernel's */ };
static struct guard guard_src, guard_dst;

enum layout {
    ROWS,
    ROWS_WITH_GAPS,
    COLUMNS,
    COLUMNS_WITH_GAPS,
    SCATTERED,
    ROWS_BACKWARDS,
    COLUMNS_BACKWARDS,
    LAYOUTS,
    REPEATED_ROW = LAYOUTS,
    REPEATED_COLUMN,
    SOURCES
};

/* Strides of a layout, and the elements that a plane of it spans. */
struct span {
    ptrdiff_t row, col, origin;
    size_t elements;
};

static struct span span_of(enum layout layout, size_t rows, size_t cols)
{
    ptrdiff_t r = (ptrdiff_t)rows, c = (ptrdiff_t)cols;
    const ptrdiff_t strides[SOURCES][2] = {
        [ROWS] = {c, 1},
        [ROWS_WITH_GAPS] = {c + 3, 1},
        [COLUMNS] = {1, r},
        [COLUMNS_WITH_GAPS] = {1, r + 5},
        [SCATTERED] = {3 * c, 3},
        [ROWS_BACKWARDS] = {-c, 1},
        [COLUMNS_BACKWARDS] = {c, -1},
        [REPEATED_ROW] = {0, 1},
        [REPEATED_COLUMN] = {1, 0},
    };
    struct span span = {strides[layout][0], strides[layout][1], 0, 0};
    ptrdiff_t far[] = {(r - 1) * span.row, (c - 1) * span.col}, high = 0;
    for (size_t i = 0; i < 2; i++) {
        span.origin -= far[i] < 0 ? far[i] : 0;
        high += far[i] > 0 ? far[i] : 0;
    }
    span.elements = (size_t)(span.origin + high) + 1;
    return span;
}

static void check(const struct copy_f32_kernel *kernel, enum layout from, enum layout to,
                  size_t rows, size_t cols, uint32_t *seed)
{
    struct span in = span_of(from, rows, cols), out = span_of(to, rows, cols);
    uint32_t options = fill_next(seed) >> 3;
    float *src = guard_at(&guard_src, in.elements * sizeof(float), options & 1);
    float *dst = guard_at(&guard_dst, out.elements * sizeof(float), options >> 1 & 1);
    fill_reals(src, in.elements, seed);
    fill_marker(dst, out.elements);
    const struct copy_f32_plane plane = {
        rows, cols, src + in.origin, in.row, in.col, dst + out.origin, out.row, out.col};
    kernel->run(&plane);
    size_t written = 0;
    for (size_t i = 0; i < out.elements; i++)
        written += !fill_is_marker(dst[i]);
    assert_int_equal(written, rows * cols);
    for (ptrdiff_t r = 0; r < (ptrdiff_t)rows; r++)
        for (ptrdiff_t c = 0; c < (ptrdiff_t)cols; c++)
            if (plane.dst[r * out.row + c * out.col] != plane.src[r * in.row + c * in.col]) {
                print_error("%s: layout %d to %d, %zux%zu: (%td, %td) is wrong\n", kernel->name,
                            (int)from, (int)to, rows, cols, r, c);
                fail();
            }
}

static void copies_every_pair_of_layouts(void **state)
{
    static const size_t lengths[] = {1, 2, 3, 4, 5, 8, 13, 16, 17, 20, 37, 65, LONGEST};
    uint32_t seed = fill_seed();
    for (int from = 0; from < SOURCES; from++)
        for (int to = 0; to < LAYOUTS; to++)
            for (size_t r = 0; r < count_of(lengths); r++)
                for (size_t c = 0; c < count_of(lengths); c++)
                    check(*state, (enum layout)from, (enum layout)to, lengths[r], lengths[c],
                          &seed);
}

/* More rows than are done together down a few columns, and as few again as a kernel may have left.
 */
static void copies_few_columns_of_many_rows(void **state)
{
    static const size_t columns[] = {5, 8, 30, 32}, more[] = {0, 1, 5, 8, 9, 130};
    uint32_t seed = fill_seed();
    for (size_t c = 0; c < count_of(columns); c++)
        for (size_t m = 0; m < count_of(more); m++) {
            size_t rows = DOWN_VALUES / columns[c] + more[m];
            check(*state, ROWS_WITH_GAPS, COLUMNS, rows, columns[c], &seed);
            check(*state, COLUMNS, ROWS_WITH_GAPS, columns[c], rows, &seed);
        }
}

static void empty_planes_touch_nothing(void **state)
{
    const struct copy_f32_kernel *kernel = *state;
    const struct copy_f32_plane no_rows = {0, 5, NULL, 5, 1, NULL, 5, 1};
    const struct copy_f32_plane no_cols = {5, 0, NULL, 0, 1, NULL, 1, 5};
    kernel->run(&no_rows);
    kernel->run(&no_cols);
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(copies_every_pair_of_layouts),
        cmocka_unit_test(copies_few_columns_of_many_rows),
        cmocka_unit_test(empty_planes_touch_nothing),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_src, MOST * sizeof(float)},
        {&guard_dst, MOST * sizeof(float)},
    };
    for (size_t i = 0; i < copy_f32_kernel_count; i++) {
        const struct copy_f32_kernel *kernel = copy_f32_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
    }
    return kernel_tests_run("copy_f32", guards, count_of(guards));
}
