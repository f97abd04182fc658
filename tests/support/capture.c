/* Standard output into a temporary file and back. */
#include "tests/support/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static FILE *captured;
static int saved_stdout;

void capture_begin(void)
{
    fflush(stdout);
    captured = tmpfile();
    saved_stdout = dup(STDOUT_FILENO);
    if (!captured || saved_stdout < 0 || dup2(fileno(captured), STDOUT_FILENO) < 0)
        abort();
}

char *capture_end(void)
{
    fflush(stdout);
    dup2(saved_stdout, STDOUT_FILENO);
    close(saved_stdout);
    off_t size = lseek(fileno(captured), 0, SEEK_END);
    char *text = calloc((size_t)size + 1, 1);
    if (!text || pread(fileno(captured), text, (size_t)size, 0) != size)
        abort();
    fclose(captured);
    return text;
}
