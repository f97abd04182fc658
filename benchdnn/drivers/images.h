/* Descriptors of images by keys, for drivers that have no windows: mb2ic16ih7eps0.1n"name". */
#ifndef BENCHDNN_DRIVERS_IMAGES_H
#define BENCHDNN_DRIVERS_IMAGES_H

#include "benchdnn/drivers/lines.h"

/* Fills lines.numbers, with -1 for what is not written, and the sizes of src in lines.shapes[0].
 * Without a batch it is 2; a smaller dimension of space that is not written is like the larger one.
 * Says what is wrong and returns false. */
bool images_parse(struct problem *problem, const char *text);

/* The same for another image with the letter o: from the sizes of its space. */
void images_set_dst(struct problem *problem);

/* "mb2ic16ih7iw7", or the space alone with another letter than i. */
void images_print(struct text *out, const struct dims *dims, const char *letter);

#endif
