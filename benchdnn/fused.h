/* Convolutions with a depthwise post-operation, as two problems one after the other. */
#ifndef BENCHDNN_FUSED_H
#define BENCHDNN_FUSED_H

#include "benchdnn/data.h"

/* The post-operation, or NULL. */
const struct post_op *fused_depthwise(const struct problem *problem);

/* Sizes of the depthwise convolution. */
struct conv_shape fused_shape(const struct problem *problem, const struct post_op *depthwise);

/* Gives the problem, whose operands are a convolution's, the second one's: dst becomes what that
 * makes of the image in between. */
void fused_complete(struct problem *problem, enum type bias);

/* The two problems with the tensors of each, which stay the whole's; the image in between of the
 * second one is to be set. */
struct fused_half {
    struct problem problem;
    struct data data;
};
void fused_first(struct fused_half *half, const struct problem *problem, const struct data *data);
void fused_second(struct fused_half *half, const struct problem *problem, const struct data *data);

#endif
