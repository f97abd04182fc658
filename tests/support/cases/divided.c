#include "tests/support/cases/divided.h"

#include "src/matmul/direct/direct.h"
#include "src/primitive/engine.h"
#include "tests/support/session.h"

void divided_count(struct divided *divided, const neo_matmul_desc *desc)
{
    struct problem problem = {
        .tensors = {[SRC] = desc->src, [WEIGHTS] = desc->weights, [DST] = desc->dst}};
    struct matmul_direct plan = {0};
    matmul_direct.choose(&matmul_direct, &problem, engine->cpu);
    matmul_direct.plan(&plan, &problem, engine->cpu);
    divided->parts += plan.passes.depth < plan.k;
    divided->copies += plan.passes.copies;
}

bool divided_may_copy(void)
{
    return !engine->cpu->core->in_order;
}
