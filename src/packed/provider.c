/* Weights that a primitive uses. */
#include "src/packed/provider.h"

#include <stdbool.h>
#include <stdlib.h>

#include "src/core/env.h"
#include "src/core/log.h"
#include "src/packed/wanted.h"

/* Checks what the provider says it has: nothing is read that was not compared. */
static neo_status use_blob(struct weights_use *use, const neo_weights_provider *provider,
                           const neo_weights_blob *blob, const struct weights_request *request)
{
    const void *data = provider->offset_to_addr(provider->context, blob->offset);
    bool fits = data && blob->size == request->size && blob->align >= request->align &&
                (uintptr_t)data % request->align == 0;
    if (!fits) {
        log_warn("weights: the provider has %zu bytes at a multiple of %zu; %zu at %zu are wanted",
                 blob->size, blob->align, request->size, request->align);
        provider->unpin(provider->context, blob->offset);
        return NEO_CORRUPT;
    }
    *use = (struct weights_use){*provider, blob->offset, data};
    return NEO_OK;
}

/* *packing_failed tells a failure of pack() from one of the provider. */
static neo_status pack_into(struct weights_use *use, const neo_weights_provider *provider,
                            const struct weights_request *request, bool *packing_failed)
{
    void *context = provider->context;
    neo_weights_reservation reservation;
    neo_status status =
        provider->reserve_space(context, request->key, request->size, request->align, &reservation);
    if (status != NEO_OK)
        return status;
    if (reservation.data)
        status = request->pack(request->argument, reservation.data);
    if (status != NEO_OK) {
        *packing_failed = true;
        provider->cancel(context, &reservation);
        return status;
    }
    neo_weights_blob blob;
    status = provider->look_up_or_insert(context, request->key, &reservation, &blob);
    return status == NEO_OK ? use_blob(use, provider, &blob, request) : status;
}

static neo_status look_up(const neo_weights_provider *provider,
                          const struct weights_request *request, neo_weights_blob *blob)
{
    size_t before = weights_want_size(request->size);
    neo_status status = provider->look_up(provider->context, request->key, blob);
    (void)weights_want_size(before);
    return status;
}

static neo_status find_or_pack(struct weights_use *use, const neo_weights_provider *provider,
                               const struct weights_request *request, bool *packing_failed)
{
    neo_weights_blob blob;
    if (look_up(provider, request, &blob) == NEO_OK)
        return use_blob(use, provider, &blob, request);
    return pack_into(use, provider, request, packing_failed);
}

static neo_status acquire(struct weights_use *use, const neo_weights_provider *provider,
                          const neo_weights_provider *fallback,
                          const struct weights_request *request)
{
    bool packing_failed = false;
    *use = (struct weights_use){.data = NULL};
    neo_status status = find_or_pack(use, provider, request, &packing_failed);
    if (status == NEO_OK || packing_failed || !fallback)
        return status;
    log_warn("weights: the provider failed (%s); the weights are packed into memory",
             neo_status_text(status));
    return find_or_pack(use, fallback, request, &packing_failed);
}

/* A provider's functions do not speak of pools, and any of them may be a user's that calls ours. */
neo_status weights_acquire(struct weights_use *use, const neo_weights_provider *provider,
                           const neo_weights_provider *fallback,
                           const struct weights_request *request)
{
    const struct parallel *before = parallel_lend(request->parallel);
    neo_status status = acquire(use, provider, fallback, request);
    parallel_lend(before);
    return status;
}

neo_status weights_retain(const struct weights_use *use)
{
    return use->provider.pin(use->provider.context, use->offset);
}

void weights_release(struct weights_use *use)
{
    if (use->data)
        use->provider.unpin(use->provider.context, use->offset);
    *use = (struct weights_use){.data = NULL};
}

neo_status neo_weights_provider_from_environment(neo_weights_provider *out)
{
    if (!out)
        return log_refusal(__func__, "out is NULL");
    *out = (neo_weights_provider){.context = NULL};
    const char *path = secure_getenv("NEOPRENE_WEIGHTS_CACHE");
    if (!path || !*path)
        return NEO_NOT_FOUND;
    neo_weights_file_options options = {.flags = 0};
    env_number("NEOPRENE_WEIGHTS_CACHE_LIMIT", 0, UINT64_MAX, true, &options.limit_bytes);
    return neo_weights_file_provider_create(out, path, &options);
}
