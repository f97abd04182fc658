/* The definition of Winograd's transforms. */
#include <math.h>

#include "kernels/winograd_f32.h"

enum { MOST = WINOGRAD_F32_POINTS };

static float element(const struct winograd_f32_matrix *matrix, size_t i, const float *in,
                     size_t step)
{
    float sum = 0;
    for (size_t j = 0; j < matrix->n; j++)
        sum = fmaf(matrix->values[i * matrix->n + j], in[j * step], sum);
    return sum;
}

/* values becomes rows * values * cols transposed, both with MOST columns. */
static void transform(const struct winograd_f32_matrix *rows,
                      const struct winograd_f32_matrix *cols, float values[MOST][MOST])
{
    float half[MOST][MOST];
    for (size_t y = 0; y < rows->m; y++)
        for (size_t x = 0; x < cols->n; x++)
            half[y][x] = element(rows, y, &values[0][x], MOST);
    for (size_t y = 0; y < rows->m; y++)
        for (size_t x = 0; x < cols->m; x++)
            values[y][x] = element(cols, x, half[y], 1);
}

static void input_channel(const struct winograd_f32_input *task, size_t lane, size_t c)
{
    float values[MOST][MOST];
    size_t rows = task->rows.n, cols = task->cols.n;
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < cols; x++)
            values[y][x] = task->pixels[(y * cols + x) * WINOGRAD_F32_LANES + lane][c];
    transform(&task->rows, &task->cols, values);
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < cols; x++) {
            const struct winograd_f32_target *target = &task->targets[y * cols + x];
            target->to[lane][(task->first + c) * target->step[lane]] = values[y][x];
        }
}

static void input(const struct winograd_f32_input *task)
{
    for (size_t lane = 0; lane < task->lanes; lane++)
        for (size_t c = 0; c < task->channels; c++)
            input_channel(task, lane, c);
}

static float clamp(float x, float low, float high)
{
    if (x < low) /* false for NaN, which stays */
        return low;
    return x > high ? high : x;
}

static void output(const struct winograd_f32_output *task)
{
    for (size_t c = 0; c < task->channels; c++) {
        float values[MOST][MOST] = {{0}};
        for (size_t u = 0; u < task->rows.n; u++)
            for (size_t v = 0; v < task->cols.n; v++)
                values[u][v] = task->sums[task->offsets[u * task->cols.n + v] + c];
        transform(&task->rows, &task->cols, values);
        for (size_t y = 0; y < task->height; y++)
            for (size_t x = 0; x < task->width; x++)
                task->dst[y * task->dst_row + x * task->dst_column + c] =
                    clamp(values[y][x] + (task->bias ? task->bias[c] : 0), task->low, task->high);
    }
}

const struct winograd_f32_kernel winograd_f32_ref = {"winograd_f32_ref", 0, input, output};
