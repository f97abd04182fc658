/* Batch files: where they are found, and their tokens. */
#ifndef BENCHDNN_BATCH_H
#define BENCHDNN_BATCH_H

#include <stdbool.h>
#include <stddef.h>

struct batch {
    size_t count, capacity;
    char **tokens;
};

/* Reads the file: as named, or in the folder of a batch file read before, or in
 * inputs/<driver> beside the program. Returns false if it is in none of these places.
 *
 * Tokens are separated by blanks and line ends. From a token that begins with # on, a line is
 * ignored. A token that ends in \ goes on with the next one; \ alone joins those beside it. */
bool batch_read(struct batch *batch, const char *name, const char *driver);
void batch_deinit(struct batch *batch);

/* Forgets the folders. */
void batch_forget(void);

#endif
