/* Winograd convolution: the scratchpad of one task, and of several.
 *
 * One task has strips that are best for the caches. Of several threads each has strips of its own,
 * as long as these are small; or all of them have one strip after the other together: its inputs
 * are transformed by all, some channels by each, and lie in the scratchpad once; then each has some
 * panels of output channels. So a scratchpad does not grow by whole strips with each thread, and
 * where weights are many and tiles few, no input is transformed twice. */
#include "src/convolution/winograd/winograd.h"

enum {
    ALL_BYTES = 64 << 20, /* of strips that all tasks have of their own, */
    TASK_BYTES = 1 << 20, /* unless that is less than this for each */
    LINE_BYTES = 64,
};

static size_t rows_of(const struct convolution_winograd *mine)
{
    return mine->most_rows ? mine->most_rows : mine->strip * mine->down * mine->across;
}

static size_t sum_bytes(const struct convolution_winograd *mine)
{
    return convolution_part(rows_of(mine) * WINOGRAD_F32_NR * mine->most_panels * sizeof(float));
}

void winograd_plan_scratch(struct convolution_winograd *mine)
{
    size_t points = mine->down * mine->across;
    size_t patch = mine->gathers || mine->shape.ic % WINOGRAD_F32_GROUP ? MOST_POINTS * CHUNK : 0;
    size_t patch_row = (size_t)WINOGRAD_F32_POINTS * CHUNK; /* and groups of padding are as far */
    mine->table_bytes = convolution_part(sizeof(struct strip));
    mine->input_bytes = convolution_part(
        (mine->slot ? (points + 1) * mine->slot : rows_of(mine) * mine->padded) * sizeof(float));
    mine->sum_bytes = mine->slot ? 0 : sum_bytes(mine);
    mine->zero_bytes = convolution_part(max_size(mine->padded, patch_row) * sizeof(float));
    mine->task_bytes = mine->table_bytes + mine->sum_bytes + mine->zero_bytes +
                       convolution_part(patch * sizeof(float));
    if (!mine->shares)
        mine->task_bytes += mine->input_bytes;
}

/* Sums take the place of inputs, a point's of fewer tiles. */
static void limit_slots(struct convolution_winograd *mine, size_t bytes)
{
    size_t points = mine->down * mine->across;
    size_t row = max_size(mine->padded, mine->panels * WINOGRAD_F32_NR) * sizeof(float);
    size_t lines = 2 * LINE_BYTES * (points + 1), room = bytes - min_size(lines, bytes);
    size_t tiles = room / row / (points + 1);
    mine->most_rows = tiles * points;
    mine->slot = winograd_slot(mine, tiles);
    mine->first = NULL;
}

bool winograd_limit_strips(struct convolution_winograd *mine, int threads)
{
    size_t most = max_size(ALL_BYTES / (size_t)threads, TASK_BYTES);
    size_t row = (mine->padded + WINOGRAD_F32_NR * mine->most_panels) * sizeof(float);
    size_t others = mine->table_bytes + mine->zero_bytes + 2 * SCRATCH_ALIGNMENT +
                    MOST_POINTS * CHUNK * sizeof(float);
    if (mine->task_bytes <= most)
        return true;
    size_t room = most - min_size(others, most);
    if (mine->slot)
        limit_slots(mine, room);
    else
        mine->most_rows = room / row;
    winograd_plan_scratch(mine);
    return mine->most_rows > 0;
}

/* As many panels at a time as one of the threads has, if their sums are not too many. */
void winograd_share_inputs(struct convolution_winograd *mine, int threads)
{
    size_t panel = rows_of(mine) * WINOGRAD_F32_NR * sizeof(float);
    size_t few = max_size(TASK_BYTES / max_size(panel, 1), 1);
    mine->most_panels =
        min_size(min_size(mine->most_panels, few), div_up(mine->panels, (size_t)threads));
    if (mine->slot)
        mine->first = NULL;
    mine->slot = 0;
    mine->shares = true;
    winograd_plan_scratch(mine);
}

/* Of tasks that have panels of shared strips. */
static size_t shared_bytes(const struct convolution_winograd *plan, size_t threads)
{
    struct convolution_winograd shared = *plan;
    winograd_share_inputs(&shared, 1);
    size_t panel = shared.sum_bytes / max_size(shared.most_panels, 1);
    size_t panels = min_size(shared.panels + threads - 1, threads * shared.most_panels);
    size_t others = shared.task_bytes - shared.sum_bytes + SCRATCH_ALIGNMENT;
    return shared.input_bytes + threads * others + convolution_part(panels * panel);
}

/* No less for more threads, of which some may be busy when it comes to it. */
size_t winograd_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_winograd *mine = plan;
    size_t count = (size_t)threads, task = mine->task_bytes;
    if (threads == 1)
        return task;
    size_t alone = min_size(count * task, max_size(ALL_BYTES, count * TASK_BYTES));
    return max_size(alone, shared_bytes(mine, count));
}
