/* Weights that stay packed while a program hands plain ones at every call. What they hold is read
 * each time, so weights that were changed in place, or others at the same address, are never taken
 * for those before. The engine's provider finds packed weights by that content; here the last ones
 * are kept, since a provider may give up what nobody holds. */
#include <pthread.h>

#include "compat/onednn/objects.h"

enum { KEPT = 512 };
static const size_t kept_bytes_limit = (size_t)1 << 30;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept {
    neo_packed_weights *weights;
    const void *data;
    size_t bytes;
    uint64_t used; /* by a clock that counts calls */
} kept[KEPT];
static int kept_count;
static size_t kept_bytes;
static uint64_t calls;

static struct kept *find(const void *data)
{
    for (int i = 0; i < kept_count; i++)
        if (kept[i].data == data)
            return &kept[i];
    return NULL;
}

/* Takes the least recently used one out, and returns it for its release outside of the lock. */
static neo_packed_weights *take_oldest(void)
{
    struct kept *oldest = &kept[0];
    for (int i = 1; i < kept_count; i++)
        if (kept[i].used < oldest->used)
            oldest = &kept[i];
    neo_packed_weights *weights = oldest->weights;
    kept_bytes -= oldest->bytes;
    *oldest = kept[--kept_count];
    return weights;
}

static int is_full(size_t more_bytes)
{
    return kept_count == KEPT || (kept_count > 0 && kept_bytes + more_bytes > kept_bytes_limit);
}

static void keep(neo_packed_weights *weights, const void *data, size_t bytes)
{
    pthread_mutex_lock(&lock);
    struct kept *entry = find(data);
    while (!entry && is_full(bytes)) {
        neo_packed_weights *oldest = take_oldest();
        pthread_mutex_unlock(&lock);
        neo_packed_weights_destroy(oldest);
        pthread_mutex_lock(&lock);
        entry = find(data); /* another thread may have kept it meanwhile */
    }
    if (!entry) {
        entry = &kept[kept_count++];
        *entry = (struct kept){
            .weights = neo_packed_weights_retain(weights), .data = data, .bytes = bytes};
        kept_bytes += bytes;
    }
    entry->used = ++calls;
    pthread_mutex_unlock(&lock);
}

neo_status kept_pack(neo_packed_weights **out, const neo_primitive_desc *pd,
                     const neo_memory *plain)
{
    neo_status status = neo_weights_pack(out, pd, shared_stream(), plain);
    if (status != NEO_OK)
        return status;
    const neo_memory *memory = neo_packed_weights_memory(*out);
    size_t bytes = neo_memory_desc_size(neo_memory_get_desc(memory));
    if (bytes <= kept_bytes_limit)
        keep(*out, neo_memory_get_handle(memory), bytes);
    return NEO_OK;
}
