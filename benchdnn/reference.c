/* The definition of every operation, in double, over values in natural order. */
#include "benchdnn/reference.h"

#include "benchdnn/drivers/conv.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- matrices ---- */

static void gemm_loops(const struct reference *r, int64_t m, int64_t n, int64_t k, const float *a,
                       const float *b, int64_t offset, int64_t ld)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = 0, magnitude = 0;
            for (int64_t p = 0; p < k; p++) {
                double product = (double)a[i * k + p] * (double)b[p * n + j];
                sum += product;
                magnitude += fabs(product);
            }
            r->result[offset + i * ld + j] = sum;
            if (r->magnitude)
                r->magnitude[offset + i * ld + j] = magnitude;
        }
    }
}

/* All sums are integers below 2^24, so f32 is as good as double. */
static void gemm_exact(const struct reference *r, int64_t m, int64_t n, int64_t k, const float *a,
                       const float *b, int64_t offset, int64_t ld)
{
    float *c = bench_alloc((size_t)(m * n) * sizeof *c);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1, a,
                (blasint)k, b, (blasint)n, 0, c, (blasint)n);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            r->result[offset + i * ld + j] = (double)c[i * n + j];
    }
    free(c);
}

static double *widen(const float *from, int64_t count, bool absolute)
{
    double *to = bench_alloc((size_t)count * sizeof *to);
    for (int64_t i = 0; i < count; i++)
        to[i] = absolute ? fabs((double)from[i]) : (double)from[i];
    return to;
}

static void gemm_double(double *out, int64_t m, int64_t n, int64_t k, const float *a,
                        const float *b, int64_t ld, bool absolute)
{
    double *wide_a = widen(a, m * k, absolute), *wide_b = widen(b, k * n, absolute);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1,
                wide_a, (blasint)k, wide_b, (blasint)n, 0, out, (blasint)ld);
    free(wide_b);
    free(wide_a);
}

static bool fits_blas(int64_t m, int64_t n, int64_t k)
{
    return m > 0 && n > 0 && k > 0 && m < INT32_MAX && n < INT32_MAX && k < INT32_MAX;
}

void reference_gemm(const struct reference *r, int64_t m, int64_t n, int64_t k, const float *a,
                    const float *b, int64_t offset, int64_t ld)
{
    if (!r->fast || !fits_blas(m, n, k)) {
        gemm_loops(r, m, n, k, a, b, offset, ld);
        return;
    }
    if (r->is_exact) {
        gemm_exact(r, m, n, k, a, b, offset, ld);
        return;
    }
    gemm_double(r->result + offset, m, n, k, a, b, ld, false);
    if (r->magnitude)
        gemm_double(r->magnitude + offset, m, n, k, a, b, ld, true);
}

/* ---- convolution by its definition ---- */

struct window {
    const struct conv_shape *shape;
    const float *src, *weights; /* of one image and group, of one output channel */
};

static void convolve_point(const struct window *w, const int64_t *at, double *sum,
                           double *magnitude)
{
    const struct conv_shape *c = w->shape;
    int64_t image = c->i[0] * c->i[1] * c->i[2], taps = c->k[0] * c->k[1] * c->k[2];
    for (int64_t kd = 0; kd < c->k[0]; kd++) {
        int64_t d = at[0] * c->s[0] - c->p[0] + kd * (c->d[0] + 1);
        for (int64_t kh = 0; kh < c->k[1] && d >= 0 && d < c->i[0]; kh++) {
            int64_t h = at[1] * c->s[1] - c->p[1] + kh * (c->d[1] + 1);
            for (int64_t kw = 0; kw < c->k[2] && h >= 0 && h < c->i[1]; kw++) {
                int64_t x = at[2] * c->s[2] - c->p[2] + kw * (c->d[2] + 1);
                const float *src = w->src + (d * c->i[1] + h) * c->i[2] + x;
                const float *weights = w->weights + (kd * c->k[1] + kh) * c->k[2] + kw;
                for (int64_t i = 0; i < c->ic / c->g && x >= 0 && x < c->i[2]; i++) {
                    double product = (double)src[i * image] * (double)weights[i * taps];
                    *sum += product;
                    *magnitude += fabs(product);
                }
            }
        }
    }
}

static void conv_loops(const struct problem *p, const struct reference *r)
{
    const struct conv_shape *c = &p->conv;
    int64_t image = c->i[0] * c->i[1] * c->i[2], taps = c->k[0] * c->k[1] * c->k[2];
    int64_t icg = c->ic / c->g, ocg = c->oc / c->g, points = c->o[0] * c->o[1] * c->o[2];
    for (int64_t plane = 0; plane < c->mb * c->oc; plane++) {
        int64_t n = plane / c->oc, o = plane % c->oc, g = o / ocg;
        struct window w = {c, r->src + (n * c->ic + g * icg) * image, r->weights + o * icg * taps};
        for (int64_t point = 0; point < points; point++) {
            int64_t at[] = {point / c->o[2] / c->o[1], point / c->o[2] % c->o[1], point % c->o[2]};
            double sum = 0, magnitude = 0;
            convolve_point(&w, at, &sum, &magnitude);
            r->result[plane * points + point] = sum;
            if (r->magnitude)
                r->magnitude[plane * points + point] = magnitude;
        }
    }
}

/* ---- convolution as a product of matrices ---- */

/* The part of one output row that one tap sees: zeros outside of the image. */
static void copy_row(float *out, const float *row, const struct conv_shape *c, int64_t offset,
                     int64_t begin, int64_t end)
{
    int64_t s = c->s[2];
    for (int64_t x = begin; x < end; x++) {
        int64_t i = x * s + offset;
        out[x - begin] = i >= 0 && i < c->i[2] ? row[i] : 0;
    }
}

/* As copy_row, for stride 1: what is inside is one piece. */
static void copy_row_dense(float *out, const float *row, const struct conv_shape *c, int64_t offset,
                           int64_t begin, int64_t end)
{
    int64_t first = -offset > begin ? -offset : begin, last = c->i[2] - offset;
    first = first < end ? first : end;
    last = last < first ? first : last < end ? last : end;
    memset(out, 0, (size_t)(first - begin) * sizeof *out);
    memcpy(out + (first - begin), row + first + offset, (size_t)(last - first) * sizeof *out);
    memset(out + (last - begin), 0, (size_t)(end - last) * sizeof *out);
}

/* One row of the matrix: channel i, tap (kd, kh, kw). */
static void im2col_row(float *out, const struct conv_shape *c, const float *channel,
                       const int64_t *tap, int64_t begin, int64_t end)
{
    for (int64_t at = begin; at < end;) {
        int64_t y = at / c->o[2], x = at % c->o[2];
        int64_t stop = c->o[2] < x + end - at ? c->o[2] : x + end - at;
        int64_t d = y / c->o[1] * c->s[0] - c->p[0] + tap[0] * (c->d[0] + 1);
        int64_t h = y % c->o[1] * c->s[1] - c->p[1] + tap[1] * (c->d[1] + 1);
        int64_t offset = tap[2] * (c->d[2] + 1) - c->p[2];
        const float *row = channel + (d * c->i[1] + h) * c->i[2];
        if (d < 0 || d >= c->i[0] || h < 0 || h >= c->i[1])
            memset(out, 0, (size_t)(stop - x) * sizeof *out);
        else if (c->s[2] == 1)
            copy_row_dense(out, row, c, offset, x, stop);
        else
            copy_row(out, row, c, offset, x, stop);
        out += stop - x;
        at += stop - x;
    }
}

void conv_im2col(float *out, const struct conv_shape *c, const float *src, int64_t begin,
                 int64_t end)
{
    int64_t image = c->i[0] * c->i[1] * c->i[2];
    for (int64_t i = 0; i < c->ic / c->g; i++) {
        int64_t tap[3];
        for (tap[0] = 0; tap[0] < c->k[0]; tap[0]++) {
            for (tap[1] = 0; tap[1] < c->k[1]; tap[1]++) {
                for (tap[2] = 0; tap[2] < c->k[2]; tap[2]++) {
                    im2col_row(out, c, src + i * image, tap, begin, end);
                    out += end - begin;
                }
            }
        }
    }
}

/* Columns at a time, so that the matrix stays below a few million elements. */
static int64_t columns_at_once(int64_t rows, int64_t columns)
{
    int64_t limit = (INT64_C(4) << 20) / (rows ? rows : 1) + 1;
    return columns < limit ? columns : limit;
}

static void conv_gemm(const struct problem *p, const struct reference *r)
{
    const struct conv_shape *c = &p->conv;
    int64_t image = c->i[0] * c->i[1] * c->i[2], points = c->o[0] * c->o[1] * c->o[2];
    int64_t icg = c->ic / c->g, ocg = c->oc / c->g, k = icg * c->k[0] * c->k[1] * c->k[2];
    int64_t step = columns_at_once(k, points);
    float *matrix = bench_alloc((size_t)(k * step) * sizeof *matrix);
    for (int64_t plane = 0; plane < c->mb * c->g; plane++) {
        int64_t n = plane / c->g, g = plane % c->g;
        for (int64_t at = 0; at < points; at += step) {
            int64_t end = at + step < points ? at + step : points;
            conv_im2col(matrix, c, r->src + (n * c->ic + g * icg) * image, at, end);
            reference_gemm(r, ocg, end - at, k, r->weights + g * ocg * k, matrix,
                           (n * c->oc + g * ocg) * points + at, points);
        }
    }
    free(matrix);
}

void conv_reference(const struct problem *p, const struct reference *r)
{
    if (r->fast)
        conv_gemm(p, r);
    else
        conv_loops(p, r);
}
