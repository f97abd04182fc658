/* Buffers of tensors that change their size: when they are kept, grown and given up. */
#include "tests/support/test.h"

#include <string.h>

#include "neoprene/types.h"
#include "src/memory/growable.h"
#include "tests/support/fault.h"

static struct memory_domain domain;
static struct growable buffer;

static int set_up(void **state)
{
    (void)state;
    neo_set_verbose(0);
    const neo_allocation_request request = {.owner = "tensor"};
    growable_init(&buffer, &domain, &request, GROWABLE_POLICY_DEFAULT);
    return memory_domain_init(&domain, NULL) != NEO_OK;
}

static int tear_down(void **state)
{
    (void)state;
    growable_deinit(&buffer);
    int left = tracker_live(&domain.tracker) != 0;
    memory_domain_deinit(&domain);
    return left;
}

static void *require(size_t bytes, size_t preferred)
{
    void *data;
    assert_int_equal(growable_require(&buffer, bytes, preferred, &data), NEO_OK);
    memset(data, 1, bytes);
    return data;
}

static void a_free_buffer_serves_only_what_uses_more_than_half_of_it(void **state)
{
    (void)state;
    struct growable_policy policy = GROWABLE_POLICY_DEFAULT;
    assert_false(growable_accepts(&policy, 1000, 500));
    assert_true(growable_accepts(&policy, 1000, 501));
    assert_true(growable_accepts(&policy, 1000, 1000));
    assert_false(growable_accepts(&policy, 1000, 1001));
    assert_false(growable_accepts(&policy, 1001, 500));
    assert_true(growable_accepts(&policy, 1001, 501));
    assert_true(growable_accepts(&policy, SIZE_MAX, SIZE_MAX));
    assert_false(growable_accepts(&policy, SIZE_MAX, SIZE_MAX / 2));
    assert_true(growable_accepts(&policy, SIZE_MAX, SIZE_MAX / 2 + 1));
    assert_false(growable_accepts(&policy, 0, 0));
    policy.least_percent = 87;
    assert_false(growable_accepts(&policy, 1000, 870));
    assert_true(growable_accepts(&policy, 1000, 871));
    policy.least_percent = 0;
    assert_true(growable_accepts(&policy, 1000, 1));
}

static void the_smallest_acceptable_buffer_is_chosen(void **state)
{
    (void)state;
    const struct growable_policy policy = GROWABLE_POLICY_DEFAULT;
    const size_t held[] = {4000, 900, 1500, 1100, 1100};
    assert_int_equal(growable_choose(&policy, held, 5, 1000), 3);
    assert_int_equal(growable_choose(&policy, held, 5, 800), 1);
    assert_int_equal(growable_choose(&policy, held, 5, 2000), 5);
    assert_int_equal(growable_choose(&policy, held, 5, 2001), 0);
    assert_int_equal(growable_choose(&policy, held, 0, 1), 0);
}

static void a_buffer_more_than_ten_times_too_large_is_given_up(void **state)
{
    (void)state;
    void *first = require(10000, 0);
    assert_ptr_equal(require(1000, 0), first);
    assert_int_equal(buffer.memory.bytes, 10000);
    require(999, 0);
    assert_int_equal(buffer.memory.bytes, 999);
    assert_int_equal(buffer.reallocations, 2);
    assert_int_equal(buffer.reclaims, 1);
    buffer.policy.shrink_factor = 0;
    require(1, 0);
    assert_int_equal(buffer.memory.bytes, 999);
}

static void one_short_request_between_long_ones_does_not_reclaim_with_hysteresis(void **state)
{
    (void)state;
    buffer.policy.shrink_after = 3;
    require(10000, 0);
    for (int i = 0; i < 20; i++)
        require(i % 3 == 2 ? 5000 : 10, 0);
    assert_int_equal(buffer.reallocations, 1);
    require(10, 0);
    assert_int_equal(buffer.memory.bytes, 10);
}

static void a_buffer_grows_to_the_forecast_where_that_can_be_had(void **state)
{
    (void)state;
    require(1000, 3000);
    assert_int_equal(buffer.memory.bytes, 3000);
    for (size_t bytes = 1000; bytes <= 3000; bytes += 100)
        require(bytes, 9999);
    assert_int_equal(buffer.reallocations, 1);
    atomic_store(&domain.limits.user_total, 5000);
    require(4000, 6000);
    assert_int_equal(buffer.memory.bytes, 4000);
    assert_int_equal(tracker_usage(&domain.tracker, NEO_KIND_ALL).max, 4000);
    void *data;
    assert_int_equal(growable_require(&buffer, 5001, 0, &data), NEO_OUT_OF_MEMORY);
    assert_null(data);
    require(4000, 0); /* and the next call works */
    assert_int_equal(growable_require(&buffer, 0, 0, &data), NEO_OK);
    assert_null(data);
}

static void every_failing_allocation_is_reported_and_survived(void **state)
{
    (void)state;
    bool delivered = true;
    for (size_t n = 1; delivered; n++) {
        void *data;
        fault_arm(n);
        neo_status status = growable_require(&buffer, 1000 * n, 0, &data);
        delivered = fault_disarm();
        assert_int_equal(status, delivered ? NEO_OUT_OF_MEMORY : NEO_OK);
        require(1000 * n, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_free_buffer_serves_only_what_uses_more_than_half_of_it),
        TEST(the_smallest_acceptable_buffer_is_chosen),
        TEST(a_buffer_more_than_ten_times_too_large_is_given_up),
        TEST(one_short_request_between_long_ones_does_not_reclaim_with_hysteresis),
        TEST(a_buffer_grows_to_the_forecast_where_that_can_be_had),
        TEST(every_failing_allocation_is_reported_and_survived),
    };
    return cmocka_run_group_tests_name("memory_growable", tests, NULL, NULL);
}
