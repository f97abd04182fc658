/* Winograd's algorithm, random convolutions: exact where it is exact, and within its bounds.
 * NEOPRENE_TEST_ROUND makes one alone. */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/cases/operands.h"
#include "tests/support/cases/winograd_case.h"
#include "tests/support/random.h"
#include "tests/support/rounds.h"
#include "tests/support/session.h"

/* Winograd wants four input channels. */
static const neo_dim ic_choices[] = {4, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 33, 50};
static const neo_dim oc_choices[] = {1, 1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 24, 33, 50};
static const neo_dim size_choices[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 17, 26};
static const neo_dim kernel_choices[][2] = {{0, 0}, {0, 0}, {1, 3}, {3, 1}, {0, 3}, {5, 5},
                                            {1, 5}, {5, 1}, {7, 1}, {1, 7}, {0, 7}, {7, 7}};
static const char *const plane_tags[] = {"nhwc", "nhwc", "nchw", "nchw", "chwn", "dcab", "acbd"};
static const char *const line_tags[] = {"nwc", "nwc", "ncw", "ncw", "bca", "cab", "cba"};

static void choose_dilation(struct winograd_case *row, uint64_t *seed)
{
    for (int i = 0; i < 2; i++)
        if (winograd_case_taps(row, i) > 1)
            row->kernel[2 + i] = (neo_dim)random_below(seed, 4);
}

/* Paddings of up to two pixels more than the kernel reaches. */
static void choose_space(struct winograd_case *row, int dimension, uint64_t *seed)
{
    neo_dim *size = dimension ? &row->width : &row->height,
            taps = winograd_case_taps(row, dimension);
    neo_dim extent = (taps - 1) * winograd_case_step(row, dimension) + 1;
    *size = RANDOM_OF(size_choices, seed);
    row->pad[dimension] = (neo_dim)random_below(seed, (size_t)extent + 2);
    row->right[dimension] = (neo_dim)random_below(seed, (size_t)extent + 2);
    if (*size + row->pad[dimension] + row->right[dimension] < extent)
        row->right[dimension] = extent;
}

static struct winograd_case choose_row(uint64_t *seed)
{
    struct winograd_case row = {.name = "random",
                                .batch = 1 + (neo_dim)random_below(seed, 3),
                                .ic = RANDOM_OF(ic_choices, seed),
                                .oc = RANDOM_OF(oc_choices, seed),
                                .grouped = random_below(seed, 4) == 0};
    memcpy(row.kernel, RANDOM_OF(kernel_choices, seed), sizeof *kernel_choices);
    if (random_below(seed, 4) == 0)
        choose_dilation(&row, seed);
    if (winograd_case_is_line(&row))
        row.height = 1;
    else
        choose_space(&row, 0, seed);
    choose_space(&row, 1, seed);
    row.src_tag =
        winograd_case_is_line(&row) ? RANDOM_OF(line_tags, seed) : RANDOM_OF(plane_tags, seed);
    row.dst_tag =
        winograd_case_is_line(&row) ? RANDOM_OF(line_tags, seed) : RANDOM_OF(plane_tags, seed);
    return row;
}

static void check_round(size_t round)
{
    uint64_t seed = round;
    struct winograd_case row = choose_row(&seed);
    neo_convolution_desc desc = winograd_case_desc(&row);
    struct operands operands = operands_make(engine, desc.dst.ndims, desc.dst.dims);
    const struct winograd_chain chains[] = {{0}, {operands.attributes, NULL, &operands}};
    print_message("round %zu: %s -> %s, %d images, %d to %d channels, %d x %d, kernel %d x %d, "
                  "steps %d x %d\n",
                  round, row.src_tag, row.dst_tag, (int)row.batch, (int)row.ic, (int)row.oc,
                  (int)row.height, (int)row.width, (int)winograd_case_taps(&row, 0),
                  (int)winograd_case_taps(&row, 1), (int)winograd_case_step(&row, 0),
                  (int)winograd_case_step(&row, 1));
    const struct winograd_chain *chain = &RANDOM_OF(chains, &seed);
    /* Dilated ones are refused with operands. */
    winograd_case_check(&row, false, winograd_case_is_dilated(&row) ? &chains[0] : chain);
    winograd_case_check(&row, true, &chains[0]);
    operands_free(&operands);
}

static void random_rows_are_exact_or_within_the_bounds(void **state)
{
    (void)state;
    rounds_run(60, 3000, check_round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_rows_are_exact_or_within_the_bounds),
    };
    return cmocka_run_group_tests_name("winograd_random", tests, session_setup, session_teardown);
}
