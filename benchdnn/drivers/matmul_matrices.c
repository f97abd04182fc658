/* The matrices of a batch. */
#include "benchdnn/drivers/matmul.h"

int64_t matmul_batch(const struct matmul_shape *shape)
{
    int64_t count = 1;
    for (int i = 0; i < shape->dst.count - 2; i++)
        count *= shape->dst.at[i];
    return count;
}

int64_t matmul_offset(const struct dims *tensor, const struct matmul_shape *shape, int64_t index)
{
    const struct dims *dst = &shape->dst;
    int n = dst->count;
    int64_t offset = 0, stride = tensor->at[n - 1] * tensor->at[n - 2];
    for (int i = n - 3; i >= 0; i--) {
        int64_t position = index % dst->at[i];
        index /= dst->at[i];
        offset += tensor->at[i] == 1 ? 0 : position * stride;
        stride *= tensor->at[i];
    }
    return offset;
}
