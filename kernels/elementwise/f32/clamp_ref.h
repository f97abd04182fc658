/* The definition of a clamp. */
#ifndef KERNELS_ELEMENTWISE_F32_CLAMP_REF_H
#define KERNELS_ELEMENTWISE_F32_CLAMP_REF_H

static inline float clamp(float x, float low, float high)
{
    if (x < low) /* false for NaN, which stays */
        return low;
    return x > high ? high : x;
}

#endif
