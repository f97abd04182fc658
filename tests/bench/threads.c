/* What threads cost: an empty call, short tasks, idle threads, two streams at once; ours against
 * OpenMP (with waiting threads awake) and, if its library is given, pthreadpool.
 *
 *   threads [LIBPTHREADPOOL.SO]
 *
 * Every measurement is made in a process of its own, so that no pool's waiting threads disturb
 * another pool; rounds of all pools alternate, and the figures are medians over the rounds. */
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/cores.h"
#include "neoprene/neoprene.h"
#include "neoprene/openmp.h"
#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/threading/parallel.h"
#include "src/threading/partition.h"

#define ROUNDS 9 /* odd; on a busy machine the best figures of several runs count */
#define MOST_THREADS 8
#define SAMPLE_NS 20000000 /* how long one process measures */

/* ---- the pools ---- */

/* Three functions of pthreadpool's interface, which has no version that is installed for certain.
 */
struct pthreadpool_api {
    void *(*create)(size_t threads);
    void (*run)(void *pool, void (*task)(void *argument, size_t i), void *argument, size_t n,
                uint32_t flags);
};
static struct pthreadpool_api peer;

struct pool {
    neo_threadpool table;
    neo_threadpool inner; /* of a user's table around the built-in pool */
    struct parallel parallel;
};

static void start_neoprene(struct pool *p, int threads)
{
    neo_threadpool_options options = {.threads = threads};
    if (neo_threadpool_create(&p->table, &options))
        exit(1);
    parallel_init(&p->parallel, &p->table, NULL, 0);
}

static void run_neoprene(struct pool *p, int n, neo_task_fn *task, void *argument)
{
    parallel_for(&p->parallel, n, task, argument);
}

/* The built-in pool again, but as a user's: tasks are counted, and the library does not know whose
 * threads they are. */
static int inner_threads(void *context)
{
    neo_threadpool *inner = context;
    return inner->num_threads(inner->context);
}

static int inner_in_parallel(void *context)
{
    neo_threadpool *inner = context;
    return inner->in_parallel(inner->context);
}

static void inner_parallel_for(void *context, int n, neo_task_fn *task, void *argument)
{
    neo_threadpool *inner = context;
    inner->parallel_for(inner->context, n, task, argument);
}

static void start_users(struct pool *p, int threads)
{
    start_neoprene(p, threads);
    p->inner = p->table;
    p->table = (neo_threadpool){.context = &p->inner,
                                .num_threads = inner_threads,
                                .in_parallel = inner_in_parallel,
                                .parallel_for = inner_parallel_for};
    parallel_init(&p->parallel, &p->table, NULL, 0);
}

static void start_openmp(struct pool *p, int threads)
{
    omp_set_num_threads(threads);
    p->table = neo_openmp_threadpool();
}

static void run_openmp(struct pool *p, int n, neo_task_fn *task, void *argument)
{
    p->table.parallel_for(p->table.context, n, task, argument);
}

static void start_pthreadpool(struct pool *p, int threads)
{
    p->table.context = peer.create((size_t)threads);
}

struct peer_call {
    neo_task_fn *task;
    void *argument;
    int n;
};

static void run_peer_task(void *argument, size_t i)
{
    struct peer_call *call = argument;
    call->task(call->argument, (int)i, call->n);
}

static void run_pthreadpool(struct pool *p, int n, neo_task_fn *task, void *argument)
{
    struct peer_call call = {task, argument, n};
    peer.run(p->table.context, run_peer_task, &call, (size_t)n, 0);
}

static const struct subject {
    const char *name;
    void (*start)(struct pool *p, int threads);
    void (*run)(struct pool *p, int n, neo_task_fn *task, void *argument);
} subjects[] = {
    {"neoprene", start_neoprene, run_neoprene},
    {"user's table", start_users, run_neoprene},
    {"openmp", start_openmp, run_openmp},
    {"pthreadpool", start_pthreadpool, run_pthreadpool},
};
static size_t subject_count = count_of(subjects);

static void load_peer(const char *path)
{
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    if (library) {
        *(void **)&peer.create = dlsym(library, "pthreadpool_create");
        *(void **)&peer.run = dlsym(library, "pthreadpool_parallelize_1d");
    }
    if (peer.create && peer.run)
        return;
    subject_count--;
    puts("pthreadpool: no library, left out");
}

/* ---- tasks ---- */

struct slot {
    _Alignas(64) volatile int runs;
};
static struct slot slots[MOST_THREADS];

static void empty_task(void *argument, int i, int n)
{
    (void)argument, (void)n;
    slots[i].runs = slots[i].runs + 1;
}

/* About a nanosecond a step, nothing but arithmetic in registers. */
static void busy_task(void *argument, int i, int n)
{
    const int *steps = argument;
    uint32_t x = (uint32_t)i + 1;
    (void)n;
    for (int s = 0; s < *steps; s++)
        x = x * 1664525 + 1013904223;
    slots[i].runs = (int)x;
}

/* Two tasks, of which the first waits until the second has begun, which is noted: so the second
 * one must be on another thread. */
static struct {
    _Alignas(64) _Atomic uint64_t begun_ns;
} second;

static void meeting_task(void *argument, int i, int n)
{
    (void)argument, (void)n;
    uint64_t now = log_now_ns();
    if (i)
        atomic_store_explicit(&second.begun_ns, now, memory_order_release);
    while (!i && !atomic_load_explicit(&second.begun_ns, memory_order_acquire) &&
           log_now_ns() - now < 1000000)
        continue;
}

/* ---- measuring in a process ---- */

struct job {
    const struct subject *subject;
    int threads, tasks;
    neo_task_fn *task;
    void *argument;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

/* The median time of a call, in ns. */
static double time_calls(const struct job *j)
{
    enum { CALLS = 20, SAMPLES = 4000 };
    static double samples[SAMPLES];
    size_t count = 0;
    struct pool p;
    j->subject->start(&p, j->threads);
    uint64_t begin = log_now_ns(), before = begin;
    while (count < SAMPLES && before - begin < SAMPLE_NS) {
        int calls = before - begin < SAMPLE_NS / 10 ? 1 : CALLS; /* short ones while it warms up */
        for (int i = 0; i < calls; i++)
            j->subject->run(&p, j->tasks, j->task, j->argument);
        uint64_t now = log_now_ns();
        samples[count++] = (double)(now - before) / calls;
        before = now;
    }
    size_t warm = count / 4;
    return median(samples + warm, count - warm);
}

/* The median time from a call until a second thread has begun a task, in ns. */
static double time_handing_over(const struct job *j)
{
    enum { SAMPLES = 20000 };
    static double samples[SAMPLES];
    size_t count = 0;
    struct pool p;
    j->subject->start(&p, j->threads);
    uint64_t begin = log_now_ns(), before = begin;
    while (count < SAMPLES && before - begin < SAMPLE_NS) {
        atomic_store(&second.begun_ns, 0);
        before = log_now_ns();
        j->subject->run(&p, j->tasks, j->task, j->argument);
        samples[count++] = (double)(atomic_load(&second.begun_ns) - before);
    }
    size_t warm = count / 4;
    return median(samples + warm, count - warm);
}

static double cpu_seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sleep_us(long us)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Processor time in percent of one CPU, from 1 ms after a call on. */
static double idle_use(const struct job *j)
{
    struct pool p;
    j->subject->start(&p, j->threads);
    for (int i = 0; i < 10; i++)
        j->subject->run(&p, j->tasks, j->task, j->argument);
    sleep_us(1000);
    double before = cpu_seconds();
    uint64_t begin = log_now_ns();
    sleep_us(100000);
    return 1e11 * (cpu_seconds() - before) / (double)(log_now_ns() - begin);
}

static double in_a_process(double (*measure)(const struct job *job), const struct job *job)
{
    int ends[2];
    double value = -1;
    if (pipe(ends))
        exit(1);
    (void)fflush(stdout);
    pid_t child = fork();
    if (!child) {
        value = measure(job);
        _exit(write(ends[1], &value, sizeof value) != sizeof value);
    }
    (void)close(ends[1]);
    bool ok = child > 0 && read(ends[0], &value, sizeof value) == sizeof value;
    (void)close(ends[0]);
    if (child > 0)
        (void)waitpid(child, NULL, 0);
    return ok ? value : -1;
}

/* Medians over rounds in which the subjects take turns. */
static void measure_all(double (*measure)(const struct job *job), struct job job, int rounds,
                        double *out)
{
    double values[count_of(subjects)][ROUNDS];
    for (int round = 0; round < rounds; round++)
        for (size_t s = 0; s < subject_count; s++) {
            job.subject = &subjects[s];
            values[s][round] = in_a_process(measure, &job);
        }
    for (size_t s = 0; s < subject_count; s++)
        out[s] = median(values[s], (size_t)rounds);
}

/* ---- the tables ---- */

static void print_names(const char *first)
{
    printf("%-28s", first);
    for (size_t s = 0; s < subject_count; s++)
        printf("%14s", subjects[s].name);
    for (size_t s = 1; s < subject_count; s++)
        printf("  /%-11s", subjects[s].name);
    putchar('\n');
}

static void print_row(const char *first, const double *values)
{
    printf("%-28s", first);
    for (size_t s = 0; s < subject_count; s++)
        printf("%14.2f", values[s]);
    for (size_t s = 1; s < subject_count; s++)
        printf("  %-12.3f", values[0] / values[s]);
    putchar('\n');
}

static void show_empty_calls(void)
{
    print_names("empty tasks, us a call");
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        double values[count_of(subjects)];
        char row[32];
        measure_all(time_calls,
                    (struct job){.threads = threads, .tasks = threads, .task = empty_task}, ROUNDS,
                    values);
        for (size_t s = 0; s < subject_count; s++)
            values[s] /= 1000;
        (void)snprintf(row, sizeof row, "  %d thread%s", threads, threads > 1 ? "s" : "");
        print_row(row, values);
    }
    putchar('\n');
}

/* An empty call may be cheap because the caller runs all tasks: this one cannot. */
static void show_handing_over(void)
{
    double values[count_of(subjects)];
    print_names("until a second thread works");
    for (int threads = 2; threads <= 4; threads += 2) {
        measure_all(time_handing_over,
                    (struct job){.threads = threads, .tasks = 2, .task = meeting_task}, ROUNDS,
                    values);
        for (size_t s = 0; s < subject_count; s++)
            values[s] /= 1000;
        print_row(threads == 2 ? "  2 threads, us" : "  4 threads, us", values);
    }
    putchar('\n');
}

/* Two tasks on two threads: what a call really gains. */
static void show_short_tasks(void)
{
    const struct core *core = core_find(0);
    print_names("2 busy tasks, us a call");
    static const int steps[] = {1000, 5000, 20000, 100000};
    double overhead = 0;
    for (size_t i = 0; i < count_of(steps); i++) {
        double values[count_of(subjects)], one[count_of(subjects)];
        int n = steps[i];
        struct job job = {.threads = 2, .tasks = 2, .task = busy_task, .argument = &n};
        measure_all(time_calls, job, ROUNDS, values);
        job.threads = 1;
        measure_all(time_calls, job, 3, one);
        char row[48];
        (void)snprintf(row, sizeof row, "  (one thread: %.1f us)", one[0] / 1000);
        overhead = values[0] - one[0] / 2;
        for (size_t s = 0; s < subject_count; s++)
            values[s] /= 1000;
        print_row(row, values);
    }
    printf("the last one takes %.2f us more than half of the time of one thread: at 2.5 GHz %.0f "
           "cycles (the estimate of an unknown core assumes %d)\n\n",
           overhead / 1000, overhead * 2.5, core->share_cycles + core->thread_cycles);
}

static void show_idle_use(void)
{
    double values[count_of(subjects)];
    print_names("idle after 1 ms, % of a CPU");
    measure_all(idle_use, (struct job){.threads = 4, .tasks = 4, .task = empty_task}, 3, values);
    print_row("  4 threads", values);
    putchar('\n');
}

/* ---- two streams ---- */

struct context;
struct stream {
    struct parallel p;
    int calls, steps;
    struct context *context;
};

static void *run_stream(void *argument)
{
    struct stream *s = argument;
    for (int i = 0; i < s->calls; i++)
        parallel_for(&s->p, 2, busy_task, &s->steps);
    return NULL;
}

/* As run_stream() does it, without the library. */
static void *run_bare(void *argument)
{
    struct stream *s = argument;
    for (int i = 0; i < 2 * s->calls; i++)
        busy_task(&s->steps, i % 2, 2);
    return NULL;
}

/* A primitive of an engine of its own, on one thread. */
struct context {
    neo_engine *engine;
    neo_stream *stream;
    neo_primitive *primitive;
    neo_exec_arg args[3];
};

static const int context_args[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST};

static void open_context(struct context *c)
{
    neo_memory_desc square;
    neo_primitive_desc *pd = NULL;
    neo_stream_options options = {.max_threads = 1};
    bool ok = !neo_engine_create(&c->engine) && !neo_stream_create(&c->stream, c->engine, &options);
    ok = ok && !neo_memory_desc_init_tag(&square, 2, (neo_dim[]){48, 48}, NEO_F32, "ab");
    neo_matmul_desc desc = {.src = square, .weights = square, .dst = square};
    ok = ok && !neo_matmul_primitive_desc_create(&pd, c->engine, &desc, NULL);
    ok = ok && !neo_primitive_create(&c->primitive, pd);
    for (size_t i = 0; ok && i < 3; i++) {
        neo_exec_arg *arg = &c->args[i];
        arg->arg = context_args[i];
        ok = !neo_memory_create(&arg->memory, &square, c->engine, NEO_MEMORY_ALLOCATE);
        if (ok)
            memset(neo_memory_get_handle(arg->memory), 0, neo_memory_desc_size(&square));
    }
    if (!ok)
        exit(1);
    neo_primitive_desc_destroy(pd);
}

static void close_context(struct context *c)
{
    for (size_t i = 0; i < 3; i++)
        neo_memory_destroy(c->args[i].memory);
    neo_primitive_destroy(c->primitive);
    neo_stream_destroy(c->stream);
    neo_engine_destroy(c->engine);
}

static void *run_context(void *argument)
{
    struct stream *s = argument;
    for (int i = 0; i < 2 * s->calls; i++)
        if (neo_primitive_execute(s->context->primitive, s->context->stream, 3, s->context->args))
            exit(1);
    return NULL;
}

static double seconds_of(void *(*body)(void *), struct stream *a, struct stream *b, bool together)
{
    pthread_t thread;
    uint64_t begin = log_now_ns();
    if (together && pthread_create(&thread, NULL, body, b))
        exit(1);
    (void)body(a);
    if (together)
        (void)pthread_join(thread, NULL);
    else
        (void)body(b);
    return (double)(log_now_ns() - begin) * 1e-9;
}

/* Throughput together against one after the other. */
static double gain(void *(*body)(void *), struct stream *a, struct stream *b)
{
    double ratios[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double apart = seconds_of(body, a, b, false);
        ratios[i] = apart / seconds_of(body, a, b, true);
    }
    return median(ratios, ROUNDS);
}

static void show_two_streams(void)
{
    struct stream a = {.calls = 500, .steps = 20000}, b = a;
    puts("two streams at once, throughput against one after the other");
    printf("  bare threads, no library      %.2f\n", gain(run_bare, &a, &b));
    printf("  a thread each                 %.2f\n", gain(run_stream, &a, &b));
    struct context contexts[2];
    open_context(&contexts[0]);
    open_context(&contexts[1]);
    a.context = &contexts[0], b.context = &contexts[1];
    printf("  an engine and a thread each   %.2f\n", gain(run_context, &a, &b));
    close_context(&contexts[0]);
    close_context(&contexts[1]);
    neo_threadpool shared;
    if (neo_threadpool_create(&shared, &(neo_threadpool_options){.threads = 2}))
        exit(1);
    parallel_init(&a.p, &shared, NULL, 0);
    parallel_init(&b.p, &shared, NULL, 0);
    puts("  (a pool of two threads keeps two processors busy for one stream: there 1 is the most)");
    printf("  one pool of two threads       %.2f\n", gain(run_stream, &a, &b));
    neo_threadpool_destroy(&shared);
}

int main(int argc, char **argv)
{
    /* The OpenMP runtime reads this before main(). */
    if (!getenv("OMP_WAIT_POLICY")) {
        (void)setenv("OMP_WAIT_POLICY", "active", 1);
        (void)execv("/proc/self/exe", argv);
    }
    printf("%ld processors; medians of %d rounds\n", sysconf(_SC_NPROCESSORS_ONLN), ROUNDS);
    load_peer(argc > 1 && *argv[1] ? argv[1] : NULL);
    show_empty_calls();
    show_handing_over();
    show_short_tasks();
    show_idle_use();
    show_two_streams();
    return 0;
}
