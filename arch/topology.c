/* Reads the affinity mask, sysfs and the cgroup files. Nothing is kept: callers store what they
 * need. Threads that make an engine may have small stacks, so what is large is allocated. */
#include "arch/topology.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/cores.h"

__attribute__((format(printf, 2, 0))) static FILE *open_below(const char *root, const char *format,
                                                              va_list args)
{
    char *name, *path;
    if (vasprintf(&name, format, args) < 0)
        return NULL;
    int made = asprintf(&path, "%s%s", root, name);
    free(name);
    if (made < 0)
        return NULL;
    FILE *file = fopen(path, "re");
    free(path);
    return file;
}

/* The first line of a file below root, without its end; 0 if there is none. */
__attribute__((format(printf, 4, 5))) static int read_line(const char *root, char *line, int size,
                                                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    FILE *file = open_below(root, format, args);
    va_end(args);
    if (!file)
        return 0;
    int ok = fgets(line, size, file) != NULL;
    (void)fclose(file);
    if (ok)
        line[strcspn(line, "\n")] = '\0';
    return ok;
}

/* A whole number in such a file, or fallback. */
static long read_number(const char *root, int cpu, const char *name, long fallback)
{
    char line[64], *end;
    if (!read_line(root, line, sizeof line, "/sys/devices/system/cpu/cpu%d/%s", cpu, name))
        return fallback;
    long value = strtol(line, &end, 0);
    return end != line && *end == '\0' ? value : fallback;
}

/* Takes "first-last" or "number" and a comma off a list. */
static int next_range(const char **list, int *first, int *last)
{
    char *end;
    long a = strtol(*list, &end, 10), b = a;
    if (end == *list || a < 0)
        return 0;
    if (*end == '-')
        b = strtol(end + 1, &end, 10);
    if (b < a || b > INT_MAX / 2)
        return 0;
    *first = (int)a;
    *last = (int)b;
    *list = *end == ',' ? end + 1 : end;
    return 1;
}

/* ---- which CPUs ---- */

static void add_cpu(struct topology *t, int cpu)
{
    if (t->count < TOPOLOGY_MAX_CPUS)
        t->cpus[t->count++] = (struct topology_cpu){.cpu = cpu};
}

static void add_list(struct topology *t, const char *list)
{
    int first, last;
    while (next_range(&list, &first, &last))
        for (int cpu = first; cpu <= last && t->count < TOPOLOGY_MAX_CPUS; cpu++)
            add_cpu(t, cpu);
}

static void add_affinity_mask(struct topology *t)
{
    cpu_set_t sets[8]; /* the kernel refuses a mask that is shorter than its own */
    CPU_ZERO_S(sizeof sets, sets);
    if (sched_getaffinity(0, sizeof sets, sets))
        return;
    for (int cpu = 0; cpu < (int)sizeof sets * CHAR_BIT; cpu++)
        if (CPU_ISSET_S((size_t)cpu, sizeof sets, sets))
            add_cpu(t, cpu);
}

enum { LIST_BYTES = 4096 }; /* of the kernel's lists of CPUs or nodes */

/* line has LIST_BYTES. */
static void find_cpus(struct topology *t, const struct topology_sources *s, char *line)
{
    if (s->allowed)
        add_list(t, s->allowed);
    else
        add_affinity_mask(t);
    if (!t->count && read_line(s->root, line, LIST_BYTES, "/sys/devices/system/cpu/online"))
        add_list(t, line);
    if (!t->count)
        add_cpu(t, 0);
}

/* ---- where they are ---- */

static void set_node(struct topology *t, const char *list, int node)
{
    int first, last;
    while (next_range(&list, &first, &last))
        for (int i = 0; i < t->count; i++)
            if (t->cpus[i].cpu >= first && t->cpus[i].cpu <= last)
                t->cpus[i].node = node;
}

static void find_nodes(struct topology *t, const char *root, char *line)
{
    char online[1024];
    const char *nodes = online;
    int first, last;
    if (!read_line(root, online, sizeof online, "/sys/devices/system/node/online"))
        return;
    while (next_range(&nodes, &first, &last))
        for (int node = first; node <= last && node < TOPOLOGY_MAX_CPUS; node++)
            if (read_line(root, line, LIST_BYTES, "/sys/devices/system/node/node%d/cpulist", node))
                set_node(t, line, node);
}

/* Negative identifiers mean "not known"; then every CPU is a core of its own in one package. */
static void find_places(struct topology *t, const char *root)
{
    for (int i = 0; i < t->count; i++) {
        struct topology_cpu *c = &t->cpus[i];
        long package = read_number(root, c->cpu, "topology/physical_package_id", 0);
        long cluster = read_number(root, c->cpu, "topology/cluster_id", 0);
        long core = read_number(root, c->cpu, "topology/core_id", -1);
        c->package = package > 0 ? (int)package : 0;
        c->cluster = cluster > 0 && cluster < 65535 ? (int)cluster : 0;
        c->core = core >= 0 ? (int)core : c->cpu;
        for (int j = 0; j < i; j++)
            c->sibling += t->cpus[j].package == c->package && t->cpus[j].core == c->core &&
                          t->cpus[j].cluster == c->cluster;
    }
}

/* ---- how fast they are ---- */

/* What is known of the speed of all CPUs; raw[] is in any unit. */
struct speeds {
    double raw[TOPOLOGY_MAX_CPUS];
    double midr[TOPOLOGY_MAX_CPUS];
    unsigned char in_order[TOPOLOGY_MAX_CPUS];
    int has_capacity; /* raw is the kernel's figure, which knows cores as well as clocks */
    int has_cores;    /* in_order is known */
};

static int read_all(const struct topology *t, const char *root, const char *name, double *out)
{
    for (int i = 0; i < t->count; i++) {
        long value = read_number(root, t->cpus[i].cpu, name, 0);
        if (value <= 0)
            return 0;
        out[i] = (double)value;
    }
    return 1;
}

/* Multiplies clocks by how much the core does in one. */
static void apply_cores(struct topology *t, const char *root, struct speeds *s)
{
    s->has_cores = read_all(t, root, "regs/identification/midr_el1", s->midr);
    for (int i = 0; s->has_cores && i < t->count; i++) {
        const struct core *core = core_find((uint64_t)s->midr[i]);
        t->cpus[i].model = core;
        s->in_order[i] = core->in_order != 0;
        if (!s->has_capacity)
            s->raw[i] *= core_speed(core);
    }
}

static double read_speeds(struct topology *t, const char *root, struct speeds *s)
{
    s->has_capacity = read_all(t, root, "cpu_capacity", s->raw);
    if (!s->has_capacity && !read_all(t, root, "cpufreq/cpuinfo_max_freq", s->raw))
        for (int i = 0; i < t->count; i++)
            s->raw[i] = 1;
    apply_cores(t, root, s);
    double most = 0;
    for (int i = 0; i < t->count; i++)
        most = fmax(most, s->raw[i]);
    return most;
}

/* Speeds of one kind of core differ a little (favoured cores, rounding): within this factor they
 * are one class. */
#define SAME_CLASS 0.9

/* In-order cores are little beside others. Else the slowest class is little if it is slower than
 * this part of the fastest, because equal slices would wait for it: the less is known of the cores,
 * the smaller a difference is taken for one of kind. */
static double little_limit(const struct speeds *s)
{
    if (s->has_cores && !s->in_order[0])
        return 0.5;
    return s->has_capacity || s->has_cores ? 0.65 : 0.8;
}

static int only_some_are_in_order(const struct topology *t, const struct speeds *s)
{
    int in_order = 0;
    for (int i = 0; s->has_cores && i < t->count; i++)
        in_order += s->in_order[i];
    return in_order > 0 && in_order < t->count;
}

static void find_classes(struct topology *t, const char *root, struct speeds *s)
{
    double most = read_speeds(t, root, s), least = most;
    for (int i = 0; i < t->count; i++)
        least = fmin(least, s->raw[i]);
    int by_kind = only_some_are_in_order(t, s);
    double limit = most * little_limit(s);
    for (int i = 0; i < t->count; i++) {
        double raw = s->raw[i];
        int little = by_kind ? s->in_order[i] : raw * SAME_CLASS <= least && raw < limit;
        t->cpus[i].capacity = (uint32_t)fmax(1, 1024 * raw / most + 0.5);
        t->cpus[i].class = little                     ? TOPOLOGY_LITTLE
                           : raw >= most * SAME_CLASS ? TOPOLOGY_BIG
                                                      : TOPOLOGY_MID;
    }
}

/* ---- how much of them: the cgroup's quota of CPU time ---- */

static double smaller_quota(double a, double b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

/* Version 2 has "quota period" or "max period" in one file. */
static double quota_v2(const char *root, const char *path)
{
    char line[128];
    double quota, period;
    if (!read_line(root, line, sizeof line, "/sys/fs/cgroup%s/cpu.max", path))
        return 0;
    return sscanf(line, "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0 ? quota / period
                                                                                    : 0;
}

/* Version 1 has two files, and -1 for no limit; the folder has the name of the controllers. */
static double quota_v1(const char *root, const char *path)
{
    static const char *const folders[] = {"cpu", "cpu,cpuacct", "cpuacct,cpu"};
    char quota[64], period[64];
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (!read_line(root, quota, sizeof quota, "/sys/fs/cgroup/%s%s/cpu.cfs_quota_us",
                       folders[i], path) ||
            !read_line(root, period, sizeof period, "/sys/fs/cgroup/%s%s/cpu.cfs_period_us",
                       folders[i], path))
            continue;
        double q = strtod(quota, NULL), p = strtod(period, NULL);
        return q > 0 && p > 0 ? q / p : 0;
    }
    return 0;
}

/* A group is limited by each of its ancestors too. In a container the path may be the host's, of
 * which nothing but the root is to be seen. */
static double quota_along(const char *root, char *path, double (*quota)(const char *, const char *))
{
    double least = 0;
    for (;;) {
        if (!strcmp(path, "/"))
            *path = '\0';
        least = smaller_quota(quota(root, path), least);
        char *slash = strrchr(path, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

static int names_cpu_controller(char *controllers)
{
    char *rest;
    for (char *name = strtok_r(controllers, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (!strcmp(name, "cpu"))
            return 1;
    return 0;
}

/* Lines are "number:controllers:path"; without controllers it is version 2. */
static double read_quota(const char *root)
{
    char *path, *line = NULL;
    size_t line_bytes = 0;
    double least = 0;
    FILE *file = NULL;
    if (asprintf(&path, "%s/proc/self/cgroup", root) >= 0) {
        file = fopen(path, "re");
        free(path);
    }
    while (file && getline(&line, &line_bytes, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        if (!*controllers)
            least = smaller_quota(quota_along(root, group, quota_v2), least);
        else if (names_cpu_controller(controllers))
            least = smaller_quota(quota_along(root, group, quota_v1), least);
    }
    free(line);
    if (file)
        (void)fclose(file);
    return least;
}

/* ---- all of it ---- */

int topology_read(struct topology *t, const struct topology_sources *sources)
{
    char *line = malloc(LIST_BYTES);
    struct speeds *speeds = calloc(1, sizeof *speeds);
    t->count = 0;
    if (!line || !speeds) {
        free(line);
        free(speeds);
        return 0;
    }
    find_cpus(t, sources, line);
    find_nodes(t, sources->root, line);
    find_places(t, sources->root);
    find_classes(t, sources->root, speeds);
    free(line);
    free(speeds);
    const struct core *assumed = sources->core ? core_named(sources->core) : NULL;
    for (int i = 0; assumed && i < t->count; i++)
        t->cpus[i].model = assumed;
    t->quota = read_quota(sources->root);
    return 1;
}

struct topology *topology_create(const struct topology_sources *sources)
{
    struct topology *t = malloc(sizeof *t);
    if (t && topology_read(t, sources))
        return t;
    free(t);
    return NULL;
}

int topology_kinds(const struct topology *t, struct topology_kind *kinds, int most)
{
    int count = 0;
    for (int i = 0; i < t->count; i++) {
        const struct topology_cpu *c = &t->cpus[i];
        int at = 0;
        while (at < count && kinds[at].core != c->model)
            at++;
        if (at == most)
            continue;
        if (at == count)
            kinds[count++] = (struct topology_kind){.core = c->model};
        struct topology_kind kind = kinds[at];
        kind.cpus++;
        kind.capacity = kind.capacity > c->capacity ? kind.capacity : c->capacity;
        for (; at > 0 && kinds[at - 1].capacity < kind.capacity; at--)
            kinds[at] = kinds[at - 1];
        kinds[at] = kind;
    }
    return count;
}

int topology_default_threads(const struct topology *t)
{
    int threads = 0;
    for (int i = 0; i < t->count; i++)
        threads += t->cpus[i].class != TOPOLOGY_LITTLE;
    if (t->quota > 0 && t->quota < threads)
        threads = (int)ceil(t->quota);
    return threads > 1 ? threads : 1;
}

int topology_current_node(void)
{
    unsigned cpu, node;
    return syscall(SYS_getcpu, &cpu, &node, NULL) ? 0 : (int)node;
}
