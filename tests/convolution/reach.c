/* Which taps tiles of pixels have in src: what is said of several tiles at once is true of each. */
#include "tests/support/test.h"

#include "src/convolution/gemm/gemm.h"
#include "src/core/checked.h"
#include "tests/support/fill.h"
#include "tests/support/random.h"

enum { CASES = 3000, CHANNELS = 8 };

static neo_dim from_to(uint64_t *state, neo_dim least, neo_dim most)
{
    return least + (neo_dim)random_below(state, (size_t)(most - least + 1));
}

static void make_dimension(struct convolution_shape *s, int d, uint64_t *state)
{
    bool is_absent = d == DEPTH && random_below(state, 2);
    s->kernel[d] = is_absent ? 1 : from_to(state, 1, 5);
    s->stride[d] = is_absent ? 1 : from_to(state, 1, 2);
    s->dilation[d] = is_absent ? 1 : from_to(state, 1, 3);
    s->padding[d] = is_absent ? 0 : from_to(state, 0, 6);
    s->in[d] = is_absent ? 1 : from_to(state, 1, 12);
    s->out[d] = is_absent ? 1 : from_to(state, 1, 12);
}

static void make_plan(struct convolution_gemm *plan, uint64_t *state)
{
    size_t taps = 1;
    *plan = (struct convolution_gemm){.matrices = 1, .segment = CHANNELS};
    plan->shape.batch = from_to(state, 1, 2);
    plan->shape.ic = CHANNELS;
    plan->gemm.shape.m = (size_t)plan->shape.batch;
    for (int d = 0; d < SPACE; d++) {
        make_dimension(&plan->shape, d, state);
        taps *= (size_t)plan->shape.kernel[d];
        plan->gemm.shape.m *= (size_t)plan->shape.out[d];
    }
    plan->images = (size_t)plan->shape.batch;
    plan->rows_are_merged = random_below(state, 2);
    if (plan->rows_are_merged)
        plan->segment *= (size_t)plan->shape.kernel[WIDTH];
    plan->gemm.shape.k = taps * CHANNELS;
}

/* Each tile within the rows, of as many as the first or one less, reaches the same as it. Returns
 * how many there are beside the first. */
static size_t check_rows(const struct convolution_gemm *plan, size_t row, size_t rows)
{
    const struct convolution_call call = {.plan = plan};
    struct gemm_reach reach = convolution_gemm_reach(&call, 0, 0, row, rows);
    size_t last = min_size(reach.end, plan->gemm.shape.m);
    assert_true(reach.end >= row + rows);
    for (size_t low = 0; low < 2 && low < rows; low++)
        for (size_t at = row; at + rows - low <= last; at++) {
            struct span one = patches_reach(plan, 0, at, rows - low);
            if (at + rows - low > row + rows) /* not a part of the first one */
                assert_true(one.begin == reach.k.begin && one.end == reach.k.end);
        }
    return reach.end - (row + rows);
}

static void tiles_reach_what_is_said_of_them(void **state)
{
    uint64_t random = fill_seed();
    size_t more = 0;
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        struct convolution_gemm plan;
        make_plan(&plan, &random);
        size_t rows =
            min_size(1 + random_below(&random, GEMM_F32_LISTED_HEIGHT), plan.gemm.shape.m);
        for (size_t row = 0; row + rows <= plan.gemm.shape.m; row++)
            more += check_rows(&plan, row, rows) > 0;
    }
    assert_true(more > CASES);
}

/* Nowhere in a row are all taps: three pixels have the last one, others behind them the first. */
static void no_tile_stands_for_those_of_a_kernel_wider_than_the_image(void **state)
{
    struct convolution_gemm plan = {
        .matrices = 1,
        .images = 1,
        .segment = CHANNELS,
        .gemm.shape = {.m = 30, .k = 5 * CHANNELS},
        .shape = {.batch = 1,
                  .ic = CHANNELS,
                  .in = {1, 3, 6},
                  .out = {1, 3, 10},
                  .kernel = {1, 1, 5},
                  .stride = {1, 1, 1},
                  .dilation = {1, 1, 2},
                  .padding = {0, 0, 5}},
    };
    (void)state;
    for (size_t row = 0; row + 7 <= plan.gemm.shape.m; row++)
        check_rows(&plan, row, 7);
}

/* A tile in the first row of dst is alone, one behind it stands for all up to the last row. */
static void tiles_between_the_edges_are_one_run(void **state)
{
    (void)state;
    for (neo_dim padding = 0; padding < 2; padding++) {
        struct convolution_gemm plan = {
            .matrices = 1,
            .images = 1,
            .segment = CHANNELS,
            .gemm.shape = {.m = 28 * 28, .k = 9 * CHANNELS},
            .shape = {.batch = 1,
                      .ic = CHANNELS,
                      .in = {1, 30 - 2 * padding, 30 - 2 * padding},
                      .out = {1, 28, 28},
                      .kernel = {1, 3, 3},
                      .stride = {1, 1, 1},
                      .dilation = {1, 1, 1},
                      .padding = {0, padding, padding}},
        };
        const struct convolution_call call = {.plan = &plan};
        size_t of_first = convolution_gemm_reach(&call, 0, 0, 7, 7).end;
        size_t of_next = convolution_gemm_reach(&call, 0, 4, 28, 7).end;
        assert_int_equal(of_first, padding ? 14 : 28 * 28);
        assert_int_equal(of_next, padding ? 27 * 28 : 28 * 28);
    }
}

/* The pixels whose first and last taps are in src. */
static void inner_pixels_are_those_without_padding(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * 3 * 3 * 4 * 6; i++) {
        struct convolution_shape s = {.in = {7 + i / 108 % 6},
                                      .kernel = {1 + i % 3},
                                      .stride = {1 + i / 3 % 3},
                                      .dilation = {1 + i / 9 % 3},
                                      .padding = {i / 27 % 4}};
        s.out[0] =
            (s.in[0] + 2 * s.padding[0] - (s.kernel[0] - 1) * s.dilation[0] - 1) / s.stride[0] + 1;
        struct span inner = convolution_inner_pixels(&s, 0);
        for (neo_dim x = 0; x < s.out[0]; x++) {
            neo_dim first = x * s.stride[0] - s.padding[0];
            bool is_inner = first >= 0 && first + (s.kernel[0] - 1) * s.dilation[0] < s.in[0];
            assert_true(is_inner == (x >= (neo_dim)inner.begin && x < (neo_dim)inner.end));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inner_pixels_are_those_without_padding),
        cmocka_unit_test(tiles_reach_what_is_said_of_them),
        cmocka_unit_test(no_tile_stands_for_those_of_a_kernel_wider_than_the_image),
        cmocka_unit_test(tiles_between_the_edges_are_one_run),
    };
    return cmocka_run_group_tests_name("convolution_reach", tests, NULL, NULL);
}
