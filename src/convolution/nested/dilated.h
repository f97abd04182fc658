/* Dilated convolution by Winograd's algorithm: what its parts share. What they do is told in
 * dilated.c. */
#ifndef SRC_CONVOLUTION_DILATED_H
#define SRC_CONVOLUTION_DILATED_H

#include "kernels/pack/f32/copy.h"
#include "src/convolution/convolution.h"

struct convolution_dilated {
    struct convolution_shape shape;
    neo_dim step[SPACE];           /* from a row or column of a part to the next one */
    neo_dim parts[SPACE];          /* how many there are: of an image, their product */
    neo_dim in[SPACE], out[SPACE]; /* of each part */
    size_t count;                  /* of parts, of all images */
    const char *kernel;            /* the nested convolution's algorithm */
    copy_f32_fn *copy;
    bool src_line, dst_line; /* rows are transposed to lines of their own */
    size_t line;             /* values of one; 0: there are none */
    size_t src_bytes, bytes; /* of the copies: of src, which is first, and of both */
};

size_t dilated_scratch_bytes(const void *plan, int threads);
void dilated_run(const void *plan, const struct execution *execution);

#endif
