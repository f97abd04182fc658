/* The provider that keeps packed weights in a file which processes share. */
#include "src/packed/file/provider.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/packed/allocator.h"
#include "src/packed/file/stamp.h"

enum { DEFAULT_LEASE_TIMEOUT_MS = 10000 };
enum { KNOWN_FLAGS = (NEO_WEIGHTS_VERIFY << 1) - 1 }; /* that one is the last */

static void file_statistics(void *context, neo_weights_statistics *out)
{
    struct file_provider *provider = context;
    file_lock(provider);
    out->fallbacks = provider->fallbacks;
    out->damaged = provider->damaged;
    out->rewrites = provider->rewrites;
    out->file_errno = -provider->last_error;
    out->file_status = io_status(provider->last_error);
    const struct file_generation *current = provider->current;
    struct io_identity file;
    if (current) {
        index_measure(&current->index, &out->live_bytes, &out->dead_bytes, &out->file_entries);
        out->damaged += current->index.lost + current->index.refused;
        out->generation = current->index.header.generation;
        if (io_identify(current->fd, &file) == 0)
            out->file_bytes = file.bytes;
    }
    file_unlock(provider);
}

static void file_destroy(void *context)
{
    struct file_provider *provider = context;
    if (!provider)
        return;
    generation_release(provider->current);
    pthread_mutex_destroy(&provider->mutex);
    free(provider->path);
    free(provider);
}

static const struct store_backend file_backend = {
    .entry_bytes = sizeof(struct file_entry),
    .find = file_find,
    .reserve = file_reserve,
    .commit = file_commit,
    .release = file_release,
    .statistics = file_statistics,
    .destroy = file_destroy,
};

/* What is wrong now is what makes a provider fail that may not do without the file. */
static int open_first(struct file_provider *provider)
{
    bool required = file_has(provider, NEO_WEIGHTS_REQUIRE_FILE);
    int error =
        current_follow_path(provider, required && !file_has(provider, NEO_WEIGHTS_READ_ONLY));
    if (!error && !file_has(provider, NEO_WEIGHTS_READ_ONLY))
        error = generation_check_writable(provider->current);
    else if (!error && provider->current->state > GENERATION_BLANK)
        error = -EILSEQ;
    if (error == -ENOENT && !required)
        return 0;
    provider->last_error = error;
    return error;
}

/* The program may change its folder later; the file stays the same one. */
static int absolute_path(const char *path, char **out)
{
    char *folder = *path == '/' ? strdup("") : getcwd(NULL, 0);
    if (!folder)
        return -errno;
    int made = asprintf(out, "%s%s%s", folder, *path == '/' ? "" : "/", path);
    if (made < 0)
        *out = NULL;
    free(folder);
    return made < 0 ? -ENOMEM : 0;
}

static neo_status provider_new(struct file_provider **out, const char *path,
                               const neo_weights_file_options *options)
{
    struct file_provider *provider = calloc(1, sizeof *provider);
    if (!provider)
        return NEO_OUT_OF_MEMORY;
    pthread_mutex_init(&provider->mutex, NULL);
    provider->options = *options;
    provider->boot = stamp_boot();
    if (!options->lease_timeout_ms)
        provider->options.lease_timeout_ms = DEFAULT_LEASE_TIMEOUT_MS;
    int error = absolute_path(path, &provider->path);
    if (error) {
        file_destroy(provider);
        return io_status(error);
    }
    *out = provider;
    return NEO_OK;
}

/* Without a file there is no provider. A file that cannot be made for want of its folder is no file
 * that was looked for and not found. */
static neo_status refuse_file(struct file_provider *provider, int error)
{
    bool is_made = !file_has(provider, NEO_WEIGHTS_READ_ONLY);
    log_warn("weights: '%s' cannot be used, and is required: %s", provider->path, strerror(-error));
    file_destroy(provider);
    return error == -ENOENT && is_made ? NEO_IO_ERROR : io_status(error);
}

neo_status neo_weights_file_provider_create(neo_weights_provider *out, const char *path,
                                            const neo_weights_file_options *options)
{
    if (!out)
        return log_refusal(__func__, "out is NULL");
    *out = (neo_weights_provider){.context = NULL};
    neo_weights_file_options wanted = {.flags = 0};
    if (options)
        wanted = *options;
    if (!path || !*path)
        return log_refusal(__func__, "path is NULL or empty");
    if (wanted.flags & ~(uint32_t)KNOWN_FLAGS)
        return log_refusal(__func__, "a flag is unknown");
    if (reserved_is_set(wanted.reserved))
        return log_refusal(__func__, RESERVED_IS_SET);
    if (!allocator_init(&wanted.allocator, &wanted.allocator))
        return log_refusal(__func__, "the allocator lacks allocate or release");
    struct file_provider *provider = NULL;
    neo_status status = provider_new(&provider, path, &wanted);
    if (!provider)
        return status;
    int error = open_first(provider);
    if (error == -ENOMEM || (error && file_has(provider, NEO_WEIGHTS_REQUIRE_FILE)))
        return refuse_file(provider, error);
    return store_create(out, &file_backend, provider, wanted.memory_limit_bytes);
}
