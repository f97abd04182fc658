/* What the machine lets this process have: RAM, control groups, RLIMIT_AS.
 *
 * A control group's limit is the smallest one on the way from the group to the root: version 2 has
 * it in memory.max, version 1 in memory.limit_in_bytes, and inside a container the group's path may
 * not exist below the mount point, so missing files are passed over. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/core/checked.h"
#include "src/core/env.h"
#include "src/memory/limits.h"

#define PATH_BYTES 1024

/* Reads a small file as text without allocating; false when it cannot be read. */
static bool read_text(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, room - 1);
    close(fd);
    if (length < 0)
        return false;
    text[length] = '\0';
    return true;
}

/* The number in a file, or SIZE_MAX when there is none ("max", or no such file). */
static size_t read_limit(const char *path)
{
    char text[64];
    if (!read_text(path, text, sizeof text))
        return SIZE_MAX;
    text[strcspn(text, "\n")] = '\0';
    uint64_t bytes;
    return parse_number(text, 0, SIZE_MAX, false, &bytes) ? (size_t)bytes : SIZE_MAX;
}

/* The smallest limit of group, a path such as "/a/b", and of the groups around it. */
static size_t smallest_limit(const char *root, const char *mount, const char *group,
                             const char *file)
{
    char path[PATH_BYTES];
    size_t smallest = SIZE_MAX;
    for (size_t length = strlen(group);;) {
        while (length && group[length - 1] == '/')
            length--;
        int used =
            snprintf(path, sizeof path, "%s%s%.*s/%s", root, mount, (int)length, group, file);
        if (used > 0 && (size_t)used < sizeof path)
            smallest = min_size(smallest, read_limit(path));
        if (!length)
            return smallest;
        while (length && group[length - 1] != '/')
            length--;
    }
}

static bool has_controller(const char *list, size_t length, const char *name)
{
    size_t wanted = strlen(name);
    for (const char *word = list; word < list + length;) {
        size_t size = strcspn(word, ",:");
        if (size == wanted && !memcmp(word, name, size))
            return true;
        word += size + 1;
    }
    return false;
}

/* line is "<hierarchy>:<controllers>:<group>"; version 2 has no controllers there. */
__attribute__((noinline)) static size_t line_limit(const char *root, const char *line)
{
    const char *controllers = strchr(line, ':');
    const char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return SIZE_MAX;
    controllers++;
    size_t length = (size_t)(group - controllers);
    group++;
    if (!length)
        return min_size(smallest_limit(root, "/sys/fs/cgroup", group, "memory.max"),
                        smallest_limit(root, "/sys/fs/cgroup/unified", group, "memory.max"));
    if (!has_controller(controllers, length, "memory"))
        return SIZE_MAX;
    return smallest_limit(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
}

/* Takes the whole lines off text; the rest of it comes first, for what is read next. */
static size_t take_lines(const char *root, char *text, size_t *used)
{
    size_t smallest = SIZE_MAX;
    char *line = text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        smallest = min_size(smallest, line_limit(root, line));
    }
    *used = strlen(line);
    memmove(text, line, *used + 1);
    return smallest;
}

static size_t control_group_limit(const char *root)
{
    char text[1024]; /* first the path, then a piece of the file, which has a line a controller */
    size_t smallest = SIZE_MAX, used = 0;
    int length = snprintf(text, sizeof text, "%s/proc/self/cgroup", root);
    int file = length < 0 || (size_t)length >= sizeof text ? -1 : open(text, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && used < sizeof text - 1) { /* no line is that long */
        ssize_t got = read(file, text + used, sizeof text - 1 - used);
        if (got <= 0)
            break;
        text[used + (size_t)got] = '\0';
        smallest = min_size(smallest, take_lines(root, text, &used));
    }
    if (file >= 0)
        (void)close(file);
    return used ? min_size(smallest, line_limit(root, text)) : smallest; /* without an end */
}

static size_t address_space_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}

static size_t ram_bytes(void)
{
    size_t bytes;
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0 || !checked_mul(&bytes, (size_t)pages, (size_t)page_bytes))
        return SIZE_MAX;
    return bytes;
}

size_t limits_read_machine(const char *root)
{
    size_t bytes = min_size(ram_bytes(), address_space_limit());
    return min_size(bytes, control_group_limit(root));
}
