/* Marks a part of the program for an emulator's instruction counter. */
#include "benchdnn/timing/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __aarch64__
__attribute__((noinline)) void region_begin(void)
{
    __asm__ volatile("isb\n hint #112\n isb" ::: "memory");
}

__attribute__((noinline)) void region_end(void)
{
    __asm__ volatile("isb\n hint #113\n isb" ::: "memory");
}
#else
void region_begin(void)
{
}

void region_end(void)
{
}
#endif

/* The emulator shows the host's processor, which is not one of ours. */
static bool is_foreign_host(void)
{
#ifdef __aarch64__
    char line[256];
    bool is_foreign = false;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "vendor_id", 9) == 0)
            is_foreign = true;
    }
    if (file)
        fclose(file);
    return is_foreign;
#else
    return false;
#endif
}

bool region_is_emulated(void)
{
    const char *told = getenv("NEOPRENE_EMULATED");
    return told ? strcmp(told, "0") != 0 : is_foreign_host();
}
