/* Packed weights for tests. */
#include "tests/support/packed/weights.h"

#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "src/packed/key.h"
#include "tests/support/temporary.h"
#include "tests/support/test.h"

enum { LAYOUT_ID = 7 };

static int make_folder(const char *parent, void **state)
{
    char *path;
    if (asprintf(&path, "%s/cache", temporary_folder_in(parent, "weights")) < 0)
        return -1;
    *state = path;
    return 0;
}

int weights_folder_setup(void **state)
{
    static const char memory[] = "/dev/shm"; /* these tests write much, and sync often */
    const char *parent = getenv("TMPDIR");
    if (!parent)
        parent = access(memory, W_OK) == 0 ? memory : "/tmp";
    return make_folder(parent, state);
}

int weights_disk_folder_setup(void **state)
{
    struct statfs system;
    bool disk = statfs("/var/tmp", &system) == 0 && system.f_type != TMPFS_MAGIC;
    return make_folder(disk && access("/var/tmp", W_OK) == 0 ? "/var/tmp" : ".", state);
}

int weights_folder_teardown(void **state)
{
    char *path = *state;
    *strrchr(path, '/') = 0;
    temporary_remove(path);
    free(path);
    return 0;
}

neo_weights_key weights_key_of(uint32_t i, uint32_t version)
{
    uint32_t layout[] = {LAYOUT_ID, version, 8, 12};
    neo_weights_key key;
    weights_key_init(&key, neo_weights_hash(&i, sizeof i), layout, count_of(layout));
    return key;
}

size_t weights_size_of(uint32_t i)
{
    static const size_t sizes[] = {100, 4096, 1, 70000, 255, 12345, 300000, 64};
    return sizes[i % count_of(sizes)] + i / count_of(sizes);
}

static unsigned char next_byte(uint32_t *x)
{
    *x = *x * 1664525u + 1013904223u;
    return (unsigned char)(*x >> 24);
}

static uint32_t seed_of(uint32_t i)
{
    return i * 2654435761u + 1;
}

void weights_fill(void *data, size_t size, uint32_t i)
{
    unsigned char *bytes = data;
    uint32_t x = seed_of(i);
    for (size_t at = 0; at < size; at++)
        bytes[at] = next_byte(&x);
}

/* Allocates nothing: it is called while allocations are made to fail. */
bool weights_are_right(const void *data, size_t size, uint32_t i)
{
    const unsigned char *bytes = data;
    uint32_t x = seed_of(i);
    bool right = size == weights_size_of(i);
    for (size_t at = 0; right && at < size; at++)
        right = bytes[at] == next_byte(&x);
    return right;
}

static neo_status check_blob(const neo_weights_provider *provider, const neo_weights_blob *blob,
                             uint32_t i)
{
    const void *data = provider->offset_to_addr(provider->context, blob->offset);
    bool right = data && (uintptr_t)data % blob->align == 0 && blob->layout_id == LAYOUT_ID &&
                 weights_are_right(data, blob->size, i);
    return right ? NEO_OK : NEO_CORRUPT;
}

static neo_status reserve_and_insert(const neo_weights_provider *provider, uint32_t i,
                                     neo_weights_blob *blob)
{
    neo_weights_key key = weights_key_of(i, 1);
    neo_weights_reservation reservation;
    neo_status status =
        provider->reserve_space(provider->context, &key, weights_size_of(i), 64, &reservation);
    if (status != NEO_OK)
        return status;
    if (reservation.data)
        weights_fill(reservation.data, reservation.size, i);
    status = provider->look_up_or_insert(provider->context, &key, &reservation, blob);
    return status == NEO_OK ? check_blob(provider, blob, i) : status;
}

neo_status weights_put(const neo_weights_provider *provider, uint32_t i, neo_weights_blob *blob)
{
    neo_weights_key key = weights_key_of(i, 1);
    if (provider->look_up(provider->context, &key, blob) == NEO_OK)
        return check_blob(provider, blob, i);
    return reserve_and_insert(provider, i, blob);
}

neo_status weights_add(const neo_weights_provider *provider, uint32_t i)
{
    neo_weights_blob blob;
    neo_status status = reserve_and_insert(provider, i, &blob);
    if (status == NEO_OK)
        provider->unpin(provider->context, blob.offset);
    return status;
}

neo_status weights_get(const neo_weights_provider *provider, uint32_t i)
{
    neo_weights_key key = weights_key_of(i, 1);
    neo_weights_blob blob;
    neo_status status = provider->look_up(provider->context, &key, &blob);
    if (status != NEO_OK)
        return status;
    status = check_blob(provider, &blob, i);
    provider->unpin(provider->context, blob.offset);
    return status;
}

neo_weights_statistics weights_statistics(const neo_weights_provider *provider)
{
    neo_weights_statistics statistics;
    provider->statistics(provider->context, &statistics);
    return statistics;
}

neo_weights_provider weights_open(const char *path, uint32_t flags)
{
    neo_weights_provider provider;
    neo_weights_file_options options = {.flags = flags};
    neo_status status = neo_weights_file_provider_create(&provider, path, &options);
    if (status != NEO_OK) {
        fprintf(stderr, "%s: %s\n", path, neo_status_text(status));
        abort();
    }
    return provider;
}

void weights_close(const neo_weights_provider *provider)
{
    provider->destroy(provider->context);
}

uint64_t weights_file_bytes(const char *path)
{
    struct stat file;
    return stat(path, &file) ? 0 : (uint64_t)file.st_size;
}

void weights_add_all(const char *path, uint32_t count)
{
    neo_weights_provider provider = weights_open(path, 0);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(weights_add(&provider, i), NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 0);
    weights_close(&provider);
}

void weights_get_all(const char *path, uint32_t count, uint32_t flags)
{
    neo_weights_provider provider = weights_open(path, flags);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(weights_get(&provider, i), NEO_OK);
    neo_weights_statistics statistics = weights_statistics(&provider);
    assert_int_equal(statistics.hits, count);
    assert_int_equal(statistics.damaged, 0);
    weights_close(&provider);
}

uint64_t weights_unique_bytes(uint32_t count)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += weights_size_of(i);
    return bytes;
}
