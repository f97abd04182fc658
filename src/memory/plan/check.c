/* The checker walks the boxes sorted by address: only address neighbours can overlap, and of those
 * it asks whether they are alive together. The planner goes by time; this goes by place. */
#include "src/memory/plan/check.h"

#include <stdlib.h>

/* The bytes [low, high) of a box and the hull of its cluster's life. */
typedef struct span {
    size_t low, high, box;
    int64_t start, finish;
} span;

static neo_status found(plan_fault *fault, const char *text, size_t first, size_t second)
{
    *fault = (plan_fault){text, first, second};
    return NEO_CORRUPT;
}

static neo_status check_one(const plan_box *box, size_t i, size_t offset, size_t bytes,
                            plan_fault *fault)
{
    if (box->alignment > 1 && box->size && offset % box->alignment)
        return found(fault, "a box is not aligned", i, i);
    if (offset > bytes || box->size > bytes - offset)
        return found(fault, "a box ends outside the arena", i, i);
    return NEO_OK;
}

typedef struct mate {
    uint32_t cluster;
    size_t box;
} mate;

static int by_cluster(const void *a, const void *b)
{
    const mate *left = a, *right = b;
    if (left->cluster != right->cluster)
        return left->cluster > right->cluster ? 1 : -1;
    return (left->box > right->box) - (left->box < right->box);
}

static int by_address(const void *a, const void *b)
{
    const span *left = a, *right = b;
    if (left->low != right->low)
        return left->low > right->low ? 1 : -1;
    return (left->box > right->box) - (left->box < right->box);
}

/* Gives every member [begin, end) of one cluster the life of all of them. */
static neo_status unite(const mate *mates, size_t begin, size_t end, span *spans, plan_fault *fault)
{
    int64_t start = INT64_MAX, finish = 0;
    for (size_t k = begin; k < end; k++) {
        const span *s = &spans[mates[k].box];
        if (s->low != spans[mates[begin].box].low)
            return found(fault, "boxes of one cluster are apart", mates[begin].box, mates[k].box);
        start = s->start < start ? s->start : start;
        finish = s->finish > finish ? s->finish : finish;
    }
    for (size_t k = begin; k < end; k++) {
        spans[mates[k].box].start = start;
        spans[mates[k].box].finish = finish;
    }
    return NEO_OK;
}

/* Empty boxes have no bytes and are nobody's mates. */
static neo_status unite_clusters(const plan_box *boxes, size_t count, span *spans,
                                 plan_fault *fault)
{
    mate *mates = malloc(count * sizeof *mates);
    if (!mates)
        return NEO_OUT_OF_MEMORY;
    size_t mate_count = 0;
    for (size_t i = 0; i < count; i++)
        if (boxes[i].cluster != PLAN_NO_CLUSTER && boxes[i].size)
            mates[mate_count++] = (mate){boxes[i].cluster, i};
    qsort(mates, mate_count, sizeof *mates, by_cluster);
    neo_status status = NEO_OK;
    for (size_t begin = 0, end; begin < mate_count && status == NEO_OK; begin = end) {
        for (end = begin + 1; end < mate_count && mates[end].cluster == mates[begin].cluster; end++)
            ;
        status = unite(mates, begin, end, spans, fault);
    }
    free(mates);
    return status;
}

static bool same_bytes(const plan_box *boxes, size_t a, size_t b)
{
    return boxes[a].cluster != PLAN_NO_CLUSTER && boxes[a].cluster == boxes[b].cluster;
}

static neo_status check_pairs(const plan_box *boxes, span *spans, size_t count, plan_fault *fault)
{
    qsort(spans, count, sizeof *spans, by_address);
    for (size_t i = 0; i < count; i++) {
        const span *a = &spans[i];
        for (size_t j = i + 1; j < count && spans[j].low < a->high; j++) {
            const span *b = &spans[j];
            if (b->low == b->high || same_bytes(boxes, a->box, b->box))
                continue;
            if (a->start <= b->finish && b->start <= a->finish)
                return found(fault, "two boxes that are alive together overlap", a->box, b->box);
        }
    }
    return NEO_OK;
}

neo_status plan_check_intervals(const plan_box *boxes, size_t count, const size_t *offsets,
                                size_t bytes, plan_fault *fault)
{
    neo_status status = NEO_OK;
    span *spans = malloc((count + 1) * sizeof *spans);
    if (!spans)
        return NEO_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && status == NEO_OK; i++) {
        const plan_box *box = &boxes[i];
        int64_t finish = box->finish == PLAN_TO_THE_END ? INT64_MAX : box->finish;
        status = check_one(box, i, offsets[i], bytes, fault);
        spans[i] = (span){offsets[i], offsets[i] + box->size, i, box->start, finish};
    }
    if (status == NEO_OK && count)
        status = unite_clusters(boxes, count, spans, fault);
    if (status == NEO_OK)
        status = check_pairs(boxes, spans, count, fault);
    free(spans);
    return status;
}

static bool are_apart(const plan_box *boxes, const size_t *offsets, size_t a, size_t b)
{
    return offsets[a] + boxes[a].size <= offsets[b] || offsets[b] + boxes[b].size <= offsets[a] ||
           !boxes[a].size || !boxes[b].size;
}

static neo_status check_row(const plan_box *boxes, size_t count, const uint64_t *row,
                            const size_t *offsets, size_t a, plan_fault *fault)
{
    for (size_t b = 0; b < count; b++) {
        bool conflict = row[b / 64] >> (b % 64) & 1;
        if (conflict && a != b && !same_bytes(boxes, a, b) && !are_apart(boxes, offsets, a, b))
            return found(fault, "two boxes in conflict overlap", a, b);
    }
    return NEO_OK;
}

/* Each bit of each member of a cluster is looked at by itself, so only their offsets are left. */
static neo_status check_clusters(const plan_box *boxes, size_t count, const size_t *offsets,
                                 plan_fault *fault)
{
    span *spans = malloc((count + 1) * sizeof *spans);
    if (!spans)
        return NEO_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        spans[i] = (span){offsets[i], offsets[i] + boxes[i].size, i, 0, 0};
    neo_status status = count ? unite_clusters(boxes, count, spans, fault) : NEO_OK;
    free(spans);
    return status;
}

neo_status plan_check_conflicts(const plan_box *boxes, size_t count, const uint64_t *conflicts,
                                const size_t *offsets, size_t bytes, plan_fault *fault)
{
    size_t row_words = (count + 63) / 64;
    neo_status status = NEO_OK;
    for (size_t i = 0; i < count && status == NEO_OK; i++)
        status = check_one(&boxes[i], i, offsets[i], bytes, fault);
    if (status == NEO_OK)
        status = check_clusters(boxes, count, offsets, fault);
    for (size_t i = 0; i < count && status == NEO_OK; i++)
        status = check_row(boxes, count, conflicts + i * row_words, offsets, i, fault);
    return status;
}
