/* A file that is written beside another one and then takes its place. */
#include "src/packed/file/fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/packed/file/format.h"
#include "src/packed/file/io.h"

enum { TRIES = 8, LINK_NAME = 64 };

static void name_of_descriptor(char *out, int fd)
{
    (void)snprintf(out, LINK_NAME, "/proc/self/fd/%d", fd);
}

/* A file without a name can get one only by the name that /proc has for it. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        return -ENOMEM;
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    free(folder);
    char link_name[LINK_NAME];
    name_of_descriptor(link_name, fd);
    if (fd >= 0 && access(link_name, F_OK)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Calls make() with names until one is free; keeps that one. */
static int with_free_name(struct fresh_file *fresh, const char *path,
                          int (*make)(const struct fresh_file *fresh, const char *name))
{
    int result = -EEXIST;
    for (int i = 0; i < TRIES && result == -EEXIST; i++) {
        char *name;
        if (asprintf(&name, "%s.%016" PRIx64 ".new", path, format_random_id()) < 0)
            return -ENOMEM;
        result = make(fresh, name);
        if (result >= 0)
            fresh->name = name;
        else
            free(name);
    }
    return result;
}

static int make_file(const struct fresh_file *fresh, const char *name)
{
    (void)fresh;
    return io_open_new(name);
}

static int make_link(const struct fresh_file *fresh, const char *name)
{
    char link_name[LINK_NAME];
    name_of_descriptor(link_name, fresh->fd);
    return linkat(AT_FDCWD, link_name, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int fresh_open(struct fresh_file *fresh, const char *path)
{
    *fresh = (struct fresh_file){.fd = open_nameless(path)};
    if (fresh->fd < 0)
        fresh->fd = with_free_name(fresh, path, make_file);
    return fresh->fd < 0 ? fresh->fd : 0;
}

static void forget_name(struct fresh_file *fresh)
{
    free(fresh->name);
    fresh->name = NULL;
}

/* Until the rename nobody knows of the new file; after it nobody needs the old one. */
int fresh_publish(struct fresh_file *fresh, const char *path)
{
    int error = io_sync(fresh->fd);
    if (!error && !fresh->name)
        error = with_free_name(fresh, path, make_link);
    if (!error && rename(fresh->name, path))
        error = -errno;
    if (error)
        return error;
    forget_name(fresh);
    io_sync_folder_of(path); /* if this fails, a crash may bring the old file back: no harm */
    return 0;
}

void fresh_deinit(struct fresh_file *fresh)
{
    if (fresh->name)
        unlink(fresh->name);
    forget_name(fresh);
}
