/* How far a list of problems is. */
#include "benchdnn/progress.h"

#include "benchdnn/report.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static struct {
    long expected, done;
    double begin_ms;
    bool is_watched, is_shown;
} progress;

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

void progress_begin(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &action, NULL);
    progress.begin_ms = report_now_ms();
    progress.is_watched = isatty(STDERR_FILENO);
}

bool progress_is_interrupted(void)
{
    return interrupted;
}

void progress_expect(void)
{
    progress.expected++;
}

void progress_next(void)
{
    progress.done++;
}

void progress_show(void)
{
    if (!progress.is_watched || progress.expected < 2 || progress.done == 0)
        return;
    double each = (report_now_ms() - progress.begin_ms) / (double)progress.done;
    long left = (long)(each * 1e-3 * (double)(progress.expected - progress.done));
    fflush(stdout);
    fprintf(stderr, "\r%ld/%ld, %ld:%02ld left\033[K", progress.done, progress.expected, left / 60,
            left % 60);
    progress.is_shown = true;
}

void progress_hide(void)
{
    if (progress.is_shown)
        fprintf(stderr, "\r\033[K");
    progress.is_shown = false;
}
