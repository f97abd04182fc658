/* The bytes of a weights cache file, read, changed and written. */
#include "tests/support/packed/image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/packed/weights.h"
#include "tests/support/test.h"

struct image image_read(const char *path)
{
    struct image image = {.size = (size_t)weights_file_bytes(path)};
    image.bytes = malloc(image.size);
    int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, image.bytes, image.size), image.size);
    close(fd);
    return image;
}

void image_write(const struct image *image, const char *path)
{
    unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(fd, image->bytes, image->size), image->size);
    close(fd);
}

struct image image_of_entries(const char *path)
{
    neo_weights_provider provider = weights_open(path, 0);
    for (uint32_t i = 0; i < IMAGE_ENTRIES; i++)
        assert_int_equal(weights_add(&provider, i), NEO_OK);
    weights_close(&provider);
    return image_read(path);
}

struct format_record image_record(const struct image *image, uint32_t slot)
{
    struct format_record record;
    memcpy(&record, image->bytes + FORMAT_HEADER_BYTES + slot * FORMAT_RECORD_BYTES, sizeof record);
    return record;
}

void image_put_record(struct image *image, uint32_t slot, const struct format_record *record)
{
    memcpy(image->bytes + FORMAT_HEADER_BYTES + slot * FORMAT_RECORD_BYTES, record, sizeof *record);
}

void image_forge_record(struct image *image, uint32_t slot, struct format_record record)
{
    struct format_header header;
    memcpy(&header, image->bytes, sizeof header);
    format_record_seal(&record, slot, header.file_id);
    image_put_record(image, slot, &record);
}

void image_expect_loss(const char *path, uint32_t bad)
{
    neo_weights_provider provider = weights_open(path, 0);
    for (uint32_t i = 0; i < IMAGE_ENTRIES; i++)
        assert_int_equal(weights_get(&provider, i), i == bad ? NEO_NOT_FOUND : NEO_OK);
    assert_true(weights_statistics(&provider).damaged > 0);
    assert_int_equal(weights_add(&provider, bad), NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 0);
    weights_close(&provider);
    provider = weights_open(path, 0);
    for (uint32_t i = 0; i < IMAGE_ENTRIES; i++)
        assert_int_equal(weights_get(&provider, i), NEO_OK);
    assert_int_equal(weights_statistics(&provider).damaged, 0);
    weights_close(&provider);
}
