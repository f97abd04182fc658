/* Runs the test program that it is called as: programs that are linked as one are names of one
 * file. PROGRAMS has a P(folder, name) for each (tests/tests.mk). */
#include <stdio.h>
#include <string.h>

#ifndef PROGRAMS
#define PROGRAMS
#endif

#define P(folder, name) int main_of_##folder##_##name(int argc, char **argv);
PROGRAMS
#undef P

struct program {
    const char *path;
    int (*run)(int argc, char **argv);
};

static const struct program programs[] = {
#define P(folder, name) {"/" #folder "/" #name, main_of_##folder##_##name},
    PROGRAMS
#undef P
    {NULL, NULL},
};

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

int main(int argc, char **argv)
{
    for (const struct program *p = programs; p->path; p++)
        if (ends_with(argv[0], p->path))
            return p->run(argc, argv);
    fprintf(stderr, "%s: no program of this name is in here\n", argv[0]);
    return 1;
}
