/* Runs benchdnn, which is built beside the tests. */
#include "tests/support/benchdnn.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/temporary.h"
#include "tests/support/test.h"

static char program[1024]; /* with the emulator in front */
const char *benchdnn_folder;

int benchdnn_find(void **state)
{
    (void)state;
    char path[512];
    const char *emulator = getenv("EMULATOR");
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(length > 0);
    path[length] = 0;
    *strrchr(path, '/') = 0;
    snprintf(program, sizeof program, "%s %s/../../benchdnn/benchdnn", emulator ? emulator : "",
             path);
    benchdnn_folder = temporary_folder("benchdnn");
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("ASAN_OPTIONS", "exitcode=101", 1); /* what a sanitizer finds counts as a crash */
    setenv("UBSAN_OPTIONS", "exitcode=101", 1);
    setenv("TSAN_OPTIONS", "exitcode=101", 1);
    return 0;
}

static struct benchdnn_run *run(const char *before, const char *arguments)
{
    static struct benchdnn_run result;
    char command[4096];
    snprintf(command, sizeof command, "cd %s && %s %s %s 2>&1", benchdnn_folder, before, program,
             arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(result.output, 1, BENCHDNN_OUTPUT_MAX - 1, pipe);
    result.output[length] = 0;
    int status = pclose(pipe);
    result.status = WIFEXITED(status) && WEXITSTATUS(status) < 100 ? WEXITSTATUS(status) : -1;
    return &result;
}

struct benchdnn_run *benchdnn_run(const char *arguments)
{
    return run("", arguments);
}

/* A signal that comes before the program has begun ends it without a summary: on a machine that is
 * busy an emulator may take longer than the first of these. */
struct benchdnn_run *benchdnn_run_interrupted(const char *arguments)
{
    static const char *const after[] = {"timeout -s INT 2", "timeout -s INT 10"};
    struct benchdnn_run *r = run(after[0], arguments);
    return strstr(r->output, "\ntests:") ? r : run(after[1], arguments);
}

struct benchdnn_run *benchdnn_run_on_terminal(const char *arguments)
{
    static struct benchdnn_run result;
    char command[4096];
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int other_end = open(ptsname(terminal), O_RDWR | O_NOCTTY); /* or what was written is lost */
    assert_true(other_end >= 0);
    snprintf(command, sizeof command, "cd %s && %s %s >/dev/null 2>%s", benchdnn_folder, program,
             arguments, ptsname(terminal));
    result.status = system(command); /* NOLINT(cert-env33-c): the command is the test's */
    ssize_t length = read(terminal, result.output, BENCHDNN_OUTPUT_MAX - 1);
    result.output[length > 0 ? length : 0] = 0;
    close(other_end);
    close(terminal);
    return &result;
}

void benchdnn_expect(const char *arguments, int status, const char *part)
{
    struct benchdnn_run *r = benchdnn_run(arguments);
    if (r->status != status || !strstr(r->output, part)) {
        print_error("benchdnn %s\nstatus %d instead of %d, or no `%s` in:\n%s\n", arguments,
                    r->status, status, part, r->output);
        fail();
    }
}

size_t benchdnn_count(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}
