/* One inode of a cache file. */
#include "src/packed/file/generation.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "src/core/log.h"

void generation_release(struct file_generation *generation)
{
    if (!generation || --generation->references)
        return;
    if (generation->fd >= 0)
        close(generation->fd); /* ends the lease, unless a forked child has it too */
    index_deinit(&generation->index);
    free(generation);
}

struct file_generation *generation_retain(struct file_generation *generation)
{
    generation->references++;
    return generation;
}

static struct file_generation *generation_new(void)
{
    struct file_generation *generation = calloc(1, sizeof *generation);
    if (!generation)
        return NULL;
    generation->references = 1;
    generation->fd = -1;
    generation->process = getpid();
    return generation;
}

/* A file that was made and not yet formatted. Anything else is somebody's data. */
static int check_blank(const struct file_generation *generation, bool *blank)
{
    *blank = false;
    if (generation->identity.bytes > FORMAT_EMPTY_BYTES)
        return 0;
    size_t size = (size_t)generation->identity.bytes;
    unsigned char *bytes = malloc(size + 1);
    if (!bytes)
        return -ENOMEM;
    int error = io_read(generation->fd, bytes, size, 0);
    unsigned char any = 0;
    for (size_t i = 0; !error && i < size; i++)
        any |= bytes[i];
    *blank = !error && !any;
    free(bytes);
    return error;
}

static int read_header(struct file_generation *generation)
{
    static const enum generation_state states[] = {
        [FORMAT_GOOD] = GENERATION_USABLE,    [FORMAT_BLANK] = GENERATION_BLANK,
        [FORMAT_DAMAGED] = GENERATION_BROKEN, [FORMAT_FOREIGN] = GENERATION_FOREIGN,
        [FORMAT_NEWER] = GENERATION_NEWER,
    };
    enum format_verdict verdict = FORMAT_BLANK;
    int error = io_identify(generation->fd, &generation->identity);
    if (!error)
        error = index_read_header(&generation->index, generation->fd, &verdict);
    bool blank = false;
    if (!error && verdict == FORMAT_BLANK)
        error = check_blank(generation, &blank);
    if (!error && verdict == FORMAT_BLANK && !blank) /* unless it was formatted just now */
        error = index_read_header(&generation->index, generation->fd, &verdict);
    if (error)
        return error;
    generation->state = verdict == FORMAT_BLANK && !blank ? GENERATION_FOREIGN : states[verdict];
    return 0;
}

/* Somebody may be writing the header at this moment: what looks damaged gets another chance. */
static int read_settled_header(struct file_generation *generation)
{
    static const struct timespec a_while = {.tv_nsec = 1000000};
    int error = read_header(generation);
    for (int i = 0; i < 2 && !error && generation->state >= GENERATION_BROKEN; i++) {
        nanosleep(&a_while, NULL);
        error = read_header(generation);
    }
    return error;
}

int generation_open(const char *path, enum io_access access, struct file_generation **out)
{
    struct file_generation *generation = generation_new();
    if (!generation)
        return -ENOMEM;
    int error = io_open(path, access, &generation->writable, &generation->refusal);
    if (error >= 0) {
        generation->fd = error;
        error = read_settled_header(generation);
    }
    if (!error && generation->state == GENERATION_USABLE)
        error = index_refresh(&generation->index, generation->fd, false);
    if (error) {
        generation_release(generation);
        return error;
    }
    if (generation->state >= GENERATION_BROKEN)
        log_warn("weights: '%s' is %s", path,
                 generation->state == GENERATION_BROKEN    ? "damaged and will be written anew"
                 : generation->state == GENERATION_FOREIGN ? "not a weights cache; it is left alone"
                                                           : "of a newer format; it is left alone");
    *out = generation;
    return 0;
}

int generation_create(int fd, uint64_t number, struct file_generation **out)
{
    struct file_generation *generation = generation_new();
    if (!generation) {
        close(fd);
        return -ENOMEM;
    }
    generation->writable = true;
    generation->fd = fd;
    int error = io_lock(fd);
    if (!error)
        error = io_identify(generation->fd, &generation->identity);
    if (!error)
        error = index_format(&generation->index, generation->fd, number);
    if (error) {
        generation_release(generation);
        return error;
    }
    generation->lease_users = 1;
    *out = generation;
    return 0;
}

int generation_refresh(struct file_generation *generation, bool exclusive)
{
    int error = generation->state == GENERATION_USABLE ? 0 : read_header(generation);
    if (error || generation->state != GENERATION_USABLE)
        return error;
    return index_refresh(&generation->index, generation->fd, exclusive);
}

bool generation_is_current(const struct file_generation *generation, const char *path)
{
    struct io_identity there;
    return generation->process == getpid() && io_identify_path(path, &there) == 0 &&
           io_same_file(&there, &generation->identity);
}

int generation_check_writable(const struct file_generation *generation)
{
    switch (generation->state) {
    case GENERATION_FOREIGN:
        return -EILSEQ;
    case GENERATION_NEWER:
        return -EPROTONOSUPPORT;
    default:
        return generation->writable ? 0 : generation->refusal;
    }
}

static void write_owner(const struct file_generation *generation)
{
    struct format_owner owner = {.process = (uint32_t)getpid(), .since_ns = format_now_ns()};
    if (generation->state == GENERATION_USABLE)
        io_write(generation->fd, &owner, sizeof owner, FORMAT_OWNER_OFFSET); /* for people only */
}

int generation_lease(struct file_generation *generation)
{
    int error = generation_refresh(generation, false);
    if (!error)
        error = generation_check_writable(generation);
    if (!error)
        error = io_lock(generation->fd);
    if (error)
        return error;
    error = generation_refresh(generation, true); /* now what is there is final */
    if (!error)
        error = generation_check_writable(generation);
    if (!error && generation->state == GENERATION_BLANK) {
        error = index_format(&generation->index, generation->fd, 1);
        if (!error)
            generation->state = GENERATION_USABLE;
    }
    if (error) {
        io_unlock(generation->fd);
        return error;
    }
    write_owner(generation);
    generation->lease_users = 1;
    return 0;
}

void generation_end_lease(struct file_generation *generation)
{
    if (--generation->lease_users == 0 && generation->process == getpid())
        io_unlock(generation->fd);
}

uint32_t generation_writer(const struct file_generation *generation)
{
    struct format_owner owner;
    if (flock(generation->fd, LOCK_SH | LOCK_NB) == 0) {
        io_unlock(generation->fd);
        return 0;
    }
    int error = io_read(generation->fd, &owner, sizeof owner, FORMAT_OWNER_OFFSET);
    return error ? 0 : owner.process;
}
