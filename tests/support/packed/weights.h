/* Packed weights for tests: entry i has its own key, size and bytes; files in a folder that goes.
 */
#ifndef TESTS_SUPPORT_PACKED_WEIGHTS_H
#define TESTS_SUPPORT_PACKED_WEIGHTS_H

#include <stdbool.h>

#include "neoprene/weights.h"

/* cmocka fixtures: *state is the path (a char *) of a file in a new folder; the folder goes after.
 */
int weights_folder_setup(void **state);
int weights_disk_folder_setup(void **state); /* not in memory */
int weights_folder_teardown(void **state);

#define WEIGHTS_TEST(name) \
    cmocka_unit_test_setup_teardown(name, weights_folder_setup, weights_folder_teardown)

neo_weights_key weights_key_of(uint32_t i, uint32_t version);

/* From 1 byte to some 300 KiB, most of them small. */
size_t weights_size_of(uint32_t i);
void weights_fill(void *data, size_t size, uint32_t i);
bool weights_are_right(const void *data, size_t size, uint32_t i);

/* Finds entry i or makes it; its bytes are compared. The blob stays pinned. */
neo_status weights_put(const neo_weights_provider *provider, uint32_t i, neo_weights_blob *blob);

/* The same without look_up(), and unpinned again. */
neo_status weights_add(const neo_weights_provider *provider, uint32_t i);

/* Finds entry i and compares its bytes: NEO_CORRUPT if they are wrong. */
neo_status weights_get(const neo_weights_provider *provider, uint32_t i);

neo_weights_statistics weights_statistics(const neo_weights_provider *provider);

/* A file provider, which must succeed. */
neo_weights_provider weights_open(const char *path, uint32_t flags);
void weights_close(const neo_weights_provider *provider);

uint64_t weights_file_bytes(const char *path);

/* Entries 0 to count - 1 into a file, or found in one; all must succeed. */
void weights_add_all(const char *path, uint32_t count);
void weights_get_all(const char *path, uint32_t count, uint32_t flags);

/* The sum of their sizes. */
uint64_t weights_unique_bytes(uint32_t count);

#endif
