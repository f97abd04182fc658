/* Orders CPUs by a key; a smaller key is taken earlier. */
#include "src/threading/affinity.h"

#include <stdlib.h>
#include <string.h>

#include "arch/nodes.h"
#include "src/core/checked.h"
#include "src/core/log.h"

neo_affinity affinity_from_environment(void)
{
    static const struct {
        const char *name;
        neo_affinity mode;
    } modes[] = {{"none", NEO_AFFINITY_NONE},
                 {"compact", NEO_AFFINITY_COMPACT},
                 {"spread", NEO_AFFINITY_SPREAD}};
    const char *text = secure_getenv("NEOPRENE_AFFINITY");
    for (size_t i = 0; text && i < count_of(modes); i++)
        if (!strcmp(text, modes[i].name))
            return modes[i].mode;
    if (text)
        log_warn("NEOPRENE_AFFINITY='%s' is not none, compact or spread; it is ignored", text);
    return NEO_AFFINITY_NONE;
}

struct affinity_machine affinity_this_machine(void)
{
    struct affinity_machine machine = {.first_node = 0};
    struct nodes nodes;
    if (!nodes_allowed(&nodes))
        return machine;
    machine.first_node = topology_current_node();
    machine.distance = nodes_distance;
    return machine;
}

/* What the order depends on; compared from the first member to the last. */
struct key {
    int part[6];
    int index;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    for (size_t i = 0; i < count_of(x->part); i++)
        if (x->part[i] != y->part[i])
            return x->part[i] < y->part[i] ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static int is_little(const struct topology_cpu *c)
{
    return c->class == TOPOLOGY_LITTLE;
}

static int nearness(const struct affinity_machine *machine, int node)
{
    if (node == machine->first_node)
        return 0;
    return machine->distance ? machine->distance(machine->first_node, node) : 1;
}

static int same_cluster(const struct topology_cpu *a, const struct topology_cpu *b)
{
    return a->node == b->node && a->package == b->package && a->cluster == b->cluster;
}

static int same_kind(const struct topology_cpu *a, const struct topology_cpu *b)
{
    return a->node == b->node && is_little(a) == is_little(b) && a->sibling == b->sibling;
}

/* How many CPUs of the same cluster and kind come before CPU i. */
static int rank_in_cluster(const struct topology *t, int i)
{
    int rank = 0;
    for (int j = 0; j < i; j++)
        rank += same_cluster(&t->cpus[i], &t->cpus[j]) && same_kind(&t->cpus[i], &t->cpus[j]);
    return rank;
}

/* How many clusters of the same node and kind come before that of CPU i; ranks[] by CPU. */
static int rank_of_cluster(const struct topology *t, int i, const int *ranks)
{
    const struct topology_cpu *c = &t->cpus[i];
    int rank = 0;
    for (int j = 0; j < t->count; j++) {
        const struct topology_cpu *other = &t->cpus[j];
        rank += !ranks[j] && same_kind(c, other) &&
                (other->package < c->package ||
                 (other->package == c->package && other->cluster < c->cluster));
    }
    return rank;
}

/* ranks has room for all CPUs. */
static void spread_keys(struct key *keys, int *ranks, const struct topology *t,
                        const struct affinity_machine *machine)
{
    for (int i = 0; i < t->count; i++)
        ranks[i] = rank_in_cluster(t, i);
    for (int i = 0; i < t->count; i++) {
        const struct topology_cpu *c = &t->cpus[i];
        keys[i] = (struct key){{is_little(c), c->sibling, ranks[i], rank_of_cluster(t, i, ranks),
                                nearness(machine, c->node), c->node},
                               i};
    }
}

static void compact_keys(struct key *keys, const struct topology *t,
                         const struct affinity_machine *machine)
{
    for (int i = 0; i < t->count; i++) {
        const struct topology_cpu *c = &t->cpus[i];
        keys[i] = (struct key){
            {is_little(c), nearness(machine, c->node), c->node, c->sibling, c->package, c->cluster},
            i};
    }
}

bool affinity_order(int *order, const struct topology *t, neo_affinity mode,
                    const struct affinity_machine *machine)
{
    struct key *keys = calloc((size_t)t->count, sizeof *keys);
    if (!keys)
        return false;
    if (mode == NEO_AFFINITY_SPREAD)
        spread_keys(keys, order, t, machine);
    else
        compact_keys(keys, t, machine);
    qsort(keys, (size_t)t->count, sizeof *keys, compare_keys);
    for (int i = 0; i < t->count; i++)
        order[i] = keys[i].index;
    free(keys);
    return true;
}
