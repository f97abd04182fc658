/* What programs do besides calling functions in order: they fork, compute in many threads with
 * engines of their own, reuse addresses, run for days and read the log. */
#include "tests/support/test.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/compat/convolution.h"
#include "tests/support/capture.h"

/* ---- products that several threads share ---- */

enum { SIZE = 96 };

/* How many elements are wrong: sums of small integers are exact. */
static int product_errors(void)
{
    static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
    int errors = 0;
    fill(a, SIZE * SIZE, 1);
    fill(b, SIZE * SIZE, 2);
    memset(c, 0xff, sizeof c);
    if (dnnl_sgemm('N', 'N', SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 0, c, SIZE) != dnnl_success)
        return SIZE * SIZE;
    for (int m = 0; m < SIZE; m++)
        for (int n = 0; n < SIZE; n++) {
            float sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += a[m * SIZE + k] * b[k * SIZE + n];
            errors += c[m * SIZE + n] != sum;
        }
    return errors;
}

/* As OMP_NUM_THREADS=4 does; OpenMP comes with the library. The thread sanitizer cannot see how its
 * threads meet. */
static void use_four_threads(void)
{
#ifndef __SANITIZE_THREAD__
    void (*set)(int);
    *(void **)&set = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    assert_non_null(set);
    set(4);
#endif
}

/* The parent's threads do not exist in the child. */
static void a_child_computes_after_fork(void **state)
{
    int status;
    (void)state;
    use_four_threads();
    assert_int_equal(product_errors(), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(60); /* a child that waits for threads which are not there ends by this signal */
        _exit(product_errors() ? 1 : 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(product_errors(), 0);
}

/* ---- convolutions ---- */

enum { THREADS = 4, ROUNDS = 25 };

/* Each creates an engine and a stream as PyTorch does, and primitives of the same description. */
static void *convolve(void *seed)
{
    struct convolution c;
    int errors = 0;
    for (int round = 0; round < ROUNDS; round++) {
        dnnl_engine *own;
        dnnl_stream *in_order;
        ok(dnnl_engine_create(&own, ENGINE_CPU, 0));
        ok(dnnl_stream_create(&in_order, own, 1));
        convolution_create(&c, round % 2 ? TAG_ABCD : TAG_ACDB, 0, *(int *)seed + round);
        errors += convolution_run(&c, c.weights);
        convolution_destroy(&c);
        ok(dnnl_stream_destroy(in_order));
        ok(dnnl_engine_destroy(own));
    }
    return errors ? seed : NULL;
}

static void threads_have_engines_of_their_own(void **state)
{
    pthread_t threads[THREADS];
    int seeds[THREADS];
    (void)state;
    for (int t = 0; t < THREADS; t++) {
        seeds[t] = 10 * t;
        assert_int_equal(pthread_create(&threads[t], NULL, convolve, &seeds[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[t], &wrong), 0);
        assert_null(wrong);
    }
}

static void *map_at(void *address)
{
    void *mapped = mmap(address, sizeof(float) * WEIGHTS_COUNT, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED : 0), -1, 0);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    return mapped;
}

/* The first tensor's memory is gone while its packed weights are kept. */
static void other_weights_come_to_the_same_address(void **state)
{
    struct convolution c;
    void *address = NULL;
    (void)state;
    convolution_create(&c, TAG_ABCD, 0, 1);
    for (int i = 0; i < 3; i++) {
        address = map_at(address);
        fill(c.weights, WEIGHTS_COUNT, 7 * i);
        memcpy(address, c.weights, sizeof c.weights);
        assert_int_equal(convolution_run(&c, address), 0);
        munmap(address, sizeof c.weights);
    }
    convolution_destroy(&c);
}

static size_t allocated(void)
{
    return mallinfo2().uordblks;
}

/* A primitive that is made once and one that is made for each call. */
static void a_thousand_calls_leave_nothing_behind(void **state)
{
    struct convolution kept, made;
    size_t after_ten = 0;
    (void)state;
    convolution_create(&kept, TAG_ACDB, 0, 1);
    for (int i = 0; i < 1000; i++) {
        if (i == 10)
            after_ten = allocated();
        assert_int_equal(convolution_run(&kept, kept.weights), 0);
        convolution_create(&made, TAG_ABCD, 1, 2);
        assert_int_equal(convolution_run(&made, made.weights), 0);
        convolution_destroy(&made);
    }
    assert_int_equal(allocated(), after_ten);
    convolution_destroy(&kept);
}

/* ---- the log ---- */

static int occurrences(const char *text, char letter)
{
    int count = 0;
    for (; *text; text++)
        count += *text == letter;
    return count;
}

/* The environment is read once, so that each of these is a process's; before any other test. */
static int lines_with(const char *name, const char *value)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct convolution c;
        unsetenv("ONEDNN_VERBOSE");
        unsetenv("DNNL_VERBOSE");
        setenv(name, value, 1);
        convolution_create(&c, TAG_ABCD, 0, 1);
        capture_output_begin();
        int errors = convolution_run(&c, c.weights);
        char *text = capture_end();
        _exit(errors ? 100 : occurrences(text, '\n'));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void the_environment_asks_for_the_log(void **state)
{
    (void)state;
    assert_int_equal(lines_with("DNNL_VERBOSE", "0"), 0);
    assert_int_equal(lines_with("DNNL_VERBOSE", "1"), 1);
    assert_int_equal(lines_with("ONEDNN_VERBOSE", "2"), 1);
    assert_int_equal(lines_with("ONEDNN_VERBOSE", "none"), 0);
    assert_int_equal(lines_with("ONEDNN_VERBOSE", "all"), 1);
    assert_int_equal(lines_with("ONEDNN_VERBOSE", "error,profile_exec"), 1);
}

/* Scripts split the line at its commas: 13 fields, of which the last one is the time. */
static void executions_are_lines_of_the_log(void **state)
{
    static const char expected[] = "onednn_verbose,v1,primitive,exec,cpu,convolution,neoprene:";
    static const char problem[] =
        ",alg:convolution_direct,mb2_ic6oc13_ih5oh5kh3sh1dh0ph1_iw7ow7kw3sw1dw0pw1,";
    struct convolution c;
    (void)state;
    convolution_create(&c, TAG_ABCD, 0, 1);
    ok(dnnl_set_verbose(1));
    capture_output_begin();
    int errors = convolution_run(&c, c.weights);
    char *text = capture_end();
    ok(dnnl_set_verbose(0));
    assert_int_equal(errors, 0);
    assert_memory_equal(text, expected, sizeof expected - 1);
    assert_non_null(strstr(text, "src:f32::blocked:abcd::f0 wei:f32::blocked:abcd::f0 bia:f32"));
    assert_non_null(strstr(text, problem));
    assert_int_equal(occurrences(text, ','), 12);
    assert_int_equal(occurrences(text, '\n'), 1);
    assert_true(strtod(strrchr(text, ',') + 1, NULL) > 0);
    free(text);
    convolution_destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_asks_for_the_log),
        cmocka_unit_test(a_child_computes_after_fork),
        cmocka_unit_test(threads_have_engines_of_their_own),
        cmocka_unit_test(other_weights_come_to_the_same_address),
        cmocka_unit_test(a_thousand_calls_leave_nothing_behind),
        cmocka_unit_test(executions_are_lines_of_the_log),
    };
    return cmocka_run_group_tests(tests, create_engine, NULL);
}
