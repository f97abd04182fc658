/* Pages that an emulator of programs pretends to have. */
#include "tests/support/pages.h"

#include <stdio.h>
#include <unistd.h>

bool pages_are_pretended(void)
{
    char line[256];
    long kilobytes = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file && !kilobytes && fgets(line, sizeof line, file))
        if (sscanf(line, "KernelPageSize: %ld", &kilobytes) != 1)
            kilobytes = 0;
    if (file)
        fclose(file);
    return kilobytes && kilobytes * 1024 != sysconf(_SC_PAGESIZE);
}
