/* Objects of one size, kept for reuse. */
#include "src/core/slab.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"

struct slab_object {
    struct slab_object *next;
};

void slab_init(struct slab *slab, size_t object_bytes, size_t max_kept)
{
    *slab = (struct slab){.object_bytes = max_size(object_bytes, sizeof(struct slab_object)),
                          .max_kept = max_kept};
    lock_init(&slab->lock);
}

void slab_deinit(struct slab *slab)
{
    while (slab->kept) {
        struct slab_object *next = slab->kept->next;
        free(slab->kept);
        slab->kept = next;
    }
    lock_deinit(&slab->lock);
}

static size_t count_get(struct slab_stats *stats)
{
    stats->gets++;
    stats->peak_used = max_size(stats->peak_used, ++stats->used);
    return stats->used;
}

static struct slab_object *pop(struct slab *slab, size_t *used)
{
    lock_take(&slab->lock);
    struct slab_object *object = slab->kept;
    if (object) {
        slab->kept = object->next;
        slab->stats.kept--;
        *used = count_get(&slab->stats);
    }
    lock_give(&slab->lock);
    return object;
}

void *slab_get_counted(struct slab *slab, size_t *used)
{
    void *object = pop(slab, used);
    if (object)
        return object;
    object = malloc(slab->object_bytes);
    if (!object)
        return NULL;
    lock_take(&slab->lock);
    slab->stats.made++;
    *used = count_get(&slab->stats);
    lock_give(&slab->lock);
    return object;
}

void *slab_get(struct slab *slab)
{
    size_t used;
    void *object = slab_get_counted(slab, &used);
    return object ? memset(object, 0, slab->object_bytes) : NULL;
}

size_t slab_put(struct slab *slab, void *object)
{
    struct slab_object *link = object;
    lock_take(&slab->lock);
    size_t used = slab->stats.used -= object != NULL;
    if (!object) {
        lock_give(&slab->lock);
        return used;
    }
    if (slab->stats.kept < slab->max_kept) {
        link->next = slab->kept;
        slab->kept = link;
        slab->stats.kept++;
        link = NULL;
    }
    lock_give(&slab->lock);
    free(link);
    return used;
}

void slab_stats(struct slab *slab, struct slab_stats *out)
{
    lock_take(&slab->lock);
    *out = slab->stats;
    lock_give(&slab->lock);
}
