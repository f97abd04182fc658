/* Winograd convolution: the matrices of the transforms, by number of points. */
#include "src/convolution/winograd/winograd.h"

/* Where the matrices for n points begin. */
static size_t forward_at(size_t n)
{
    return n == 1 ? 0 : n == 4 ? 1 : n == 5 ? 17 : n == 6 ? 42 : 78;
}

static size_t backward_at(size_t n)
{
    return n == 1 ? 0 : n == 4 ? 1 : n == 5 ? 9 : n == 6 ? 24 : 48;
}

static size_t taps_of(const struct convolution_winograd *plan, size_t n)
{
    return n == 1 ? 1 : plan->taps;
}

void winograd_plan_matrices(struct convolution_winograd *mine)
{
    static const size_t sizes[] = {1, 4, 5, 6, 8};
    for (size_t i = 0; i < count_of(sizes) && sizes[i] <= mine->points; i++) {
        size_t n = sizes[i];
        winograd_input_matrix(mine->points, n, mine->matrices.forward + forward_at(n));
        if (winograd_outputs(n, taps_of(mine, n)))
            winograd_output_matrix(n, taps_of(mine, n), mine->matrices.backward + backward_at(n));
    }
}

struct winograd_f32_matrix winograd_forward(const struct convolution_winograd *plan, size_t n)
{
    return (struct winograd_f32_matrix){n, n, plan->matrices.forward + forward_at(n),
                                        n == plan->points || n == 1};
}

struct winograd_f32_matrix winograd_backward(const struct convolution_winograd *plan, size_t n)
{
    return (struct winograd_f32_matrix){n, winograd_outputs(n, taps_of(plan, n)),
                                        plan->matrices.backward + backward_at(n), 1};
}
