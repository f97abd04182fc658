/* Standard error into a temporary file and back. */
#include "tests/support/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static FILE *captured;
static int saved_stderr;

void capture_begin(void)
{
    fflush(stderr);
    captured = tmpfile();
    saved_stderr = dup(STDERR_FILENO);
    if (!captured || saved_stderr < 0 || dup2(fileno(captured), STDERR_FILENO) < 0)
        abort();
}

char *capture_end(void)
{
    fflush(stderr);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    off_t size = lseek(fileno(captured), 0, SEEK_END);
    char *text = calloc((size_t)size + 1, 1);
    if (!text || pread(fileno(captured), text, (size_t)size, 0) != size)
        abort();
    fclose(captured);
    return text;
}
