/* Shape predictors: their settings, and buffers that are kept or given up. */
#include "neoprene/shape_predictor.h"

#include <stdlib.h>

#include "src/core/lock.h"
#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/memory/limits.h"
#include "src/memory/shapes/predict.h"
#include "src/memory/shapes/settings.h"
#include "src/memory/shapes/table.h"

__extension__ typedef unsigned __int128 wide;

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

/* ---- prediction ---- */

static const char *find_fault(const neo_shape_query *query)
{
    const neo_shape *shape = &query->shape;
    if (!query->id)
        return "there is no id";
    if (reserved_is_set(query->reserved))
        return RESERVED_IS_SET;
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
        found = shape_predict(predicted, record->own ? record->own : &predictor->settings, record,
                              query);
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
