/* A program that unloads the shared library while a pool of it has threads. */
#include "tests/support/test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "neoprene/threadpool.h"

static int threads_of_process(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    (void)closedir(folder);
    return count;
}

/* The shared library is beside the folder of the tests. */
static void *load(void)
{
    char self[4096], path[4200];
    const neo_version *v = neo_get_version();
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(self, '/') = '\0';
    (void)snprintf(path, sizeof path, "%s/libneoprene.so.%d.%d.%d", self, v->major, v->minor,
                   v->patch);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    return library;
}

static void count_task(void *argument, int i, int n)
{
    (void)i, (void)n;
    atomic_fetch_add((atomic_int *)argument, 1);
}

typedef neo_status create_fn(neo_threadpool *out, const neo_threadpool_options *options);

/* A joined thread may be listed a little longer. */
static int settled_threads(int expected)
{
    for (int i = 0; i < 1000 && threads_of_process() > expected; i++)
        (void)usleep(1000);
    return threads_of_process();
}

/* The first round is not counted: a sanitizer or an emulator may add a thread of its own. */
static void unloading_joins_the_threads_of_pools_that_are_left(void **state)
{
    (void)state;
    static neo_threadpool left[5]; /* what they point to is lost, but not for the leak checker */
    int before = 0;
    for (size_t i = 0; i < count_of(left); i++) {
        void *library = load();
        create_fn *create;
        *(void **)&create = dlsym(library, "neo_threadpool_create");
        assert_int_equal(create(&left[i], &(neo_threadpool_options){.threads = 4}), NEO_OK);
        atomic_int tasks = 0;
        left[i].parallel_for(left[i].context, 40, count_task, &tasks);
        assert_int_equal(atomic_load(&tasks), 40);
        assert_true(threads_of_process() >= before + 3);
        if (i % 2)
            (void)usleep(5000); /* let them fall asleep */
        assert_int_equal(dlclose(library), 0);
        if (!i)
            before = settled_threads(2);
        assert_int_equal(settled_threads(before), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unloading_joins_the_threads_of_pools_that_are_left),
    };
    return cmocka_run_group_tests_name("threads_unload", tests, NULL, NULL);
}
