/* What a user without this library would do: OpenBLAS, and im2col in front of it. */
#include "benchdnn/timing/peer.h"

#include "benchdnn/driver.h"
#include "benchdnn/drivers/conv.h"
#include "benchdnn/drivers/matmul.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct peer {
    const struct problem *problem;
    const float *src, *weights;
    float *dst, *matrix; /* matrix: of im2col, or NULL */
    void (*run)(struct peer *);
};

static void gemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1, a,
                (blasint)k, b, (blasint)n, 0, c, (blasint)n);
}

static struct peer *create(const struct problem *p, const float *src, const float *weights,
                           void (*run)(struct peer *))
{
    struct peer *peer = bench_alloc(sizeof *peer);
    size_t elements = (size_t)dims_elements(&p->operands[DST].dims);
    *peer = (struct peer){.problem = p, .src = src, .weights = weights, .run = run};
    peer->dst = bench_alloc(elements * sizeof *peer->dst);
    return peer;
}

static bool is_f32(const struct problem *p)
{
    return p->operands[SRC].type == TYPE_F32 && p->operands[WEI].type == TYPE_F32;
}

/* ---- matmul: one call for each matrix ---- */

static void run_matmul(struct peer *peer)
{
    const struct matmul_shape *s = &peer->problem->matmul;
    int n = s->dst.count;
    int64_t rows = s->dst.at[n - 2], columns = s->dst.at[n - 1], k = s->src.at[n - 1];
    int64_t count = matmul_batch(s);
    for (int64_t b = 0; b < count; b++)
        gemm(rows, columns, k, peer->src + matmul_offset(&s->src, s, b),
             peer->weights + matmul_offset(&s->weights, s, b), peer->dst + b * rows * columns);
}

void *peer_matmul_create(const struct problem *p, const float *src, const float *weights)
{
    return is_f32(p) ? create(p, src, weights, run_matmul) : NULL;
}

/* ---- convolution: the image as a matrix of patches, unless it is one already ---- */

static bool is_pointwise(const struct conv_shape *c)
{
    bool all = true;
    for (int a = 0; a < SPATIAL; a++)
        all &= c->k[a] == 1 && c->s[a] == 1 && c->p[a] == 0 && c->right[a] == 0;
    return all;
}

static void run_conv(struct peer *peer)
{
    const struct conv_shape *c = &peer->problem->conv;
    int64_t image = c->i[0] * c->i[1] * c->i[2], points = c->o[0] * c->o[1] * c->o[2];
    int64_t icg = c->ic / c->g, ocg = c->oc / c->g, k = icg * c->k[0] * c->k[1] * c->k[2];
    for (int64_t plane = 0; plane < c->mb * c->g; plane++) {
        int64_t n = plane / c->g, g = plane % c->g;
        const float *src = peer->src + (n * c->ic + g * icg) * image;
        if (peer->matrix)
            conv_im2col(peer->matrix, c, src, 0, points);
        gemm(ocg, points, k, peer->weights + g * ocg * k, peer->matrix ? peer->matrix : src,
             peer->dst + (n * c->oc + g * ocg) * points);
    }
}

void *peer_conv_create(const struct problem *p, const float *src, const float *weights)
{
    if (!is_f32(p))
        return NULL;
    struct peer *peer = create(p, src, weights, run_conv);
    const struct conv_shape *c = &p->conv;
    int64_t rows = c->ic / c->g * c->k[0] * c->k[1] * c->k[2];
    if (!is_pointwise(c))
        peer->matrix = bench_alloc((size_t)(rows * c->o[0] * c->o[1] * c->o[2]) * sizeof(float));
    return peer;
}

/* ---- both ---- */

void peer_run(void *any)
{
    struct peer *peer = any;
    peer->run(peer);
}

void peer_destroy(void *any)
{
    struct peer *peer = any;
    if (!peer)
        return;
    free(peer->matrix);
    free(peer->dst);
    free(peer);
}

void peer_set_threads(int threads)
{
    openblas_set_num_threads(threads);
}

/* ---- what is printed ---- */

static struct {
    double log_sum;
    long count;
    bool has_regions;
} totals;

/* One line for a script: which problem, how much work, how it ended. */
void peer_report_regions(const struct problem *p, const char *state)
{
    struct text repro = {0};
    text_printf(&repro, "--%s ", p->driver->name);
    problem_print_body(&repro, p);
    printf("peer_regions,%.0f,%s,%s\n", p->driver->ops(p) / 2, state, text_get(&repro));
    text_deinit(&repro);
    totals.has_regions = true;
}

void peer_report(const struct problem *p, double ours_ms, double peer_ms)
{
    double gops = p->driver->ops(p) * 1e-9;
    double ratio = peer_ms / ours_ms;
    struct text repro = {0};
    text_printf(&repro, "--%s ", p->driver->name);
    problem_print_body(&repro, p);
    if (totals.count == 0)
        printf("peer,ours(ms),ours(GFLOP/s),openblas(ms),openblas(GFLOP/s),times faster,problem\n");
    printf("peer,%g,%.2f,%g,%.2f,%.3f,%s\n", ours_ms, gops / ours_ms * 1e3, peer_ms,
           gops / peer_ms * 1e3, ratio, text_get(&repro));
    text_deinit(&repro);
    if (ratio > 0 && isfinite(ratio)) {
        totals.log_sum += log(ratio);
        totals.count++;
    }
}

void peer_finish(void)
{
    if (totals.count)
        printf("peer: geometric mean over %ld problems: %.3f times as fast as openblas\n",
               totals.count, exp(totals.log_sum / (double)totals.count));
    if (totals.has_regions)
        printf("peer: the processor is emulated, so no time means anything: the regions above are "
               "for an instruction counter (make bench)\n");
}
