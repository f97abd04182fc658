/* Weights in the layout that a primitive chose: made once, found again by content, shared by
 * all. */
#ifndef NEOPRENE_PACKED_WEIGHTS_H
#define NEOPRENE_PACKED_WEIGHTS_H

#include "neoprene/primitive.h"
#include "neoprene/weights.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the provider of an engine ---- */

/* Replaces the provider that neo_weights_pack() asks. The table is copied; the provider stays the
 * caller's and must live until it is replaced or the engine is gone. NULL: the engine's own memory
 * provider again. An engine begins with the file provider that NEOPRENE_WEIGHTS_CACHE names, or
 * with its own memory provider. What was packed before stays where it is.
 *
 * @return NEO_OK, NEO_INVALID_ARGUMENT (engine is NULL, or a function of the table is). */
NEO_API neo_status neo_engine_set_weights_provider(neo_engine *engine,
                                                   const neo_weights_provider *provider);

/* Counters of the provider in force.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (a NULL pointer). */
NEO_API neo_status neo_engine_get_weights_statistics(neo_engine *engine,
                                                     neo_weights_statistics *out);

/* on is not 0: from now on neo_weights_pack() gives every NUMA node a copy of its own, packed once
 * into memory bound to that node, and sealed: the caller gets that of the node it runs on. The
 * provider is not asked then, since its entries have one place. 0, as in the beginning: one copy
 * for all nodes.
 *
 * @return NEO_OK, NEO_INVALID_ARGUMENT (engine is NULL). */
NEO_API neo_status neo_engine_set_weights_replicas(neo_engine *engine, int on);

/* ---- packed weights ---- */

/* Packed weights, counted by references. Immutable: handles, streams, threads and batches share
 * them. */
typedef struct neo_packed_weights neo_packed_weights;

/* Brings weights into the layout that pd chose (neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS)).
 *
 * The provider is asked first, by a 128-bit hash of the weights' bytes and by the layout: weights
 * that are there already, also from another primitive, process or run, are not packed again. A
 * provider that fails is replaced by memory for this call and counted as a fallback. Whatever mode
 * the caller's floating-point unit is in, they are packed in the default one.
 *
 * @param out    receives the weights, or NULL on failure; release with
 *               neo_packed_weights_destroy().
 * @param pd     any primitive descriptor with weights.
 * @param stream whose threads do the packing.
 * @param plain  the weights in any plain layout; read only during the call, so that its buffer may
 *               be released afterwards.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (a NULL pointer, no weights in pd, another shape, type or
 *         engine, a packed source), NEO_UNSUPPORTED, NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_weights_pack(neo_packed_weights **out, const neo_primitive_desc *pd,
                                    neo_stream *stream, const neo_memory *plain);

/* The content of plain weights, by which neo_weights_pack() finds them. For weights without gaps it
 * is neo_weights_hash() of their bytes, so a tool can compute it when a model is written.
 *
 * @return NEO_OK, NEO_INVALID_ARGUMENT (a NULL pointer, no buffer, another engine, a packed
 *         source), NEO_UNSUPPORTED (elements overlap: such weights are packed anew each time; or
 *         elements are smaller than a byte). */
NEO_API neo_status neo_weights_identify(neo_weights_content *out, neo_stream *stream,
                                        const neo_memory *plain);

/* neo_weights_pack() for a caller who recorded the content, for example in the model's file:
 * nothing is hashed, and the buffer of plain is read only when the provider has no such entry. So a
 * mapped model is not even read from the disk.
 *
 * The content is believed: who passes that of other weights gets those. When the weights have to be
 * packed they are hashed and compared with it first, so nothing wrong gets into the provider.
 *
 * @return as neo_weights_pack(); NEO_CORRUPT if the weights are not what content says. */
NEO_API neo_status neo_weights_pack_known(neo_packed_weights **out, const neo_primitive_desc *pd,
                                          neo_stream *stream, const neo_memory *plain,
                                          const neo_weights_content *content);

/* Compares packed weights with plain ones: packs these anew and compares the bytes, padding too.
 *
 * @param packed    a memory in a packed layout, such as neo_packed_weights_memory() gives.
 * @param plain     weights of the same shape in any plain layout.
 * @param differing receives how many elements of the packed form differ in their bits; 0: equal.
 * @return NEO_OK, NEO_INVALID_ARGUMENT, NEO_UNSUPPORTED (no such packing), NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_weights_compare(size_t *differing, neo_stream *stream,
                                       const neo_memory *packed, const neo_memory *plain);

/* The weights as the memory to pass as NEO_ARG_WEIGHTS; owned by weights. NULL for NULL. Its buffer
 * may lie in a mapped file and must not be written. */
NEO_API neo_memory *neo_packed_weights_memory(const neo_packed_weights *weights);

/* One more reference; returns weights. */
NEO_API neo_packed_weights *neo_packed_weights_retain(neo_packed_weights *weights);

/* Drops a reference; with the last one the provider may give up the memory. NULL is fine. */
NEO_API void neo_packed_weights_destroy(neo_packed_weights *weights);

#ifdef __cplusplus
}
#endif

#endif
