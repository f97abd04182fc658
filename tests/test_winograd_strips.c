/* Winograd's strips for several threads: they cover all tiles, and change no sum. */
#include "tests/support/test.h"

#include "src/convolution/convolution_winograd.h"
#include "src/core/checked.h"

/* How many of these tiles have a point, by the numbers of tiles of each size. */
static size_t tiles_at(const struct convolution_winograd *plan, struct span tiles, size_t u,
                       size_t v)
{
    size_t begin = 0, count = 0;
    for (size_t r = 0; r < SIZES; r++)
        for (size_t c = 0; c < SIZES; c++) {
            size_t end =
                begin + plan->rows.count[r] * plan->cols.count[c] * (size_t)plan->shape.batch;
            for (size_t t = tiles.begin; t < tiles.end; t++)
                count += t >= begin && t < end && u < plan->rows.size[r] + 2 &&
                         v < plan->cols.size[c] + 2;
            begin = end;
        }
    return count;
}

/* What is said of WINOGRAD_F32_SAME holds at every point, and the task's scratchpad is enough. */
static void check_strip(const struct convolution_winograd *plan, struct span tiles)
{
    size_t rows = 0;
    for (size_t u = 0; u < plan->points; u++)
        for (size_t v = 0; v < plan->points; v++) {
            size_t here = tiles_at(plan, tiles, u, v);
            assert_true(here == 0 || here >= WINOGRAD_F32_SAME);
            rows += here;
        }
    assert_true(tiles.end - tiles.begin <= MOST_STRIP);
    assert_true(rows <= plan->strip * plan->points * plan->points);
}

static size_t check_division(const struct convolution_winograd *plan, int threads)
{
    struct run run = {.plan = plan};
    winograd_divide(&run, threads);
    size_t end = 0;
    for (size_t t = 0; run.divided && t < plan->tiles; t += plan->strip)
        check_strip(plan, (struct span){t, min_size(t + plan->strip, plan->tiles)});
    for (size_t i = 0; i < run.grid.rows; i++) {
        struct span tiles = winograd_strip(&run, i);
        assert_int_equal(tiles.begin, end);
        assert_true(tiles.end > tiles.begin);
        end = tiles.end;
        if (run.divided)
            check_strip(plan, tiles);
    }
    assert_int_equal(end, plan->tiles);
    return run.divided;
}

static void strips_are_divided_where_that_changes_no_sum(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 4, 5, 8, 12, 16, 31, 64, 128, 1000};
    static const size_t largest[] = {MOST_STRIP, 20};
    size_t divided = 0, at_most = 0;
    for (neo_dim size = 1; size < 60; size++)
        for (size_t points = 4; points <= 8; points += 2)
            for (neo_dim batch = 1; batch <= 4; batch++) {
                struct convolution_winograd plan = {
                    .points = points,
                    .panels = (size_t)size % 7 + 1,
                    .rows = winograd_cut((size_t)size, points - 2),
                    .cols = winograd_cut((size_t)size + 4, points - 2),
                    .shape.batch = batch,
                };
                plan.tiles =
                    (size_t)batch * winograd_cut_tiles(&plan.rows) * winograd_cut_tiles(&plan.cols);
                size_t most = largest[batch % 2];
                plan.strip = div_up(plan.tiles, div_up(plan.tiles, most));
                for (size_t i = 0; i < count_of(threads); i++, at_most++)
                    divided += check_division(&plan, threads[i]);
            }
    assert_true(divided > at_most / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strips_are_divided_where_that_changes_no_sum),
    };
    return cmocka_run_group_tests_name("winograd_strips", tests, NULL, NULL);
}
