/* What the code under test writes to a standard stream. */
#ifndef TESTS_SUPPORT_CAPTURE_H
#define TESTS_SUPPORT_CAPTURE_H

/* Standard error, where the verbose log is, goes to a temporary file from now on. */
void capture_begin(void);

/* Standard output does. */
void capture_output_begin(void);

/* The stream is as before. Returns what was written, to be released with free(). */
char *capture_end(void);

#endif
