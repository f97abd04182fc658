/* Predicts the next shapes of a growing buffer from its last three. */
#include "neoprene/shape_predictor.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/lock.h"
#include "src/core/log.h"
#include "src/memory/limits.h"
#include "src/memory/shape_settings.h"
#include "src/memory/shape_table.h"

__extension__ typedef unsigned __int128 wide;

#define CALLS_THAT_HALVE 8 /* of growth, when nothing grew */
#define FIRST_COOLDOWN 16
#define LAST_COOLDOWN 1024
#define SOON 64 /* calls after which missing a buffer that was given up is no mistake any more */

struct neo_shape_predictor {
    struct lock lock; /* of the table */
    shape_settings settings;
    shape_table table;
    uint64_t machine_bytes;
};

/* ---- making ---- */

neo_status neo_shape_predictor_create(neo_shape_predictor **out,
                                      const neo_shape_predictor_settings *settings)
{
    if (!out)
        return log_refusal(__func__, "out is NULL");
    *out = NULL;
    neo_shape_predictor_settings defaults;
    if (!settings) {
        neo_shape_predictor_get_default_settings(&defaults);
        settings = &defaults;
    }
    shape_settings checked;
    neo_status status = shape_settings_init(&checked, settings);
    if (status != NEO_OK)
        return status;
    neo_shape_predictor *predictor = calloc(1, sizeof *predictor);
    if (!predictor)
        return NEO_OUT_OF_MEMORY;
    predictor->settings = checked;
    predictor->machine_bytes = limits_read_machine("");
    status = shape_table_init(&predictor->table, settings->max_ids);
    if (status != NEO_OK) {
        free(predictor);
        return status;
    }
    lock_init(&predictor->lock);
    *out = predictor;
    return NEO_OK;
}

void neo_shape_predictor_destroy(neo_shape_predictor *predictor)
{
    if (!predictor)
        return;
    shape_table_deinit(&predictor->table);
    lock_deinit(&predictor->lock);
    free(predictor);
}

void neo_shape_predictor_clear(neo_shape_predictor *predictor)
{
    if (!predictor)
        return;
    lock_take(&predictor->lock);
    shape_table_clear(&predictor->table);
    lock_give(&predictor->lock);
}

static neo_status replace_settings(shape_table *table, const char *id, int32_t output,
                                   shape_settings *own)
{
    shape_record *record =
        own ? shape_table_get(table, id, output) : shape_table_find(table, id, output);
    if (!record)
        return own ? NEO_OUT_OF_MEMORY : NEO_OK;
    free(record->own);
    record->own = own;
    return NEO_OK;
}

neo_status neo_shape_predictor_set_id_settings(neo_shape_predictor *predictor, const char *id,
                                               int32_t output,
                                               const neo_shape_predictor_settings *settings)
{
    if (!predictor || !id)
        return log_refusal(__func__, "predictor or id is NULL");
    shape_settings *own = NULL;
    if (settings) {
        own = malloc(sizeof *own);
        neo_status status = own ? shape_settings_init(own, settings) : NEO_OUT_OF_MEMORY;
        if (status != NEO_OK) {
            free(own);
            return status;
        }
    }
    lock_take(&predictor->lock);
    neo_status status = replace_settings(&predictor->table, id, output, own);
    lock_give(&predictor->lock);
    if (status != NEO_OK)
        free(own);
    return status;
}

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

static bool predict(const shape_settings *settings, shape_record *record,
                    const neo_shape_query *query, neo_shape *out)
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

static const char *find_fault(const neo_shape_query *query)
{
    const neo_shape *shape = &query->shape;
    if (!query->id)
        return "there is no id";
    if (shape->ndims < 0 || shape->ndims > NEO_MAX_NDIMS)
        return "the number of dimensions is out of range";
    for (int32_t d = 0; d < shape->ndims; d++)
        if (shape->dims[d] < 0)
            return "a dimension is negative";
    if (query->flags & ~(NEO_SHAPE_REUSED | NEO_SHAPE_BLOCKED | NEO_SHAPE_GROWS))
        return "a flag is unknown";
    if (query->bits < 1 || query->bits > 1024)
        return "the bits of an element are out of range";
    if (query->flags & NEO_SHAPE_GROWS && (query->grow_dim < 0 || query->grow_dim >= shape->ndims))
        return "there is no dimension grow_dim";
    return NULL;
}

int neo_shape_predictor_predict(neo_shape_predictor *predictor, const neo_shape_query *query,
                                neo_shape *predicted)
{
    if (predicted)
        predicted->ndims = 0;
    const char *fault = predictor && query && predicted ? find_fault(query) : "a pointer is NULL";
    if (fault) {
        log_check("shape predictor: %s", fault);
        return 0;
    }
    lock_take(&predictor->lock);
    shape_record *record = shape_table_get(&predictor->table, query->id, query->output);
    bool found = false;
    if (record)
        found = predict(record->own ? record->own : &predictor->settings, record, query, predicted);
    lock_give(&predictor->lock);
    return found;
}

int neo_shape_predictor_predict_preallocation_shape(neo_shape_predictor *predictor, const char *id,
                                                    const neo_shape *current_shape, size_t bits,
                                                    int can_reuse_buffer, neo_shape *predicted)
{
    neo_shape_query query = {
        .id = id, .bits = bits, .flags = can_reuse_buffer ? NEO_SHAPE_REUSED : 0};
    if (current_shape)
        query.shape = *current_shape;
    return neo_shape_predictor_predict(predictor, current_shape ? &query : NULL, predicted);
}

/* ---- buffers ---- */

int neo_shape_predictor_can_preallocate(neo_shape_predictor *predictor, uint64_t bytes)
{
    if (!predictor)
        return 0;
    const neo_shape_predictor_settings *settings = &predictor->settings.given;
    uint64_t object =
        settings->max_object_bytes ? settings->max_object_bytes : predictor->machine_bytes;
    uint64_t total =
        settings->max_total_bytes ? settings->max_total_bytes : predictor->machine_bytes;
    uint64_t used = settings->used_bytes ? settings->used_bytes(settings->context) : 0;
    return bytes <= object &&
           ((wide)used + bytes) * 100 < (wide)total * (uint64_t)settings->memory_percent;
}

/* Giving up a buffer was wrong if its bytes are needed again soon. */
static void learn_from_growth(shape_record *record, uint64_t needed)
{
    bool was_wrong = record->given_up_bytes >= needed && record->since_given_up < SOON;
    if (was_wrong) {
        record->backoff = record->backoff ? record->backoff * 2 : FIRST_COOLDOWN;
        if (record->backoff > LAST_COOLDOWN)
            record->backoff = LAST_COOLDOWN;
        record->cooldown = record->backoff;
    } else if (record->since_given_up >= SOON) {
        record->backoff = 0;
    }
    record->given_up_bytes = 0;
}

static bool can_reuse(shape_record *record, uint64_t factor, uint64_t capacity, uint64_t needed)
{
    if (record->since_given_up < UINT32_MAX)
        record->since_given_up++;
    if (needed > capacity) {
        learn_from_growth(record, needed);
        return false;
    }
    if (record->cooldown) {
        record->cooldown--;
        return true;
    }
    if (!factor || (wide)needed * factor >= capacity)
        return true;
    record->given_up_bytes = capacity;
    record->since_given_up = 0;
    return false;
}

int neo_shape_predictor_can_reuse_buffer(neo_shape_predictor *predictor, const char *id,
                                         int32_t output, uint64_t capacity_bytes,
                                         uint64_t needed_bytes)
{
    if (!predictor || !id)
        return needed_bytes <= capacity_bytes;
    lock_take(&predictor->lock);
    shape_record *record = shape_table_get(&predictor->table, id, output);
    bool keep = needed_bytes <= capacity_bytes;
    if (record) {
        const shape_settings *settings = record->own ? record->own : &predictor->settings;
        keep = can_reuse(record, (uint64_t)settings->given.reclaim_factor, capacity_bytes,
                         needed_bytes);
    }
    lock_give(&predictor->lock);
    return keep;
}
