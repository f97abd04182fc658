/* Which bytes of a file are taken, against a map of bytes. */
#include "tests/support/test.h"

#include <errno.h>
#include <string.h>

#include "src/packed/file/io.h"
#include "src/packed/file/space.h"
#include "tests/support/random.h"

enum { BYTES = 512, EXTENTS = 64, ROUNDS = 20000 };

struct model {
    bool taken[BYTES];
    uint64_t begins[EXTENTS], sizes[EXTENTS];
    size_t count;
};

static bool is_free(const struct model *model, uint64_t begin, uint64_t size)
{
    for (uint64_t i = begin; i < begin + size && i < BYTES; i++)
        if (model->taken[i])
            return false;
    return true;
}

static uint64_t first_place(const struct model *model, uint64_t size, uint64_t align)
{
    uint64_t begin = 0;
    while (!is_free(model, begin, size))
        begin += align;
    return begin;
}

static uint64_t end_of(const struct model *model)
{
    uint64_t end = 0;
    for (uint64_t i = 0; i < BYTES; i++)
        end = model->taken[i] ? i + 1 : end;
    return end;
}

static void claim(struct file_space *space, struct model *model, uint64_t begin, uint64_t size)
{
    bool good = is_free(model, begin, size);
    assert_int_equal(space_claim(space, begin, size), good ? 0 : -EEXIST);
    if (!good)
        return;
    memset(model->taken + begin, true, size);
    model->begins[model->count] = begin;
    model->sizes[model->count++] = size;
}

static void release(struct file_space *space, struct model *model, size_t i)
{
    space_release(space, model->begins[i]);
    memset(model->taken + model->begins[i], false, model->sizes[i]);
    model->count--;
    model->begins[i] = model->begins[model->count];
    model->sizes[i] = model->sizes[model->count];
}

static void it_agrees_with_a_map(void **state)
{
    (void)state;
    static struct model model;
    struct file_space space = {.count = 0};
    uint64_t seed = 1;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t size = 1 + random_below(&seed, 40), align = (uint64_t)1 << random_below(&seed, 6);
        uint64_t place = first_place(&model, size, align);
        assert_int_equal(space_find(&space, size, align), place);
        uint64_t anywhere = random_below(&seed, BYTES - 40);
        bool wanted = model.count < EXTENTS && random_below(&seed, 2);
        if (wanted && random_below(&seed, 2) && place + size <= BYTES)
            claim(&space, &model, place, size);
        else if (wanted)
            claim(&space, &model, anywhere, size);
        else if (model.count)
            release(&space, &model, random_below(&seed, (uint32_t)model.count));
        if (!model.taken[anywhere])
            space_release(&space, anywhere); /* nothing was claimed there */
        assert_int_equal(space.count, model.count);
        assert_int_equal(space_end(&space), end_of(&model));
    }
    space_deinit(&space);
}

static void no_place_ends_beyond_what_a_file_can_have(void **state)
{
    (void)state;
    struct file_space space = {.count = 0};
    const uint64_t most = INT64_MAX;
    assert_int_equal(space_find(&space, most, 1), 0);
    assert_int_equal(space_find(&space, most + 1, 1), UINT64_MAX);
    assert_int_equal(space_claim(&space, 0, most - 100), 0);
    assert_int_equal(space_find(&space, 100, 1), most - 100);
    assert_int_equal(space_find(&space, 101, 1), UINT64_MAX);
    assert_int_equal(space_find(&space, UINT64_MAX, 1), UINT64_MAX);
    space_deinit(&space);
}

static void no_file_is_made_longer_than_a_file_can_be(void **state)
{
    (void)state;
    static const uint64_t rows[][2] = {
        {0, UINT64_C(1) << 63}, {UINT64_C(1) << 63, 1}, {1, UINT64_MAX}};
    for (size_t i = 0; i < count_of(rows); i++)
        assert_int_equal(io_allocate(-1, rows[i][0], rows[i][1]), -EFBIG);
    assert_int_equal(io_allocate(-1, 0, 1), -EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_a_map),
        cmocka_unit_test(no_place_ends_beyond_what_a_file_can_have),
        cmocka_unit_test(no_file_is_made_longer_than_a_file_can_be),
    };
    return cmocka_run_group_tests_name("weights_space", tests, NULL, NULL);
}
