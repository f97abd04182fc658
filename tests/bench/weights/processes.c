/* The benchmark of packed weights: starts in processes of their own. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/weights/weights.h"

double proc_kib(const char *path, const char *name)
{
    char line[256];
    double sum = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)))
            sum += strtod(line + strlen(name), NULL);
    if (file)
        fclose(file);
    return sum;
}

struct result measure_start(const struct network *network, enum start_kind kind)
{
    int pipes[2];
    struct result result = {.pack_ms = 0};
    fflush(stdout);
    check(!pipe(pipes), "pipe");
    pid_t child = fork();
    if (child == 0) {
        run_start(network, kind, &result);
        check(write(pipes[1], &result, sizeof result) == sizeof result, "pipe");
        _exit(0);
    }
    close(pipes[1]);
    check(read(pipes[0], &result, sizeof result) == sizeof result, "a start failed");
    close(pipes[0]);
    waitpid(child, NULL, 0);
    return result;
}

struct result measure_share(const struct network *network, int processes)
{
    int ready[2], go[2], results[2], end[2];
    struct result sum = {.pack_ms = 0}, one = {.pack_ms = 0};
    char byte;
    fflush(stdout);
    check(!pipe(ready) && !pipe(go) && !pipe(results) && !pipe(end), "pipe");
    for (int i = 0; i < processes; i++)
        if (fork() == 0) {
            run_share(network, &one, (int[]){go[0], ready[1]});
            check(write(results[1], &one, sizeof one) == sizeof one, "pipe");
            check(read(end[0], &byte, 1) == 1, "pipe"); /* the others measure still */
            _exit(0);
        }
    close(ready[1]);
    for (int i = 0; i < processes; i++)
        check(read(ready[0], &byte, 1) == 1, "a process failed");
    for (int i = 0; i < processes; i++)
        check(write(go[1], "g", 1) == 1, "pipe");
    for (int i = 0; i < processes; i++) {
        check(read(results[0], &one, sizeof one) == sizeof one, "a process failed");
        sum.rss_mib += one.rss_mib;
        sum.pss_mib += one.pss_mib;
        sum.own_mib += one.own_mib;
    }
    for (int i = 0; i < processes; i++)
        check(write(end[1], "e", 1) == 1, "pipe");
    while (wait(NULL) > 0)
        ;
    const int ends[] = {ready[0], go[0], go[1], results[0], results[1], end[0], end[1]};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        close(ends[i]);
    return sum;
}
