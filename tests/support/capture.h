/* What the code under test writes to standard output: the verbose log. */
#ifndef TESTS_SUPPORT_CAPTURE_H
#define TESTS_SUPPORT_CAPTURE_H

/* Standard output goes to a temporary file from now on. */
void capture_begin(void);

/* Standard output is as before. Returns what was written, to be released with free(). */
char *capture_end(void);

#endif
