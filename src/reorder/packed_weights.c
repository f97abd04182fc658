/* Packed weights: found by content, or packed by a reorder into the provider's memory. */
#include "neoprene/packed_weights.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arch/topology.h"
#include "neoprene/reorder.h"
#include "src/core/log.h"
#include "src/packed/source_key.h"
#include "src/primitive/memory.h"
#include "src/primitive/primitive.h"
#include "src/reorder/packed_weights.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"
#include "src/threading/float_mode.h"

struct neo_packed_weights {
    atomic_size_t refs;
    struct weights_use use;
    struct allocation
        own; /* weights whose elements overlap have no identity: a copy without a provider */
    struct constant *replica; /* instead of both: the copy of one NUMA node */
    neo_memory *memory;
};

/* ---- checks ---- */

static const char *source_wrong(const neo_primitive_desc *pd, const neo_stream *stream,
                                const neo_memory *plain)
{
    const neo_memory_desc *chosen = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    if (!chosen)
        return "the primitive has no weights";
    if (desc_is_runtime(chosen))
        return "the weights' sizes are not known yet";
    if (stream->engine != pd->implementation->engine || plain->engine != pd->implementation->engine)
        return "the stream or the weights belong to another engine";
    if (plain->desc.format_kind != NEO_FORMAT_STRIDED)
        return "the source is not in a plain layout";
    if (plain->desc.ndims != chosen->ndims || plain->desc.data_type != chosen->data_type)
        return "the source has another number of dimensions or data type than the primitive's "
               "weights";
    for (int i = 0; i < chosen->ndims; i++)
        if (plain->desc.dims[i] != chosen->dims[i])
            return "a size of the source is not that of the primitive's weights";
    if (!plain->handle && !desc_is_empty(chosen))
        return "the source has no buffer";
    return NULL;
}

/* ---- packing ---- */

struct packing {
    neo_engine *engine;
    neo_stream *stream;
    const neo_memory *plain;
    const neo_memory_desc *chosen;
    const neo_weights_content *known; /* NULL: to be found out */
};

static neo_status run_reorder(const struct packing *packing, neo_memory *to)
{
    neo_primitive_desc *pd;
    neo_primitive *primitive = NULL;
    neo_status status = neo_reorder_primitive_desc_create(
        &pd, packing->engine, &packing->plain->desc, packing->chosen, NULL);
    if (status != NEO_OK)
        return status;
    status = neo_primitive_create(&primitive, pd);
    if (status == NEO_OK) {
        neo_memory *from = (neo_memory *)(uintptr_t)packing->plain; /* only read */
        neo_exec_arg args[] = {{NEO_ARG_SRC, from}, {NEO_ARG_DST, to}};
        status = neo_primitive_execute(primitive, packing->stream, 2, args);
    }
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    return status;
}

/* Callers in other modes, and other processes, find these weights too: their bits follow from the
 * content alone. */
static neo_status pack_in_default_mode(const struct packing *packing, neo_memory *to)
{
    uint64_t callers = float_mode_swap(FLOAT_MODE_DEFAULT);
    neo_status status = run_reorder(packing, to);
    (void)float_mode_swap(callers);
    return status;
}

static neo_weights_content content_of(const struct packing *packing)
{
    return source_content(&packing->plain->desc, memory_first_element(packing->plain),
                          &packing->stream->parallel);
}

static bool is_known(const struct packing *packing)
{
    neo_weights_content content = content_of(packing);
    return content.low == packing->known->low && content.high == packing->known->high;
}

/* Writes the packed form to data, as providers ask for it. */
static neo_status pack_to(void *argument, void *data)
{
    const struct packing *packing = argument;
    if (packing->known && !is_known(packing)) {
        log_check("neo_weights_pack_known: the weights are not those of the content given");
        return NEO_CORRUPT;
    }
    neo_memory *to;
    neo_status status = neo_memory_create(&to, packing->chosen, packing->engine, data);
    if (status != NEO_OK)
        return status;
    status = pack_in_default_mode(packing, to);
    neo_memory_destroy(to);
    return status;
}

/* ---- a copy for each NUMA node ---- */

static neo_status build_replica(void *argument, void *data, size_t bytes)
{
    const struct weights_request *request = argument;
    (void)bytes;
    return request->pack(request->argument, data);
}

enum { CONTENT_WORDS = sizeof(neo_weights_content) / sizeof(uint32_t) };

static neo_status find_replica(neo_packed_weights *weights, neo_engine *engine,
                               const struct weights_request *wanted)
{
    const neo_weights_key *key = wanted->key;
    uint32_t words[CONTENT_WORDS + NEO_WEIGHTS_MAX_LAYOUT_WORDS];
    memcpy(words, &key->content, sizeof key->content);
    memcpy(words + CONTENT_WORDS, key->layout, key->layout_words * sizeof *key->layout);
    const struct constant_request request = {
        .key = words,
        .key_words = CONTENT_WORDS + key->layout_words,
        .memory = {.bytes = wanted->size, .alignment = wanted->align, .owner = "packed weights"},
        .build = build_replica,
        .argument = (void *)(uintptr_t)wanted,
        .node = topology_current_node(),
        .is_sealed = true,
    };
    return constants_get(&engine->replicas, &request, &weights->replica);
}

static neo_status acquire(neo_packed_weights *weights, neo_engine *engine,
                          const struct weights_request *request)
{
    if (atomic_load(&engine->wants_replicas))
        return find_replica(weights, engine, request);
    neo_weights_provider provider = engine_weights_get(&engine->weights);
    return weights_acquire(&weights->use, &provider, &engine->weights.memory, request);
}

static neo_status find_or_pack(neo_packed_weights *weights, struct packing *packing, size_t bytes)
{
    neo_weights_key key;
    if (!source_key(&key, &packing->plain->desc, packing->chosen)) {
        neo_allocation_request request = {
            .bytes = bytes, .kind = NEO_KIND_HEAP, .owner = "packed weights"};
        neo_status status = allocation_create(&packing->engine->memory, &request, &weights->own);
        packing->known = NULL; /* they have no content */
        return status == NEO_OK ? pack_to(packing, weights->own.data) : status;
    }
    key.content = packing->known ? *packing->known : content_of(packing);
    struct weights_request request = {.key = &key,
                                      .size = bytes,
                                      .align = LAYOUT_ALIGNMENT,
                                      .pack = pack_to,
                                      .argument = packing,
                                      .parallel = &packing->stream->parallel};
    return acquire(weights, packing->engine, &request);
}

/* What has been found or packed becomes a memory of this descriptor. */
static neo_status name_memory(neo_packed_weights *weights, neo_engine *engine,
                              const neo_memory_desc *desc)
{
    const void *data = weights->own.data ? weights->own.data : weights->use.data;
    data = weights->replica ? constant_data(weights->replica) : data;
    return neo_memory_create(&weights->memory, desc, engine, (void *)(uintptr_t)data);
}

static neo_status fill(neo_packed_weights *weights, struct packing *packing)
{
    size_t bytes = neo_memory_desc_size(packing->chosen);
    neo_status status = bytes ? find_or_pack(weights, packing, bytes) : NEO_OK;
    return status == NEO_OK ? name_memory(weights, packing->engine, packing->chosen) : status;
}

static neo_packed_weights *allocate(void)
{
    neo_packed_weights *weights = calloc(1, sizeof *weights);
    if (weights)
        atomic_init(&weights->refs, 1);
    return weights;
}

neo_status packed_weights_create(neo_packed_weights **out, neo_engine *engine,
                                 const neo_memory_desc *desc, const struct weights_request *request)
{
    neo_packed_weights *weights = allocate();
    if (!weights)
        return NEO_OUT_OF_MEMORY;
    neo_status status = acquire(weights, engine, request);
    if (status == NEO_OK)
        status = name_memory(weights, engine, desc);
    if (status == NEO_OK)
        *out = weights;
    else
        neo_packed_weights_destroy(weights);
    return status;
}

static neo_status make(neo_packed_weights **out, const neo_primitive_desc *pd, neo_stream *stream,
                       const neo_memory *plain, const neo_weights_content *known)
{
    neo_packed_weights *weights = allocate();
    if (!weights)
        return NEO_OUT_OF_MEMORY;
    struct packing packing = {pd->implementation->engine, stream, plain,
                              neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS), known};
    neo_status status = fill(weights, &packing);
    if (status != NEO_OK) {
        neo_packed_weights_destroy(weights);
        return status;
    }
    *out = weights;
    return NEO_OK;
}

neo_status neo_weights_pack(neo_packed_weights **out, const neo_primitive_desc *pd,
                            neo_stream *stream, const neo_memory *plain)
{
    if (out)
        *out = NULL;
    if (!out || !pd || !stream || !plain)
        return log_refusal(__func__, "a pointer is NULL");
    const char *wrong = source_wrong(pd, stream, plain);
    return wrong ? log_refusal(__func__, wrong) : make(out, pd, stream, plain, NULL);
}

neo_status neo_weights_pack_known(neo_packed_weights **out, const neo_primitive_desc *pd,
                                  neo_stream *stream, const neo_memory *plain,
                                  const neo_weights_content *content)
{
    if (out)
        *out = NULL;
    if (!out || !pd || !stream || !plain || !content)
        return log_refusal(__func__, "a pointer is NULL");
    const char *wrong = source_wrong(pd, stream, plain);
    return wrong ? log_refusal(__func__, wrong) : make(out, pd, stream, plain, content);
}

/* ---- identity and comparison ---- */

static const char *plain_wrong(const neo_stream *stream, const neo_memory *plain)
{
    if (plain->engine != stream->engine)
        return "the stream and the weights belong to different engines";
    if (plain->desc.format_kind != NEO_FORMAT_STRIDED || desc_is_runtime(&plain->desc))
        return "the source is not in a plain layout of known sizes";
    if (!plain->handle && !desc_is_empty(&plain->desc))
        return "the source has no buffer";
    return NULL;
}

neo_status neo_weights_identify(neo_weights_content *out, neo_stream *stream,
                                const neo_memory *plain)
{
    if (!out || !stream || !plain)
        return log_refusal(__func__, "a pointer is NULL");
    const char *wrong = plain_wrong(stream, plain);
    if (wrong)
        return log_refusal(__func__, wrong);
    if (desc_overlaps_itself(&plain->desc) || neo_data_type_bits(plain->desc.data_type) < 8)
        return NEO_UNSUPPORTED;
    *out = content_of(&(struct packing){.stream = stream, .plain = plain});
    return NEO_OK;
}

static const char *comparison_wrong(const neo_stream *stream, const neo_memory *packed,
                                    const neo_memory *plain)
{
    const char *wrong = plain_wrong(stream, plain);
    if (wrong)
        return wrong;
    if (packed->engine != stream->engine)
        return "the stream and the packed weights belong to different engines";
    if (packed->desc.format_kind != NEO_FORMAT_PACKED)
        return "the weights to compare with are not packed";
    if (!packed->handle && !desc_is_empty(&packed->desc))
        return "the packed weights have no buffer";
    return NULL;
}

static size_t count_differing(const void *a, const void *b, size_t bytes)
{
    const uint32_t *left = a, *right = b;
    size_t count = 0;
    for (size_t i = 0; i < bytes / sizeof *left; i++)
        count += left[i] != right[i];
    return count;
}

neo_status neo_weights_compare(size_t *differing, neo_stream *stream, const neo_memory *packed,
                               const neo_memory *plain)
{
    if (!differing || !stream || !packed || !plain)
        return log_refusal(__func__, "a pointer is NULL");
    const char *wrong = comparison_wrong(stream, packed, plain);
    if (wrong)
        return log_refusal(__func__, wrong);
    neo_memory *again;
    neo_status status =
        neo_memory_create(&again, &packed->desc, stream->engine, NEO_MEMORY_ALLOCATE);
    if (status != NEO_OK)
        return status;
    const struct packing packing = {stream->engine, stream, plain, &packed->desc, NULL};
    status = pack_in_default_mode(&packing, again);
    if (status == NEO_OK)
        *differing =
            count_differing(again->handle, packed->handle, neo_memory_desc_size(&packed->desc));
    neo_memory_destroy(again);
    return status;
}

/* ---- sharing ---- */

neo_memory *neo_packed_weights_memory(const neo_packed_weights *weights)
{
    return weights ? weights->memory : NULL;
}

neo_packed_weights *neo_packed_weights_retain(neo_packed_weights *weights)
{
    if (weights)
        atomic_fetch_add_explicit(&weights->refs, 1, memory_order_relaxed);
    return weights;
}

/* The memory object holds the engine, and the engine the provider: it goes last. */
void neo_packed_weights_destroy(neo_packed_weights *weights)
{
    if (!weights || atomic_fetch_sub_explicit(&weights->refs, 1, memory_order_acq_rel) != 1)
        return;
    weights_release(&weights->use);
    constant_release(weights->replica);
    allocation_destroy(&weights->own);
    neo_memory_destroy(weights->memory);
    free(weights);
}

/* ---- the engine's provider ---- */

static bool is_complete(const neo_weights_provider *p)
{
    return p->look_up && p->reserve_space && p->look_up_or_insert && p->cancel &&
           p->offset_to_addr && p->pin && p->unpin && p->statistics && p->destroy;
}

neo_status neo_engine_set_weights_provider(neo_engine *engine, const neo_weights_provider *provider)
{
    if (!engine)
        return log_refusal(__func__, "engine is NULL");
    if (provider && !is_complete(provider))
        return log_refusal(__func__, "the provider lacks a function");
    engine_weights_set(&engine->weights, provider);
    return NEO_OK;
}

neo_status neo_engine_set_weights_replicas(neo_engine *engine, int on)
{
    if (!engine)
        return log_refusal(__func__, "engine is NULL");
    atomic_store(&engine->wants_replicas, on != 0);
    return NEO_OK;
}

neo_status neo_engine_get_weights_statistics(neo_engine *engine, neo_weights_statistics *out)
{
    if (!engine || !out)
        return log_refusal(__func__, "a pointer is NULL");
    neo_weights_provider provider = engine_weights_get(&engine->weights);
    provider.statistics(provider.context, out);
    return NEO_OK;
}
