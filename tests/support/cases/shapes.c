/* A shape predictor and shapes for tests. */
#include "tests/support/cases/shapes.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tests/support/test.h"

neo_shape_predictor *shapes_make(double ratio, uint32_t flags)
{
    neo_shape_predictor *p;
    neo_shape_predictor_settings settings;
    unsetenv("NEOPRENE_MEM_PREALLOCATION");
    neo_shape_predictor_get_default_settings(&settings);
    settings.ratio = ratio;
    settings.flags = flags;
    assert_int_equal(neo_shape_predictor_create(&p, &settings), NEO_OK);
    return p;
}

int shapes_ask(neo_shape_predictor *p, const char *id, neo_dim size, int reused, neo_shape *out)
{
    neo_shape shape = S2(1, size);
    return neo_shape_predictor_predict_preallocation_shape(p, id, &shape, 32, reused, out);
}

void shapes_assert(const neo_shape *got, const neo_shape *want, const char *what, size_t row)
{
    bool same = got->ndims == want->ndims;
    for (int d = 0; same && d < want->ndims; d++)
        same = got->dims[d] == want->dims[d];
    if (!same)
        fail_msg("%s, row %zu: got %d dimensions, first %lld; want %d, first %lld", what, row,
                 got->ndims, (long long)got->dims[0], want->ndims, (long long)want->dims[0]);
}
