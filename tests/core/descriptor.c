/* Images of descriptors: they are equal if descriptors are, and only then. */
#include "tests/support/test.h"

#include <string.h>

#include "src/core/checked.h"
#include "src/tensor/descriptor.h"

enum { MOST = 4096 };

struct described {
    neo_memory_desc desc;
    uint64_t image[DESC_IMAGE_WORDS];
};

struct set {
    struct described *all;
    size_t count;
};

static void add(struct set *set, const neo_memory_desc *desc)
{
    assert_true(set->count < MOST);
    struct described *one = &set->all[set->count++];
    one->desc = *desc;
    memset(one->image, 0xa5, sizeof one->image); /* what the image leaves is not looked at */
    desc_image(desc, one->image);
}

/* Its strides are those of a dense tensor with the i-th order of its dimensions, and each of them
 * one larger. */
static void add_order(struct set *set, neo_memory_desc desc, size_t i)
{
    int left[NEO_MAX_NDIMS], count = desc.ndims;
    neo_dim stride = 1;
    for (int d = 0; d < count; d++)
        left[d] = d;
    for (; count > 0; count--) {
        size_t at = i % (size_t)count;
        i /= (size_t)count;
        desc.strides[left[at]] = stride;
        stride *= desc.dims[left[at]];
        left[at] = left[count - 1];
    }
    add(set, &desc);
    for (int d = 0; d < desc.ndims; d++) {
        desc.strides[d]++;
        add(set, &desc);
        desc.strides[d]--;
    }
}

static void add_strided(struct set *set)
{
    static const struct {
        int ndims;
        neo_dim dims[NEO_MAX_NDIMS];
        size_t orders;
    } rows[] = {
        {1, {7}, 1},
        {1, {70000}, 1},
        {1, {0}, 1},
        {2, {1, 7}, 2},
        {2, {7, 1}, 2},
        {2, {3, (neo_dim)1 << 33}, 2},
        {3, {0, 5, 3}, 6},
        {4, {1, 1, 1, 1}, 2},
        {4, {2, 3, 1, 5}, 24},
        {4, {2, 3, 5, 70000}, 24},
        {5, {2, 1, 3, 4000, 5}, 120},
        {5, {2, 1, 3, 5000, 5}, 24},
        {8, {2, 1, 3, 1, 5, 2, 2, 2}, 8},
        {9, {2, 2, 2, 2, 2, 2, 2, 2, 2}, 8},
        {9, {2, 2, 2, 2, 1, 2, 2, 2, 2}, 8},
    };
    for (size_t r = 0; r < count_of(rows); r++)
        for (size_t i = 0; i < rows[r].orders; i++) {
            neo_memory_desc desc = {.ndims = rows[r].ndims,
                                    .data_type = i == 1 ? NEO_S8 : NEO_F32,
                                    .format_kind = NEO_FORMAT_STRIDED,
                                    .offset = i == 1 ? 3 : 0};
            memcpy(desc.dims, rows[r].dims, sizeof desc.dims);
            add_order(set, desc, i);
        }
}

static void add_packed(struct set *set)
{
    for (unsigned i = 0; i < 32; i++) {
        neo_memory_desc desc = {.ndims = 5,
                                .dims = {2, 8, i & 1 ? 4 : 5, 3, 3},
                                .data_type = NEO_F32,
                                .format_kind = NEO_FORMAT_PACKED,
                                .packed = {.id = i & 2 ? 1 : 2,
                                           .version = i & 4 ? 1 : 2,
                                           .panel = i & 8 ? 8 : 300,
                                           .grouped = i & 16 ? 1 : 0}};
        add(set, &desc);
    }
}

static bool images_are_equal(const struct described *a, const struct described *b)
{
    return (a->image[0] & 0xff) == (b->image[0] & 0xff) && desc_image_equal(a->image, b->image);
}

static void images_are_equal_if_descriptors_are(void **state)
{
    (void)state;
    struct set set = {test_malloc(MOST * sizeof(struct described)), 0};
    size_t equal = 0;
    add_strided(&set);
    add_packed(&set);
    for (size_t a = 0; a < set.count; a++)
        for (size_t b = 0; b <= a; b++) {
            const struct described *one = &set.all[a], *other = &set.all[b];
            bool are_equal = neo_memory_desc_equal(&one->desc, &other->desc) != 0;
            assert_int_equal(images_are_equal(one, other), are_equal);
            equal += are_equal && a != b;
        }
    assert_true(equal > 0);
    test_free(set.all);
}

/* So an execution compares two words, whatever order its tensors have. */
static void dense_images_have_two_words(void **state)
{
    (void)state;
    static const char *const tags[] = {"abcd", "acdb", "cdba", "abcde", "acdeb"};
    for (size_t i = 0; i < count_of(tags); i++) {
        neo_memory_desc desc;
        uint64_t image[DESC_IMAGE_WORDS];
        const neo_dim dims[] = {2, 64, 56, 57, 3};
        assert_int_equal(
            neo_memory_desc_init_tag(&desc, (int)strlen(tags[i]), dims, NEO_F32, tags[i]), NEO_OK);
        desc_image(&desc, image);
        assert_false(desc_image_is_longer(image));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_equal_if_descriptors_are),
        cmocka_unit_test(dense_images_have_two_words),
    };
    return cmocka_run_group_tests_name("descriptor", tests, NULL, NULL);
}
