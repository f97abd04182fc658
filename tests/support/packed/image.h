/* The bytes of a weights cache file with some entries, to be damaged or forged. */
#ifndef TESTS_SUPPORT_PACKED_IMAGE_H
#define TESTS_SUPPORT_PACKED_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "src/packed/file/format.h"

/* How many entries there are, and a large one of them. */
enum { IMAGE_ENTRIES = 8, IMAGE_BIG = 3, IMAGE_BIG_BYTES = 70000 };

struct image {
    uint8_t *bytes; /* to be released with free() */
    size_t size;
};

struct image image_read(const char *path);

/* Makes a file with the entries and reads it. */
struct image image_of_entries(const char *path);

/* As a new file: who has the old one keeps it. */
void image_write(const struct image *image, const char *path);

struct format_record image_record(const struct image *image, uint32_t slot);

/* As an accident does it, and as a forger: with a checksum that is right. */
void image_put_record(struct image *image, uint32_t slot, const struct format_record *record);
void image_forge_record(struct image *image, uint32_t slot, struct format_record record);

/* Entry `bad` is not served, the others are; it is packed again into the file, and then all are
 * there. */
void image_expect_loss(const char *path, uint32_t bad);

#endif
