/* Which generation of the file is in force. */
#include <errno.h>

#include "src/packed/file/provider.h"

/* Entries in use stay counted when the file becomes another one. */
static void inherit_users(struct file_generation *fresh, const struct file_generation *old)
{
    for (size_t i = 0; i < old->index.count; i++) {
        const struct index_item *item = &old->index.items[i];
        neo_weights_key key = format_record_key(&item->record);
        struct index_item *heir = item->users ? index_find(&fresh->index, &key) : NULL;
        if (heir)
            heir->users = item->users;
    }
}

void current_replace(struct file_provider *provider, struct file_generation *fresh)
{
    if (provider->current)
        inherit_users(fresh, provider->current);
    generation_release(provider->current);
    provider->current = fresh;
}

static enum io_access access_of(const struct file_provider *provider, bool create)
{
    if (file_has(provider, NEO_WEIGHTS_READ_ONLY))
        return IO_READ;
    return create ? IO_CREATE : IO_WRITE;
}

int current_follow_path(struct file_provider *provider, bool create)
{
    if (provider->current && generation_is_current(provider->current, provider->path))
        return 0;
    struct file_generation *fresh;
    int error = generation_open(provider->path, access_of(provider, create), &fresh);
    if (error)
        return error == -ENOENT && provider->current && !create ? 0 : error;
    current_replace(provider, fresh);
    return 0;
}

struct index_item *current_find(const struct file_provider *provider, const neo_weights_key *key)
{
    struct index_item *item = provider->current ? index_find(&provider->current->index, key) : NULL;
    return item && index_item_is_usable(item) ? item : NULL;
}

struct index_item *current_locate(struct file_provider *provider, const neo_weights_key *key)
{
    struct index_item *item = current_find(provider, key);
    if (item)
        return item;
    int error = current_follow_path(provider, false);
    if (!error && provider->current)
        error = generation_refresh(provider->current, false);
    if (error && error != -ENOENT)
        provider->last_error = error;
    return current_find(provider, key);
}
