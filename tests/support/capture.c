/* A standard stream into a temporary file and back. */
#include "tests/support/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static FILE *captured;
static int descriptor, saved;

static void begin(int of)
{
    fflush(NULL);
    captured = tmpfile();
    descriptor = of;
    saved = dup(of);
    if (!captured || saved < 0 || dup2(fileno(captured), of) < 0)
        abort();
}

void capture_begin(void)
{
    begin(STDERR_FILENO);
}

void capture_output_begin(void)
{
    begin(STDOUT_FILENO);
}

char *capture_end(void)
{
    fflush(NULL);
    dup2(saved, descriptor);
    close(saved);
    off_t size = lseek(fileno(captured), 0, SEEK_END);
    char *text = calloc((size_t)size + 1, 1);
    if (!text || pread(fileno(captured), text, (size_t)size, 0) != size)
        abort();
    fclose(captured);
    return text;
}
