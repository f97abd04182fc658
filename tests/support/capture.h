/* What the code under test writes to standard error: the verbose log. */
#ifndef TESTS_SUPPORT_CAPTURE_H
#define TESTS_SUPPORT_CAPTURE_H

/* Standard error goes to a temporary file from now on. */
void capture_begin(void);

/* Standard error is as before. Returns what was written, to be released with free(). */
char *capture_end(void);

#endif
