/* The size of weights that the calling thread is looking for. */
#ifndef SRC_PACKED_WANTED_H
#define SRC_PACKED_WANTED_H

#include <stddef.h>

/* The size that the calling thread's weights_acquire() wants of what is looked up; 0: nobody said.
 * Providers' functions do not speak of it. */
size_t weights_wanted_size(void);

/* Sets it, 0: nobody says. Returns what it was, to be set again afterwards. */
size_t weights_want_size(size_t size);

#endif
