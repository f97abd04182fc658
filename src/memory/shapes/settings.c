/* Defaults, the environment variable, and checks of what the user gave. */
#include "src/memory/shapes/settings.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/env.h"
#include "src/core/log.h"
#include "src/core/reserved.h"

#define VARIABLE "NEOPRENE_MEM_PREALLOCATION"
#define MAX_RATIO 1000
#define TOKENS 4
#define TOKEN_BYTES 32

/* ---- the text form ---- */

/* Exactly TOKENS words between blanks. */
static bool split(const char *text, char tokens[TOKENS][TOKEN_BYTES])
{
    size_t count = 0;
    for (;;) {
        text += strspn(text, " \t");
        size_t length = strcspn(text, " \t");
        if (!length)
            return count == TOKENS;
        if (count == TOKENS || length >= TOKEN_BYTES)
            return false;
        memcpy(tokens[count], text, length);
        tokens[count++][length] = '\0';
        text += length;
    }
}

/* Digits, optionally a point and one to nine more: no sign, no exponent, no nan. */
static bool parse_ratio(char *text, double *out)
{
    uint64_t whole, fraction = 0, scale = 1;
    char *point = strchr(text, '.');
    if (point) {
        *point++ = '\0';
        size_t digits = strlen(point);
        if (digits > 9 || !parse_number(point, 0, SHAPE_RATIO_ONE, false, &fraction))
            return false;
        for (size_t i = 0; i < digits; i++)
            scale *= 10;
    }
    if (!parse_number(text, 1, MAX_RATIO, false, &whole) || (whole == MAX_RATIO && fraction))
        return false;
    *out = (double)(whole * scale + fraction) / (double)scale;
    return true;
}

bool shape_settings_parse(const char *text, neo_shape_predictor_settings *out)
{
    char tokens[TOKENS][TOKEN_BYTES];
    uint64_t iterations, bytes, step;
    double ratio;
    if (!split(text, tokens) || !parse_number(tokens[0], 0, INT32_MAX, false, &iterations) ||
        !parse_number(tokens[1], 0, INT64_MAX, false, &bytes) ||
        !parse_number(tokens[2], 0, INT64_MAX, false, &step) || !parse_ratio(tokens[3], &ratio))
        return false;
    out->iterations = (int64_t)iterations;
    out->max_iteration_bytes = (int64_t)bytes;
    out->max_dim_step = (int64_t)step;
    out->ratio = ratio;
    return true;
}

void neo_shape_predictor_get_default_settings(neo_shape_predictor_settings *out)
{
    if (!out)
        return;
    *out = (neo_shape_predictor_settings){
        .iterations = 10,
        .max_iteration_bytes = 16384,
        .max_dim_step = 2,
        .ratio = 1.1,
        .growth = 1.5,
        .max_slack_bytes = 64 << 20,
        .reclaim_factor = 10,
        .max_ids = 4096,
        .memory_percent = 90,
    };
    const char *text = secure_getenv(VARIABLE);
    if (text && !shape_settings_parse(text, out))
        log_warn("%s='%s' is not 'iterations bytes step ratio' as in '10 16384 2 1.1'; it is "
                 "ignored",
                 VARIABLE, text);
}

/* ---- checks ---- */

/* False for NaN as well. */
static bool is_ratio(double ratio)
{
    return ratio >= 1 && ratio <= MAX_RATIO;
}

static uint64_t exact(double ratio)
{
    return (uint64_t)(ratio * (double)SHAPE_RATIO_ONE + 0.5);
}

neo_status shape_settings_init(shape_settings *out, const neo_shape_predictor_settings *given)
{
    const struct {
        bool wrong;
        const char *what;
    } checks[] = {
        {given->iterations < 0 || given->iterations > INT32_MAX, "iterations"},
        {given->max_iteration_bytes < 0, "max_iteration_bytes"},
        {given->max_dim_step < 0, "max_dim_step"},
        {!is_ratio(given->ratio), "ratio"},
        {!is_ratio(given->growth), "growth"},
        {given->max_slack_bytes < 0, "max_slack_bytes"},
        {given->reclaim_factor < 0, "reclaim_factor"},
        {given->flags &
             ~(NEO_PREDICTOR_GEOMETRIC | NEO_PREDICTOR_ROW_BOUND | NEO_PREDICTOR_ALWAYS_PAD),
         "flags"},
        {given->max_ids < 1 || given->max_ids > 1 << 24, "max_ids"},
        {given->memory_percent < 0 || given->memory_percent > 100, "memory_percent"},
        {reserved_is_set(given->reserved), "a reserved member"},
    };
    for (size_t i = 0; i < count_of(checks); i++) {
        if (checks[i].wrong) {
            log_check("shape predictor: %s is out of range", checks[i].what);
            return NEO_INVALID_ARGUMENT;
        }
    }
    *out = (shape_settings){*given, exact(given->ratio), exact(given->growth)};
    return NEO_OK;
}
