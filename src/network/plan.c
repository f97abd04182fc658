/* Plans: sizes, offsets, the arena, and what is remembered for shapes that come again. */
#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/memory/plan/check.h"
#include "src/network/network.h"
#include "src/primitive/engine.h"
#include "src/primitive/primitive.h"

/* What the predictor knows a buffer by, together with a name: names of tensors and of nodes may be
 * the same. */
enum { TENSOR, WORKSPACE, ARENA };

/* ---- what is needed ---- */

static neo_status grow_root(const neo_network *network, const struct network_tensor *t,
                            size_t *needed)
{
    size_t end;
    if (!checked_add(&end, t->root_offset, neo_memory_desc_size(&t->memory.desc)))
        return network_refuse("tensor", t->name, "its end does not fit the address space");
    const struct network_tensor *root = &network->tensors[t->root];
    if (!network_is_external(root)) {
        needed[t->root] = max_size(needed[t->root], end);
        return NEO_OK;
    }
    if (end > neo_memory_desc_size(&root->memory.desc))
        return network_refuse("tensor", t->name, "it is larger than what it is a view of");
    return NEO_OK;
}

static size_t scratchpad_bytes(const struct network_node *node, int threads)
{
    const neo_primitive_desc *pd = &node->primitive->desc;
    bool is_ours = pd->implementation->problem.attributes.scratchpad == NEO_SCRATCHPAD_USER;
    return is_ours ? neo_primitive_desc_scratchpad_size(pd, threads) : 0;
}

static neo_status find_needs(neo_network *network, size_t *needed)
{
    int n = network->tensor_count;
    memset(needed, 0, network->buffer_count * sizeof *needed);
    for (int i = 0; i < n; i++) {
        neo_status status = grow_root(network, &network->tensors[i], needed);
        if (status != NEO_OK)
            return status;
    }
    for (int i = 0; i < network->node_count; i++) {
        struct network_node *node = &network->nodes[i];
        if (node->primitive)
            node->workspace_bytes = scratchpad_bytes(node, network->threads);
        else if (node->workspace_of)
            node->workspace_bytes =
                node->workspace_of(node->context, node->passed_count, node->memories);
        needed[n + i] = node->workspace_bytes;
    }
    return NEO_OK;
}

/* ---- plans ---- */

static void plan_deinit(struct network_plan *plan)
{
    free(plan->needed);
    free(plan->sizes);
    free(plan->offsets);
    *plan = (struct network_plan){0};
}

void network_drop_plans(neo_network *network)
{
    for (int i = 0; i < network->plan_count; i++)
        plan_deinit(&network->plans[i]);
    plan_deinit(&network->spare);
    free(network->plans);
    network->plans = NULL;
    network->plan = NULL;
    network->plan_count = 0;
}

/* Makes the spare plan. */
static bool plan_init(neo_network *network)
{
    struct network_plan *plan = &network->spare;
    size_t n = network->buffer_count + 1;
    *plan = (struct network_plan){.needed = calloc(n, sizeof *plan->needed),
                                  .sizes = calloc(n, sizeof *plan->sizes),
                                  .offsets = calloc(n, sizeof *plan->offsets)};
    return plan->needed && plan->sizes && plan->offsets;
}

static void fill_boxes(const neo_network *network, const size_t *sizes, plan_box *boxes)
{
    for (size_t i = 0; i < network->buffer_count; i++)
        boxes[i] = (plan_box){.start = network->starts[i],
                              .finish = network->finishes[i],
                              .size = sizes[i],
                              .alignment = NETWORK_ALIGNMENT};
}

static neo_status find_offsets(const neo_network *network, const plan_box *boxes,
                               struct network_plan *plan)
{
    size_t n = network->buffer_count;
    plan_fault fault = {"", 0, 0};
    neo_status status;
    if (network->order == NEO_NETWORK_IN_ORDER) {
        status = plan_intervals(boxes, n, plan->offsets, &plan->report);
        if (status == NEO_OK)
            status = plan_check_intervals(boxes, n, plan->offsets, plan->report.bytes, &fault);
    } else {
        status = plan_conflicts(boxes, n, network->conflicts, plan->offsets, &plan->report);
        if (status == NEO_OK)
            status = plan_check_conflicts(boxes, n, network->conflicts, plan->offsets,
                                          plan->report.bytes, &fault);
    }
    if (status == NEO_CORRUPT)
        log_error("network: the memory plan is wrong: %s: %zu and %zu", fault.text, fault.first,
                  fault.second);
    return status;
}

/* Plans buffers of the plan's sizes. */
static neo_status solve(const neo_network *network, struct network_plan *plan)
{
    plan_box *boxes = calloc(network->buffer_count + 1, sizeof *boxes);
    if (!boxes)
        return NEO_OUT_OF_MEMORY;
    fill_boxes(network, plan->sizes, boxes);
    neo_status status = find_offsets(network, boxes, plan);
    free(boxes);
    return status;
}

/* A free place, or that of the plan that was not used for longest; never that of the one in use,
 * unless there is no other. */
static struct network_plan *find_place(neo_network *network)
{
    if (network->plan_count < network->max_plans)
        return &network->plans[network->plan_count];
    struct network_plan *oldest = &network->plans[0];
    for (int i = 1; i < network->plan_count; i++)
        if (network->plans[i].used < oldest->used)
            oldest = &network->plans[i];
    return oldest;
}

static void store_plan(neo_network *network, struct network_plan *plan)
{
    struct network_plan *place = find_place(network);
    if (place == &network->plans[network->plan_count])
        network->plan_count++;
    else
        plan_deinit(place);
    *place = *plan;
    network->plan = place;
}

static struct network_plan *find_plan(const neo_network *network, const size_t *needed)
{
    for (int i = 0; i < network->plan_count; i++)
        if (memcmp(network->plans[i].needed, needed, network->buffer_count * sizeof *needed) == 0)
            return &network->plans[i];
    return NULL;
}

/* ---- prediction ---- */

static bool is_dense(const neo_memory_desc *desc)
{
    size_t bytes;
    return checked_mul(&bytes, neo_memory_desc_elements(desc),
                       neo_data_type_bits(desc->data_type)) &&
           neo_memory_desc_size(desc) == div_up(bytes, 8);
}

/* The bytes that the predictor advises, or 0; the shape becomes a part of its history. */
static size_t predict(const neo_network *network, const struct network_tensor *t, bool fits)
{
    const neo_memory_desc *desc = &t->memory.desc;
    neo_shape_query query = {.id = t->name,
                             .flags = fits ? NEO_SHAPE_REUSED : 0,
                             .bits = neo_data_type_bits(desc->data_type),
                             .shape = {.ndims = desc->ndims}};
    memcpy(query.shape.dims, desc->dims, sizeof query.shape.dims);
    neo_shape shape;
    if (!is_dense(desc) || !neo_shape_predictor_predict(network->predictor, &query, &shape))
        return 0;
    size_t bytes = query.bits;
    for (int32_t d = 0; d < shape.ndims; d++)
        if (!checked_mul(&bytes, bytes, (size_t)shape.dims[d]))
            return 0;
    return div_up(bytes, 8);
}

/* Workspaces are predicted by their bytes. */
static size_t predict_workspace(const neo_network *network, const struct network_node *node,
                                bool fits)
{
    neo_shape_query query = {.id = node->name,
                             .output = WORKSPACE,
                             .flags = fits ? NEO_SHAPE_REUSED : 0,
                             .bits = 8,
                             .shape = {1, {(neo_dim)node->workspace_bytes}}};
    neo_shape shape;
    bool found = neo_shape_predictor_predict(network->predictor, &query, &shape);
    return found ? (size_t)shape.dims[0] : 0;
}

/* Keeps sizes that fit; returns true if all do. Sizes that do not become what is advised. */
static bool choose_sizes(neo_network *network, const struct network_plan *old,
                         struct network_plan *plan)
{
    bool all_fit = true;
    int n = network->tensor_count;
    for (size_t i = 0; i < network->buffer_count; i++) {
        size_t needed = plan->needed[i], advised = 0;
        bool is_tensor = i < (size_t)n;
        const char *name =
            is_tensor ? network->tensors[i].name : network->nodes[i - (size_t)n].name;
        if (!needed) {
            plan->sizes[i] = 0;
            continue;
        }
        bool fits = neo_shape_predictor_can_reuse_buffer(
            network->predictor, name, is_tensor ? TENSOR : WORKSPACE, old->sizes[i], needed);
        if (is_tensor)
            advised = predict(network, &network->tensors[i], fits);
        else
            advised = predict_workspace(network, &network->nodes[i - (size_t)n], fits);
        plan->sizes[i] = fits ? old->sizes[i] : max_size(needed, advised);
        all_fit &= fits;
    }
    return all_fit;
}

/* ---- the arena ---- */

static neo_status allocate_arena(neo_network *network, size_t bytes)
{
    neo_allocation_request request = {.bytes = bytes,
                                      .alignment = NETWORK_ALIGNMENT,
                                      .kind = network->kind,
                                      .owner = "network arena"};
    allocation_destroy(&network->arena); /* first: both at once may be too much */
    neo_status status = allocation_create(&network->engine->memory, &request, &network->arena);
    if (status == NEO_OK)
        network->counts.arena_allocations++;
    return status;
}

static neo_status see_to_arena(neo_network *network, size_t bytes)
{
    if (network->arena.data && neo_shape_predictor_can_reuse_buffer(network->predictor, "", ARENA,
                                                                    network->arena.bytes, bytes))
        return NEO_OK;
    return bytes ? allocate_arena(network, bytes) : NEO_OK;
}

static bool is_generous(const neo_network *network, const struct network_plan *plan)
{
    return memcmp(plan->sizes, plan->needed, network->buffer_count * sizeof *plan->sizes) != 0;
}

static void be_modest(const neo_network *network, struct network_plan *plan)
{
    memcpy(plan->sizes, plan->needed, network->buffer_count * sizeof *plan->sizes);
}

/* With the room that was advised, if there is so much memory, else with what is needed. */
static neo_status solve_and_allocate(neo_network *network, struct network_plan *plan)
{
    neo_status status = solve(network, plan);
    if (status != NEO_OK)
        return status;
    bool generous = is_generous(network, plan);
    if (!generous || neo_shape_predictor_can_preallocate(network->predictor, plan->report.bytes)) {
        status = see_to_arena(network, plan->report.bytes);
        if (status == NEO_OK || !generous)
            return status;
    }
    be_modest(network, plan);
    status = solve(network, plan);
    return status == NEO_OK ? see_to_arena(network, plan->report.bytes) : status;
}

/* ---- the whole ---- */

/* Takes what is in the spare plan, or leaves it there. */
static neo_status replan(neo_network *network)
{
    struct network_plan *spare = &network->spare, *known = find_plan(network, spare->needed);
    neo_status status;
    if (known) {
        network->plan = known;
        network->counts.plans_reused++;
        return see_to_arena(network, known->report.bytes);
    }
    status = solve_and_allocate(network, spare);
    if (status != NEO_OK)
        return status;
    network->counts.plans_made++;
    store_plan(network, spare);
    *spare = (struct network_plan){0};
    return NEO_OK;
}

/* The first plan is exact: nothing is known yet about how shapes will change. */
static neo_status make_first_plan(neo_network *network)
{
    struct network_plan *spare = &network->spare;
    const struct network_plan nothing = {.sizes = spare->offsets}; /* all 0 */
    choose_sizes(network, &nothing, spare);
    be_modest(network, spare);
    return replan(network);
}

static neo_status make_next_plan(neo_network *network)
{
    if (!choose_sizes(network, network->plan, &network->spare))
        return replan(network);
    network->counts.plans_kept++;
    return network->arena.data ? NEO_OK : see_to_arena(network, network->plan->report.bytes);
}

neo_status network_make_room(neo_network *network)
{
    if (!network->plans)
        network->plans = calloc((size_t)network->max_plans, sizeof *network->plans);
    if (!network->plans || (!network->spare.needed && !plan_init(network))) {
        plan_deinit(&network->spare);
        return NEO_OUT_OF_MEMORY;
    }
    neo_status status = find_needs(network, network->spare.needed);
    if (status == NEO_OK)
        status = network->plan ? make_next_plan(network) : make_first_plan(network);
    if (network->plan)
        network->plan->used = ++network->clock;
    return status;
}
