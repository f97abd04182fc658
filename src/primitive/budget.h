/* Which algorithms stay within a memory budget. */
#ifndef SRC_PRIMITIVE_BUDGET_H
#define SRC_PRIMITIVE_BUDGET_H

#include "src/primitive/engine.h"
#include "src/primitive/selection.h"

/* selection_rank() by the engine's machine; of those that serve, algorithms that take more than the
 * problem's or the engine's budget have declined. One serves still, if one did.
 *
 * @return NEO_OK, NEO_OUT_OF_MEMORY. */
neo_status budget_rank(struct ranking *ranking, const struct problem *problem,
                       const neo_engine *engine);

#endif
