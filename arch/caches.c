/* Reads cache sizes from sysfs; every value is checked, nothing is assumed about the order. */
#include "arch/caches.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INDEX = 16 }; /* cache/index0 … index15: more than any core has */

int caches_read_line(const char *directory, unsigned cpu, const char *name, char *line,
                     size_t line_bytes)
{
    char *path;
    if (asprintf(&path, "%s/cpu%u/%s", directory, cpu, name) < 0)
        return 0;
    FILE *file = fopen(path, "re");
    free(path);
    if (!file)
        return 0;
    int ok = fgets(line, (int)line_bytes, file) != NULL;
    (void)fclose(file);
    if (ok)
        line[strcspn(line, "\n")] = '\0';
    return ok;
}

size_t caches_parse_size(const char *text)
{
    static const char suffixes[] = "KMG";
    if (*text < '0' || *text > '9')
        return 0;
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    unsigned shift = suffix ? 10 * ((unsigned)(suffix - suffixes) + 1) : 0;
    end += suffix != NULL;
    if ((*end != '\0' && *end != '\n') || value > SIZE_MAX >> shift)
        return 0;
    return (size_t)value << shift;
}

static size_t read_size(const char *sysfs, unsigned cpu, unsigned index, const char *what)
{
    char name[64], line[64];
    (void)snprintf(name, sizeof name, "cache/index%u/%s", index, what);
    return caches_read_line(sysfs, cpu, name, line, sizeof line) ? caches_parse_size(line) : 0;
}

static int holds_data(const char *sysfs, unsigned cpu, unsigned index)
{
    char name[64], line[64];
    (void)snprintf(name, sizeof name, "cache/index%u/type", index);
    return caches_read_line(sysfs, cpu, name, line, sizeof line) &&
           (!strcmp(line, "Data") || !strcmp(line, "Unified"));
}

void caches_read(struct caches *caches, const char *sysfs, unsigned cpu)
{
    *caches = (struct caches){0};
    size_t *const sizes[] = {&caches->l1_bytes, &caches->l2_bytes, &caches->l3_bytes};
    for (unsigned index = 0; index < MAX_INDEX; index++) {
        size_t level = read_size(sysfs, cpu, index, "level");
        if (level < 1 || level > 3 || !holds_data(sysfs, cpu, index))
            continue;
        *sizes[level - 1] = read_size(sysfs, cpu, index, "size");
        if (level == 1)
            caches->line_bytes = read_size(sysfs, cpu, index, "coherency_line_size");
    }
}
