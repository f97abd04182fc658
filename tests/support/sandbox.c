/* A child process with a filter that traps every system call but the one it ends with. */
#include "tests/support/sandbox.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

enum { FAILED = 255, PASSED = 254 };

bool sandbox_is_possible(void)
{
    return !IS_SANITIZED && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

/* The exit code is the number of the call, as far as it fits. */
static void tell(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    syscall(SYS_exit_group, info->si_syscall % PASSED);
}

static int forbid(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    const struct sock_fprog filter = {sizeof program / sizeof *program, program};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = tell;
    action.sa_flags = SA_SIGINFO;
    return sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

int sandbox_run(int (*prepare)(void *context), int (*run)(void *context), void *context)
{
    pid_t child = fork();
    if (child == 0) {
        if (prepare(context) || forbid())
            _exit(FAILED);
        int failed = run(context);
        syscall(SYS_exit_group, failed ? FAILED : PASSED);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) == FAILED)
        return -2;
    int call = WEXITSTATUS(status);
    return call == PASSED ? 0 : call ? call : -1;
}
