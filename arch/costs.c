/* A row for cores that reorder instructions, and one for those that issue two in order. What hardly
 * depends on that is the same in both. */
#include "arch/costs.h"

/* clang-format off */
#define BLOCKS { \
    .group = 0.99, .depth = 0.97, .order = 0.985, .other = 1.02, .copies_move = 1.07, \
    .copies_gain = 0.9, .full = 0.8, .filling = 0.19, .pass = 0.85, .gaps = 0.8, .room = 0.9}
#define OTHER {.threads = 0.9, .waiting = 0.15, .fetched = 17.7, .images = 0.65, .results = 0.33, .loops = 16, .line = 0.75, .output = 1.5, .tap = 0.4, .integer_tap = 0.2}
#define WINOGRAD_LINES \
    .nearer = 8.5, .room = 0.97, .returns = 0.85, .stays = 0.75, .l1_room = 0.75, \
    .half_line = 0.75, .begins = 0.85, .source = 1.8, .colliding = 0.6, .images = 0.94, .one_block = (double)1 / 6
#define WINOGRAD_TRANSFORMS \
    .sums = 1.01, .wide = 0.8, .input = 1.95, .output = 1.05, .planes_in = 0.55, \
    .planes_out = 0.3, .copied_in = 1.2, .line_channel = 3.5

static const struct costs costs[] = {
    [0] = {
        .gemm = {
            .crowding = 0.06, .counting = 0.25, .tail_counting = 0.5, .few_rounds = 1.5, .rounds = 0.5,
            .parts = 2.5, .a = 0.5, .b = 0.25, .tile = 30, .ragged = 20,
            .packed_sums = 1.05, .planes_sums = 1.01, .swapped = 1},
        .direct = {
            .all = 40, .matrix = 8, .last = 25, .turned_last = 80, .crowding = 0.03, .counting = 0.5, .tail_loads = 1.5, .tail_sums = {0, 0.75, 2, 7},
            .shallow_vector = 0.5, .shallow_row = 0.25, .turned = 0.45, .turn = 130, .turned_strip = 30, .l1_room = 0.92},
        .dot = {.call = 45, .gathers = 170, .k_part = 1.4, .last_call = 1.25, .third_column = 1.5, .matrix = 90, .value = 0.75},
        .lines = {
            .call = 245, .walk = 110, .moved = 2.4, .moved_few = 1.7, .moved_part = 11.5, .result = 1,
            .shared = 0.55, .part = 1.3, .block_product = 1.5},
        .pixels = {
            .sums = 1, .tuned_sums = 1, .one_vector = 1.15, .kernel_row = 1.5, .copied = 0.6,
            .listed_sums = 1, .listed_rest = 0.7, .line = 1.5, .least_slowness = 0.8, .halves = 1.5,
            .output = 0.8, .ragged_output = 4.5, .input = 1.5, .rows = 2.5},
        .patches = {
            .address = 1.5, .table = 1.5, .pixel = 2.2, .least_panels = 2.5, .sums = 1.01, .ragged = 0.03,
            .lane_tap = 20, .lane_channel = 0.5, .transposed = 0.4, .beside = 1.05, .apart = 1.25,
            .near = 0.45, .far = 0.55, .load = 2.2, .store = 0.3},
        .winograd = {WINOGRAD_TRANSFORMS, WINOGRAD_LINES, .multipliers = 0.03, .copied_out = 0.5},
        .blocks = BLOCKS,
        .other = OTHER,
    },
    [IN_ORDER_NARROW] = {
        .gemm = {
            .step = 0.2, .crowding = 0.06, .tail_counting = 0.5, .narrow_load = 2.5, .narrow_sum = 1.25,
            .few_rounds = 1.5, .rounds = 0.5, .parts = 2.5, .a = 1.2, .b = 0.625, .tile = 60,
            .ragged = 15, .packed_wait = 1.25, .packed_row = 1.3, .packed_sums = 1.05,
            .planes_sums = 1.05, .swapped = 1.3},
        .direct = {
            .all = 40, .matrix = 8, .last = 28, .turned_last = 28, .low_wait = 0.25, .low_few_wait = 0.75,
            .crowded = {[3] = 0.25, [4] = 0.5, [5] = 1}, .crowded_few = {[3] = 0.75, [5] = 0.75, [6] = 1},
            .columns_step = 0.2, .few_columns = 64, .crowding = 0.06, .counting = 0.5, .tail_loads = 1.5,
            .tail_sums = {0, 0.75, 2, 7}, .odd_value = 1.1, .odd_step = 0.75, .odd_begin = 14, .odd_later = 6,
            .turned = 0.48, .turn = 45, .turned_strip = 12, .call = 160, .strip = 52, .vector = 30, .value = 1.06, .ragged = 137,
            .ragged_step = 3.9, .narrow = 139, .narrow_step = 9.8, .shallow = 58, .l1_room = 0.92},
        .dot = {
            .call = 35, .gathers = 100, .last_call = 1.25, .step = 0.05, .third_column = 1.5, .matrix = 80, .value = 5.2, .columns = 25,
            .many = 64, .tile = 8, .result = 8.6, .tile_vector = 11.6, .part = 13, .all = 67, .whole_tile = 19,
            .whole_result = 1.4, .few = 5, .one = 10.5, .few_vector = 9.3, .few_product = 2.35, .left = 11},
        .lines = {
            .call = 140, .walk = 70, .moved = 4.6, .moved_few = 2.9, .moved_part = 7.2, .result = 0.8,
            .shared = 1.5, .part = 2.9, .block_product = 1.5},
        .pixels = {
            .sums = 1.35, .tuned_sums = 1.025, .one_vector = 1.7, .spread = 1.4, .copied = 0.6,
            .listed_sums = 1.6, .listed_rest = 0.7, .line = 0.4, .least_slowness = 0.8, .halves = 1.5,
            .output = 0.8, .ragged_output = 4.5,
            .input = 1.5, .rows = 2.5},
        .patches = {
            .address = 1.5, .table = 1.5, .pixel = 2.2, .least_panels = 2.5, .sums = 1.03, .low = 0.1,
            .ragged = 0.03, .lane_tap = 50, .lane_channel = 1, .transposed = 0.6, .beside = 1.1, .apart = 1.25,
            .near = 0.45, .far = 0.55, .load = 2.2, .store = 0.3},
        .winograd = {WINOGRAD_TRANSFORMS, WINOGRAD_LINES, .waiting = 1.7, .copied_out = 0.1},
        .blocks = BLOCKS,
        .other = OTHER,
    },
};
/* clang-format on */
#undef BLOCKS
#undef OTHER
#undef WINOGRAD_LINES
#undef WINOGRAD_TRANSFORMS

const struct costs *core_costs(const struct core *core)
{
    return &costs[core->in_order];
}
