/* Where lines of the log go. */
#include "src/core/log_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "neoprene/log.h"

struct sink {
    neo_log_function *function;
    void *context;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sink sink; /* guarded by the mutex */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int descriptor = STDERR_FILENO;

static void open_descriptor(void)
{
    const char *where = secure_getenv("NEOPRENE_LOG");
    if (!where || !strcmp(where, "stderr"))
        return;
    int opened = !strcmp(where, "stdout")
                     ? STDOUT_FILENO
                     : open(where, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (opened >= 0)
        descriptor = opened;
    else
        fprintf(stderr, "neoprene: NEOPRENE_LOG='%s' cannot be written: %s\n", where,
                strerror(errno));
}

static void write_line(const char *line, size_t length)
{
    pthread_once(&once, open_descriptor);
    if (descriptor == STDOUT_FILENO)
        fflush(stdout); /* keeps the order with what the program printed */
    ssize_t written = write(descriptor, line, length);
    (void)written; /* a log that cannot be written is lost */
}

void log_sink_write(char *line, size_t length)
{
    pthread_mutex_lock(&mutex);
    struct sink current = sink;
    pthread_mutex_unlock(&mutex);
    line[length] = current.function ? '\0' : '\n';
    if (current.function)
        current.function(current.context, line);
    else
        write_line(line, length + 1);
}

void neo_set_log(neo_log_function *function, void *context)
{
    pthread_mutex_lock(&mutex);
    sink = (struct sink){function, context};
    pthread_mutex_unlock(&mutex);
}
