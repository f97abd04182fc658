/* From the caller's boxes to a graph of conflicts, and from its plan back to offsets. */
#include "src/memory/plan/interval_plan.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/memory/plan/graph.h"

/* Boxes that a complete search is affordable for, and nodes visited for those and for others. */
#define SMALL_COUNT 12
#define SMALL_NODES 2000000
#define OTHER_NODES 20000

typedef struct planner {
    const plan_box *boxes;
    size_t box_count;
    uint32_t *item_of; /* per box */
    plan_item *items;
    size_t item_count;
    plan_graph graph;
} planner;

/* ---- checks ---- */

static neo_status refuse(size_t box, const char *why)
{
    log_check("memory plan: box %zu: %s", box, why);
    return NEO_INVALID_ARGUMENT;
}

static neo_status check_box(const plan_box *box, size_t i, bool timed)
{
    if (box->alignment & (box->alignment - 1))
        return refuse(i, "its alignment is not a power of two");
    if (!timed)
        return NEO_OK;
    if (box->start < 0)
        return refuse(i, "it starts before step 0");
    if (box->finish != PLAN_TO_THE_END && box->finish < box->start)
        return refuse(i, "it finishes before it starts");
    return NEO_OK;
}

static size_t alignment_of(const plan_box *box)
{
    return box->alignment ? box->alignment : 1;
}

/* Also proves that no offset the planner can come to wraps: none is above the sum of all sizes,
 * each with the worst padding. */
static neo_status check_boxes(const plan_box *boxes, size_t count, bool timed)
{
    if (count > PLAN_MAX_BOXES) {
        log_check("memory plan: %zu boxes are more than %d", count, PLAN_MAX_BOXES);
        return NEO_UNSUPPORTED;
    }
    size_t sum = 0, padded;
    for (size_t i = 0; i < count; i++) {
        neo_status status = check_box(&boxes[i], i, timed);
        if (status != NEO_OK)
            return status;
        /* the padding of one box may be due to the alignment of its cluster, hence twice */
        if (!checked_add(&padded, boxes[i].size, 2 * (alignment_of(&boxes[i]) - 1)) ||
            !checked_add(&sum, sum, padded))
            return refuse(i, "the sum of the sizes does not fit the address space");
    }
    return NEO_OK;
}

/* ---- clusters ---- */

static int64_t finish_of(const plan_box *box)
{
    return box->finish == PLAN_TO_THE_END ? INT64_MAX : box->finish;
}

static void begin_item(planner *p, uint32_t box)
{
    const plan_box *b = &p->boxes[box];
    p->item_of[box] = (uint32_t)p->item_count;
    p->items[p->item_count++] = (plan_item){b->start, finish_of(b), b->size, alignment_of(b), box};
}

static void extend_item(planner *p, uint32_t box, uint32_t with)
{
    const plan_box *b = &p->boxes[box];
    plan_item *item = &p->items[with];
    p->item_of[box] = with;
    item->start = b->start < item->start ? b->start : item->start;
    item->finish = finish_of(b) > item->finish ? finish_of(b) : item->finish;
    item->size = max_size(item->size, b->size);
    item->alignment = max_size(item->alignment, alignment_of(b));
}

typedef struct member {
    uint32_t cluster, box;
} member;

static int compare_members(const void *left, const void *right)
{
    const member *a = left, *b = right;
    if (a->cluster != b->cluster)
        return a->cluster < b->cluster ? -1 : 1;
    return a->box < b->box ? -1 : a->box > b->box;
}

static void make_items(planner *p, member *members)
{
    for (uint32_t i = 0; i < p->box_count; i++)
        members[i] = (member){p->boxes[i].cluster, i};
    qsort(members, p->box_count, sizeof *members, compare_members);
    for (size_t i = 0; i < p->box_count; i++) {
        uint32_t box = members[i].box, cluster = members[i].cluster;
        p->item_of[box] = PLAN_NO_ITEM;
        if (!p->boxes[box].size)
            continue;
        bool joins = p->item_count && cluster != PLAN_NO_CLUSTER &&
                     p->boxes[p->items[p->item_count - 1].first_box].cluster == cluster;
        if (joins)
            extend_item(p, box, (uint32_t)p->item_count - 1);
        else
            begin_item(p, box);
    }
}

static int compare_starts(const void *left, const void *right)
{
    const plan_item *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->finish != b->finish)
        return a->finish < b->finish ? -1 : 1;
    return a->first_box < b->first_box ? -1 : a->first_box > b->first_box;
}

static int compare_sizes(const void *left, const void *right)
{
    const plan_item *a = left, *b = right;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->first_box < b->first_box ? -1 : a->first_box > b->first_box;
}

/* Sorts the items and renumbers item_of; renamed has item_count entries. */
static void sort_items(planner *p, int (*compare)(const void *, const void *), uint32_t *renamed)
{
    uint32_t *old_item = renamed;
    plan_item *items = p->items;
    qsort(items, p->item_count, sizeof *items, compare);
    for (uint32_t i = 0; i < p->item_count; i++)
        old_item[p->item_of[items[i].first_box]] = i;
    for (size_t box = 0; box < p->box_count; box++)
        if (p->item_of[box] != PLAN_NO_ITEM)
            p->item_of[box] = old_item[p->item_of[box]];
}

/* ---- the whole ---- */

static neo_status connect(planner *p, const uint64_t *conflicts)
{
    plan_conflict_rows rows = {conflicts, p->item_of, p->box_count};
    return conflicts ? plan_graph_init_untimed(&p->graph, p->items, p->item_count, &rows)
                     : plan_graph_init_timed(&p->graph, p->items, p->item_count);
}

static neo_status find_plan(const plan_graph *graph, plan_best *best)
{
    if (!plan_place(graph, best))
        return NEO_OUT_OF_MEMORY;
    best->optimal = best->bytes == graph->lower_bound;
    uint64_t nodes = graph->count <= SMALL_COUNT ? SMALL_NODES : OTHER_NODES;
    if (!best->optimal && graph->count <= PLAN_MAX_SEARCHED && !plan_search(graph, nodes, best))
        return NEO_OUT_OF_MEMORY;
    best->optimal |= best->bytes == graph->lower_bound;
    return NEO_OK;
}

static void write_report(const planner *p, const plan_best *best, plan_report *report)
{
    size_t sum = 0;
    for (size_t i = 0; i < p->item_count; i++)
        sum += round_up(p->items[i].size, p->items[i].alignment);
    *report = (plan_report){best->bytes, p->graph.lower_bound, sum, best->optimal, best->method};
}

static neo_status plan_items(planner *p, const uint64_t *conflicts, size_t *offsets,
                             plan_report *report)
{
    plan_best best = {.bytes = SIZE_MAX, .offset = calloc(p->item_count, sizeof *best.offset)};
    neo_status status = best.offset ? connect(p, conflicts) : NEO_OUT_OF_MEMORY;
    if (status == NEO_OK)
        status = find_plan(&p->graph, &best);
    if (status == NEO_OK) {
        for (size_t box = 0; box < p->box_count; box++)
            offsets[box] = p->item_of[box] == PLAN_NO_ITEM ? 0 : best.offset[p->item_of[box]];
        write_report(p, &best, report);
    }
    free(best.offset);
    plan_graph_deinit(&p->graph);
    return status;
}

static neo_status run(planner *p, const uint64_t *conflicts, size_t *offsets, plan_report *report)
{
    neo_status status = NEO_OUT_OF_MEMORY;
    p->item_of = calloc(p->box_count, sizeof *p->item_of);
    p->items = calloc(p->box_count, sizeof *p->items);
    member *members = calloc(p->box_count, sizeof *members);
    uint32_t *renamed = calloc(p->box_count, sizeof *renamed);
    if (p->item_of && p->items && members && renamed) {
        make_items(p, members);
        sort_items(p, conflicts ? compare_sizes : compare_starts, renamed);
        status = NEO_OK;
    }
    free(renamed);
    free(members);
    if (status == NEO_OK && p->item_count) {
        status = plan_items(p, conflicts, offsets, report);
    } else if (status == NEO_OK) {
        memset(offsets, 0, p->box_count * sizeof *offsets);
        *report = (plan_report){.optimal = true, .method = "nothing to place"};
    }
    free(p->items);
    free(p->item_of);
    return status;
}

static neo_status plan(const plan_box *boxes, size_t count, const uint64_t *conflicts,
                       size_t *offsets, plan_report *report)
{
    neo_status status = check_boxes(boxes, count, !conflicts);
    if (status != NEO_OK)
        return status;
    *report = (plan_report){.optimal = true, .method = "nothing to place"};
    planner p = {.boxes = boxes, .box_count = count};
    return count ? run(&p, conflicts, offsets, report) : NEO_OK;
}

neo_status plan_intervals(const plan_box *boxes, size_t count, size_t *offsets, plan_report *report)
{
    return plan(boxes, count, NULL, offsets, report);
}

neo_status plan_conflicts(const plan_box *boxes, size_t count, const uint64_t *conflicts,
                          size_t *offsets, plan_report *report)
{
    return plan(boxes, count, conflicts, offsets, report);
}
