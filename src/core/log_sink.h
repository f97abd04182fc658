/* Where lines of the log go: a function of the user's, a file, standard error or output. */
#ifndef SRC_CORE_LOG_SINK_H
#define SRC_CORE_LOG_SINK_H

#include <stddef.h>

/* line[length] is the place for an end, of the line or of the string. */
void log_sink_write(char *line, size_t length);

#endif
