/* Predicts the next shape of a growing buffer from its last three. */
#include "src/memory/shapes/predict.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define CALLS_THAT_HALVE 8 /* of growth, when nothing grew */

/* ---- sizes: false when they do not fit ---- */

static bool count_elements(const neo_dim *dims, int32_t ndims, uint64_t *elements)
{
    wide product = 1;
    for (int32_t d = 0; d < ndims; d++) {
        product *= (uint64_t)dims[d];
        if (product > INT64_MAX)
            return false;
    }
    *elements = (uint64_t)product;
    return true;
}

static uint64_t bytes_of(uint64_t elements, size_t bits)
{
    wide bytes = ((wide)elements * bits + 7) / 8;
    return bytes > INT64_MAX ? INT64_MAX : (uint64_t)bytes;
}

static bool shape_bytes(const neo_shape *shape, size_t bits, uint64_t *bytes)
{
    uint64_t elements;
    if (!count_elements(shape->dims, shape->ndims, &elements))
        return false;
    *bytes = bytes_of(elements, bits);
    return *bytes < INT64_MAX;
}

/* ---- steps ---- */

/* The difference of the latest two shapes, if the one before was the same; false if not, if any
 * dimension shrank, or if nothing changed. */
static bool find_step(const shape_record *record, neo_dim *step)
{
    bool grows = false;
    for (int32_t d = 0; d < record->ndims; d++) {
        neo_dim now = record->shapes[0][d], before = record->shapes[1][d];
        step[d] = now - before; /* both >= 0 */
        if (step[d] < 0 || before - record->shapes[2][d] != step[d])
            return false;
        grows |= step[d] > 0;
    }
    return grows;
}

/* The bytes of one index of the dimensions that grow. */
static uint64_t row_bytes(const neo_shape_query *query, const neo_dim *step)
{
    wide elements = 1;
    for (int32_t d = 0; d < query->shape.ndims; d++)
        if (step[d] == 0 && elements <= INT64_MAX)
            elements *= (uint64_t)query->shape.dims[d];
    return elements > INT64_MAX ? INT64_MAX : bytes_of((uint64_t)elements, query->bits);
}

static bool is_step_small(const shape_settings *settings, const neo_shape_query *query,
                          const neo_dim *step, const neo_shape *grown, int64_t iterations)
{
    uint64_t now, then, most = (uint64_t)settings->given.max_iteration_bytes;
    for (int32_t d = 0; d < query->shape.ndims; d++)
        if (step[d] > settings->given.max_dim_step)
            return false;
    if (!shape_bytes(&query->shape, query->bits, &now) || !shape_bytes(grown, query->bits, &then))
        return false;
    if (settings->given.flags & NEO_PREDICTOR_ROW_BOUND)
        return row_bytes(query, step) <= most;
    return then - now <= (wide)most * (uint64_t)iterations;
}

static bool predict_steps(const shape_settings *settings, const neo_shape_query *query,
                          const shape_record *record, neo_shape *out)
{
    int64_t iterations = query->iterations > 0 ? query->iterations : settings->given.iterations;
    neo_dim step[NEO_MAX_NDIMS] = {0};
    neo_shape grown = query->shape;
    if (!iterations || !find_step(record, step))
        return false;
    for (int32_t d = 0; d < grown.ndims; d++) {
        neo_dim more;
        if (__builtin_mul_overflow(step[d], iterations, &more) ||
            __builtin_add_overflow(grown.dims[d], more, &grown.dims[d]))
            return false;
    }
    if (!is_step_small(settings, query, step, &grown, iterations))
        return false;
    *out = grown;
    return true;
}

/* ---- ratios ---- */

static bool scale(uint64_t value, uint64_t ratio, uint64_t *out)
{
    wide scaled = (wide)value * ratio / SHAPE_RATIO_ONE;
    if (scaled > INT64_MAX)
        return false;
    *out = (uint64_t)scaled;
    return true;
}

static void flatten(neo_shape *out, int32_t ndims, uint64_t elements)
{
    out->ndims = ndims;
    for (int32_t d = 0; d < ndims; d++)
        out->dims[d] = 1;
    out->dims[0] = (neo_dim)elements;
}

static bool predict_ratio(const shape_settings *settings, const neo_shape_query *query,
                          const shape_record *record, neo_shape *out)
{
    uint64_t now, before, then;
    if (settings->ratio == SHAPE_RATIO_ONE || query->flags & NEO_SHAPE_BLOCKED ||
        !query->shape.ndims)
        return false;
    if (!count_elements(record->shapes[0], record->ndims, &now) ||
        !count_elements(record->shapes[1], record->ndims, &before) ||
        !scale(now, settings->ratio, &then) || bytes_of(then, query->bits) == INT64_MAX)
        return false;
    if (!(settings->given.flags & NEO_PREDICTOR_ALWAYS_PAD) && (now <= before || then == now))
        return false;
    flatten(out, query->shape.ndims, then);
    return true;
}

/* The only dimension that grew, if none shrank; else -1. */
static int32_t growing_dim(const shape_record *record)
{
    int32_t found = -1;
    for (int32_t d = 0; d < record->ndims; d++) {
        if (record->shapes[0][d] == record->shapes[1][d])
            continue;
        if (record->shapes[0][d] < record->shapes[1][d] || found >= 0)
            return -1;
        found = d;
    }
    return found;
}

/* Long pauses between growths make it smaller, down to the plain ratio. */
static uint64_t decayed_growth(const shape_settings *settings, uint32_t quiet)
{
    uint32_t halvings = quiet / CALLS_THAT_HALVE;
    uint64_t excess = settings->growth - SHAPE_RATIO_ONE;
    uint64_t growth = SHAPE_RATIO_ONE + (halvings < 64 ? excess >> halvings : 0);
    return growth > settings->ratio ? growth : settings->ratio;
}

static bool predict_geometric(const shape_settings *settings, const neo_shape_query *query,
                              const shape_record *record, uint32_t quiet, neo_shape *out)
{
    uint64_t now, before, then, added;
    neo_shape grown = query->shape;
    if (!count_elements(record->shapes[0], record->ndims, &now) ||
        !count_elements(record->shapes[1], record->ndims, &before) || now <= before)
        return false;
    uint64_t unit = now; /* what is scaled: all elements, or one dimension of them */
    int32_t dim = growing_dim(record);
    if (dim < 0 && query->flags & NEO_SHAPE_BLOCKED)
        return false;
    if (dim >= 0)
        unit = (uint64_t)grown.dims[dim];
    if (!scale(unit, decayed_growth(settings, quiet), &then))
        return false;
    wide most = (wide)(uint64_t)settings->given.max_slack_bytes * 8 * unit / now / query->bits;
    added = then - unit;
    if (added > most)
        added = (uint64_t)most;
    if (!added)
        return false;
    if (dim >= 0)
        grown.dims[dim] += (neo_dim)added;
    else
        flatten(&grown, grown.ndims, unit + added);
    uint64_t bytes;
    if (!shape_bytes(&grown, query->bits, &bytes))
        return false;
    *out = grown;
    return true;
}

/* ---- the whole ---- */

/* A change of rank begins a new history. */
static void record_shape(shape_record *record, const neo_shape *shape)
{
    if (record->ndims != shape->ndims)
        record->count = 0;
    record->ndims = shape->ndims;
    memmove(record->shapes[1], record->shapes[0], sizeof record->shapes - sizeof record->shapes[0]);
    memcpy(record->shapes[0], shape->dims, (size_t)shape->ndims * sizeof *shape->dims);
    if (record->count < SHAPE_HISTORY)
        record->count++;
}

/* Returns how many calls passed without growth before this one. */
static uint32_t count_quiet(shape_record *record)
{
    uint64_t now, before;
    uint32_t quiet = record->quiet;
    if (record->count > 1 && count_elements(record->shapes[0], record->ndims, &now) &&
        count_elements(record->shapes[1], record->ndims, &before) && now > before)
        record->quiet = 0;
    else if (record->quiet < UINT32_MAX)
        record->quiet++;
    return quiet;
}

static bool predict_cache(const neo_shape_query *query, neo_shape *out)
{
    uint64_t bytes;
    neo_shape grown = query->shape;
    neo_dim *dim = &grown.dims[query->grow_dim];
    if (__builtin_add_overflow(*dim, query->iterations, dim) ||
        !shape_bytes(&grown, query->bits, &bytes))
        return false;
    *out = grown;
    return true;
}

bool shape_predict(neo_shape *out, const shape_settings *settings, shape_record *record,
                   const neo_shape_query *query)
{
    record_shape(record, &query->shape);
    uint32_t quiet = count_quiet(record);
    if (query->flags & NEO_SHAPE_REUSED)
        return false;
    if (query->flags & NEO_SHAPE_GROWS && query->iterations > 0)
        return predict_cache(query, out);
    if (record->count < SHAPE_HISTORY)
        return false;
    if (settings->given.flags & NEO_PREDICTOR_GEOMETRIC)
        return predict_geometric(settings, query, record, quiet, out);
    return predict_steps(settings, query, record, out) ||
           predict_ratio(settings, query, record, out);
}
