/* The definition of Winograd's transforms and products. */
#include <math.h>

#include "kernels/elementwise/f32/clamp_ref.h"
#include "kernels/winograd/f32/winograd.h"

enum { MOST = WINOGRAD_F32_POINTS, GROUP = WINOGRAD_F32_GROUP };

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

static void gather(const struct winograd_f32_patch *task)
{
    for (size_t y = 0; y < task->rows; y++)
        for (size_t x = 0; x < task->cols; x++)
            for (size_t c = 0; c < task->channels; c++)
                task->dst[y * task->dst_row + c / GROUP * task->dst_group + x * GROUP + c % GROUP] =
                    task->src[(ptrdiff_t)y * task->src_row + (ptrdiff_t)x +
                              (ptrdiff_t)c * task->src_channel];
}

static void input_channel(const struct winograd_f32_input *task, size_t c)
{
    float values[MOST][MOST];
    size_t rows = task->rows.n, cols = task->cols.n;
    ptrdiff_t from = task->from + (ptrdiff_t)(c / GROUP * task->from_group + c % GROUP);
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < cols; x++)
            values[y][x] = task->pixels[x * rows + y][from];
    transform(&task->rows, &task->cols, values);
    for (size_t i = 0; i < rows * cols; i++) {
        size_t group = task->first + c / GROUP;
        size_t at = task->steps ? group * task->steps[i] : group * task->step + task->shift;
        task->targets[i][at + c % GROUP] = values[i / cols][i % cols];
    }
}

static void input(const struct winograd_f32_input *task)
{
    for (size_t c = 0; c < task->groups * GROUP; c++)
        input_channel(task, c);
}

static void block(const struct winograd_f32_products *task, size_t height, size_t width,
                  const float *a, const float *b, float *c)
{
    for (size_t i = 0; i < height; i++)
        for (size_t j = 0; j < width; j++) {
            float sum = 0;
            for (size_t p = 0; p < task->k; p++)
                sum = fmaf(a[(p / GROUP * height + i) * GROUP + p % GROUP], b[p * width + j], sum);
            c[i * WINOGRAD_F32_NR + j] = sum;
        }
}

static void products(const struct winograd_f32_products *task, size_t width)
{
    size_t padded = (task->k + GROUP - 1) / GROUP * GROUP;
    const float *a = task->a, *b = task->b;
    float *c = task->c;
    for (const uint8_t *height = task->heights; *height != WINOGRAD_F32_END; height++) {
        for (size_t panel = 0; panel < task->panels; panel++)
            block(task, *height, width, a, b + panel * width * task->k, c + panel * task->panel);
        a += *height * padded;
        b += *height == WINOGRAD_F32_PANEL ? task->point : 0;
        c += (size_t)*height * WINOGRAD_F32_NR;
    }
}

static void products_4(const struct winograd_f32_products *task)
{
    products(task, 4);
}

static void products_8(const struct winograd_f32_products *task)
{
    products(task, 8);
}

static void products_12(const struct winograd_f32_products *task)
{
    products(task, 12);
}

static void output(const struct winograd_f32_output *task)
{
    for (size_t c = 0; c < task->channels; c++) {
        float values[MOST][MOST] = {{0}};
        for (size_t u = 0; u < task->rows.n; u++)
            for (size_t v = 0; v < task->cols.n; v++)
                values[u][v] = task->sums[task->offsets[v * task->rows.n + u] / sizeof(float) + c];
        transform(&task->rows, &task->cols, values);
        for (size_t y = 0; y < task->height; y++)
            for (size_t x = 0; x < task->width; x++)
                task->dst[y * task->dst_row + x * task->dst_column + c * task->dst_channel] =
                    clamp(values[y][x] + (task->bias ? task->bias[c] : 0), task->low, task->high);
    }
}

const struct winograd_f32_kernel winograd_f32_ref = {
    .name = "winograd_f32_ref",
    .gather = gather,
    .input = input,
    .products = {products_4, products_8, products_12},
    .output = output,
    .same = 4,
};
