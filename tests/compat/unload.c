/* A program that closes the libraries while a thread that has computed with them lives on, and
 * opens them again. */
#include "tests/support/test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 24 };
static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];

typedef int dnnl_sgemm_fn(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t,
                          const float *, int64_t, float, float *, int64_t);
typedef void sgemm_fn(const char *, const char *, const int *, const int *, const int *,
                      const float *, const float *, const int *, const float *, const int *,
                      const float *, float *, const int *);

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    assert_non_null(function);
    return function;
}

static void multiply_by_onednn(void *library)
{
    dnnl_sgemm_fn *sgemm;
    *(void **)&sgemm = find(library, "dnnl_sgemm");
    assert_int_equal(sgemm('N', 'N', SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 0, c, SIZE), 0);
}

/* Matrices by columns: the factors change places. */
static void multiply_by_blas(void *library)
{
    const int size = SIZE;
    const float one = 1, zero = 0;
    sgemm_fn *sgemm;
    *(void **)&sgemm = find(library, "sgemm_");
    sgemm("N", "N", &size, &size, &size, &one, b, &size, a, &size, &zero, c, &size);
}

static void check_product(void)
{
    for (int m = 0; m < SIZE; m++)
        for (int n = 0; n < SIZE; n++) {
            float sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += a[m * SIZE + k] * b[k * SIZE + n];
            assert_float_equal(c[m * SIZE + n], sum, 0.0);
        }
}

struct use {
    void (*multiply)(void *library);
    void *library;
    sem_t multiplied, closed;
};

/* What the library keeps for a thread is released when the thread ends, and that is later. */
static void *live(void *argument)
{
    struct use *use = argument;
    use->multiply(use->library);
    sem_post(&use->multiplied);
    sem_wait(&use->closed);
    return NULL;
}

/* The libraries are beside the folder of the tests. */
static void *load(const char *name)
{
    char self[4096], path[4200];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(self, '/') = '\0';
    (void)snprintf(path, sizeof path, "%s/compat/lib/%s", self, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    return library;
}

static void check(const char *name, void (*multiply)(void *library))
{
    for (int i = 0; i < SIZE * SIZE; i++) {
        a[i] = (float)(i % 7 - 3);
        b[i] = (float)(i % 5 - 2);
    }
    for (int round = 0; round < 3; round++) {
        struct use use = {.multiply = multiply, .library = load(name)};
        pthread_t thread;
        sem_init(&use.multiplied, 0, 0);
        sem_init(&use.closed, 0, 0);
        memset(c, 0xff, sizeof c);
        assert_int_equal(pthread_create(&thread, NULL, live, &use), 0);
        sem_wait(&use.multiplied);
        assert_int_equal(dlclose(use.library), 0);
        sem_post(&use.closed);
        assert_int_equal(pthread_join(thread, NULL), 0);
        check_product();
    }
}

static void onednn_is_closed_and_opened_again(void **state)
{
    (void)state;
    check("libdnnl.so." ONEDNN_SOVERSION, multiply_by_onednn);
}

static void blas_is_closed_and_opened_again(void **state)
{
    (void)state;
    check("libblas.so.3", multiply_by_blas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(onednn_is_closed_and_opened_again),
        cmocka_unit_test(blas_is_closed_and_opened_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
