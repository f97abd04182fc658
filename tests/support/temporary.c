/* Folders for what a program writes. */
#include "tests/support/temporary.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

struct folder {
    struct folder *next;
    pid_t owner; /* a child's exit() leaves its parent's folders alone */
    char *path, *file;
};

static struct folder *folders;

static void require(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static int remove_one(const char *path, const struct stat *file, int type, struct FTW *at)
{
    (void)file;
    (void)type;
    (void)at;
    return remove(path);
}

void temporary_remove(const char *folder)
{
    enum { DESCRIPTORS = 8 };
    nftw(folder, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

static void remove_all(void)
{
    for (struct folder *folder = folders; folder; folder = folder->next)
        if (folder->owner == getpid())
            temporary_remove(folder->path);
}

static struct folder *add_folder(const char *parent, const char *name)
{
    struct folder *folder = calloc(1, sizeof *folder);
    require(folder && (folders || atexit(remove_all) == 0), name);
    folder->owner = getpid();
    char *real = realpath(parent, NULL); /* as /proc shows it */
    require(real != NULL, parent);
    require(asprintf(&folder->path, "%s/neoprene-%s-XXXXXX", real, name) > 0, name);
    free(real);
    require(mkdtemp(folder->path) != NULL, folder->path);
    folder->next = folders;
    folders = folder;
    return folder;
}

static const char *usual_parent(void)
{
    const char *parent = getenv("TMPDIR");
    return parent ? parent : "/tmp";
}

const char *temporary_folder_in(const char *parent, const char *name)
{
    return add_folder(parent, name)->path;
}

const char *temporary_folder(const char *name)
{
    return temporary_folder_in(usual_parent(), name);
}

const char *temporary_file(const char *name)
{
    struct folder *folder = add_folder(usual_parent(), name);
    require(asprintf(&folder->file, "%s/%s", folder->path, name) > 0, name);
    return folder->file;
}

int temporary_bytes(size_t bytes)
{
    const char *path = temporary_file("bytes");
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    require(fd >= 0, path);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)(i % 251);
        require(pwrite(fd, &byte, 1, (off_t)i) == 1, path);
    }
    return fd;
}

void temporary_put(const char *folder, const char *path, const char *text)
{
    char *full;
    require(asprintf(&full, "%s/%s", folder, path) > 0, path);
    for (char *slash = full + strlen(folder) + 1; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(full, S_IRWXU); /* it may be there */
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    require(file && fputs(text, file) >= 0 && fclose(file) == 0, full);
    free(full);
}
