/* A stack of 64 KiB. */
#include "tests/support/small_stack.h"

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/support/require.h"

enum { PAGE = 64 << 10, MARK = 0xa5 };

static ucontext_t outside, inside;
static void (*run_inside)(void *);
static void *argument_inside;

static void enter(void)
{
    run_inside(argument_inside);
}

static void go_inside(unsigned char *stack)
{
    require(getcontext(&inside) == 0);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = SMALL_STACK_BYTES;
    inside.uc_link = &outside;
    makecontext(&inside, enter, 0);
    require(swapcontext(&outside, &inside) == 0);
}

size_t small_stack_run(void (*run)(void *), void *argument)
{
    size_t bytes = PAGE + SMALL_STACK_BYTES, unused = 0;
    unsigned char *map =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(map != MAP_FAILED && mprotect(map, PAGE, PROT_NONE) == 0);
    memset(map + PAGE, MARK, SMALL_STACK_BYTES);
    run_inside = run;
    argument_inside = argument;
    go_inside(map + PAGE);
    while (unused < SMALL_STACK_BYTES && map[PAGE + unused] == MARK)
        unused++;
    munmap(map, bytes);
    return SMALL_STACK_BYTES - unused;
}
