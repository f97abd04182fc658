/* The settings of a shape predictor, checked and with exact ratios. */
#ifndef SRC_MEMORY_SHAPES_SETTINGS_H
#define SRC_MEMORY_SHAPES_SETTINGS_H

#include <stdbool.h>

#include "neoprene/shape_predictor.h"

#define SHAPE_RATIO_ONE UINT64_C(1000000000)

/* A ratio in parts of SHAPE_RATIO_ONE: decimals with nine digits are exact. */
typedef struct shape_settings {
    neo_shape_predictor_settings given;
    uint64_t ratio, growth;
} shape_settings;

/* NEO_INVALID_ARGUMENT, with a reason in the log, when something is out of range. */
neo_status shape_settings_init(shape_settings *out, const neo_shape_predictor_settings *given);

/* Reads 'iterations bytes step ratio'; false, and *out is left alone, when text is not that. */
bool shape_settings_parse(const char *text, neo_shape_predictor_settings *out);

#endif
