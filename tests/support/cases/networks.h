/* The tensors of well-known networks, and of random ones, as boxes for the memory planner. */
#ifndef TESTS_SUPPORT_CASES_NETWORKS_H
#define TESTS_SUPPORT_CASES_NETWORKS_H

#include "src/memory/plan/interval_plan.h"

#define NETWORK_MAX_BOXES 512

typedef struct network_shape {
    const char *name;
    size_t (*fill)(plan_box *boxes); /* returns the number of boxes */
} network_shape;

/* f32, batch 1. */
extern const network_shape network_shapes[];
extern const size_t network_shape_count;

/* A random network: one tensor a step, each read by a few later steps, sizes over four decades. */
void network_random(plan_box *boxes, size_t count, uint64_t *seed);

/* Boxes that start anywhere and live up to max_life steps, sizes over two decades. */
void network_random_lives(plan_box *boxes, size_t count, size_t max_life, uint64_t *seed);

#endif
