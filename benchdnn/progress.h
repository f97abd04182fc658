/* How far a list of problems is, shown where somebody watches; and ^C, after which there is a
 * summary. */
#ifndef BENCHDNN_PROGRESS_H
#define BENCHDNN_PROGRESS_H

#include <stdbool.h>

/* Starts the clock. From here on the first ^C ends the list, and the second one the program. */
void progress_begin(void);
bool progress_is_interrupted(void);

/* A problem of a file will come; one is done. */
void progress_expect(void);
void progress_next(void);

/* The line "12/345, 1:07 left" on standard error, if that is a terminal and a file is run: it has
 * to be hidden before anything else is printed. */
void progress_show(void);
void progress_hide(void);

#endif
