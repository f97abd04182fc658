/* The tokens of a command line or a batch file, one after another. */
#ifndef BENCHDNN_BENCH_H
#define BENCHDNN_BENCH_H

#include "benchdnn/settings.h"

/* Options change what follows, descriptors are run, and --batch=FILE goes on with a file. Wrong
 * tokens end the program with status 2, a file that is not there with status 1. */
void bench_tokens(struct settings *settings, const struct driver *driver, size_t count,
                  char *const *tokens);

#endif
