/* What the last shapes of a buffer say about the next one. */
#ifndef SRC_MEMORY_SHAPES_PREDICT_H
#define SRC_MEMORY_SHAPES_PREDICT_H

#include <stdbool.h>

#include "src/memory/shapes/settings.h"
#include "src/memory/shapes/table.h"

/* Records the query's shape; returns whether *out is a prediction. Nothing is allocated. */
bool shape_predict(neo_shape *out, const shape_settings *settings, shape_record *record,
                   const neo_shape_query *query);

#endif
