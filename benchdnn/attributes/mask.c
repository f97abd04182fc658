/* Masks of attributes: which dimensions a policy stands for. */
#include "benchdnn/attributes/attributes.h"

/* Weights of a convolution are O, I, … or G, O, I, …; those of a matmul end in K, N. */
static int per_oc_bits(enum quantity_arg arg, const struct attribute_shape *shape)
{
    if (!shape->is_convolution)
        return 1 << (shape->dst->count - 1);
    if (arg == QUANTITY_DW_WEI)
        return 3;
    if (arg == QUANTITY_WEI)
        return shape->has_groups ? 3 : 1;
    return 2;
}

static int per_ocic_bits(const struct attribute_shape *shape)
{
    if (!shape->is_convolution)
        return 3 << (shape->dst->count - 2);
    return shape->has_groups ? 7 : 3;
}

int mask_resolve(const struct mask *mask, enum quantity_arg arg,
                 const struct attribute_shape *shape)
{
    switch (mask->policy) {
    case POLICY_NONE:
        return mask->bits;
    case POLICY_PER_OC:
        return per_oc_bits(arg, shape);
    case POLICY_PER_OCIC:
        return per_ocic_bits(shape);
    case POLICY_PER_DIM_0:
        return 1;
    case POLICY_PER_DIM_1:
        return 2;
    case POLICY_PER_DIM_01:
        return 3;
    case POLICY_PER_DIM_2:
        return 4;
    case POLICY_PER_DIM_3:
        return 8;
    case POLICY_PER_TENSOR:
        return (1 << (arg == QUANTITY_WEI ? shape->weights_ndims : shape->dst->count)) - 1;
    default:
        return 0;
    }
}
