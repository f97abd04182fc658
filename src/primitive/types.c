/* Which combinations of data types are served, and the sentences for those that are not. */
#include "src/primitive/types.h"

const struct type_set types_f32_alone[] = {{{TYPES_F32, TYPES_F32, TYPES_F32, TYPES_F32}}, {{0}}};
const struct type_set types_whole_alone[] = {{{TYPES_WHOLE, TYPES_WHOLE, TYPES_WHOLE, TYPES_WHOLE}},
                                             {{0}}};
const enum tensor types_order[TENSOR_COUNT] = {SRC, WEIGHTS, DST, BIAS};

/* ---- sentences: they outlive whoever asks ---- */

enum { TYPES = NEO_U4 + 1 };
#define EACH(X, a) X(a, f32) X(a, f16) X(a, bf16) X(a, s32) X(a, s8) X(a, u8) X(a, s4) X(a, u4)

#define PAIR(a, b) "no kernels for " #a " by " #b,
static const char *const pairs[TYPES][TYPES] = {
    {"a data type is undefined"},
    {"weights of an undefined type", EACH(PAIR, f32)},
    {"weights of an undefined type", EACH(PAIR, f16)},
    {"weights of an undefined type", EACH(PAIR, bf16)},
    {"weights of an undefined type", EACH(PAIR, s32)},
    {"weights of an undefined type", EACH(PAIR, s8)},
    {"weights of an undefined type", EACH(PAIR, u8)},
    {"weights of an undefined type", EACH(PAIR, s4)},
    {"weights of an undefined type", EACH(PAIR, u4)},
};
#undef PAIR

#define ONE(tensor, type) "no kernels for " #tensor " of " #type,
static const char *const ones[TENSOR_COUNT][TYPES] = {
    [SRC] = {"src of an undefined type", EACH(ONE, src)},
    [WEIGHTS] = {"weights of an undefined type", EACH(ONE, weights)},
    [BIAS] = {"bias of an undefined type", EACH(ONE, bias)},
    [DST] = {"dst of an undefined type", EACH(ONE, dst)},
};
#undef ONE
#undef EACH

static const char *sentence(const struct problem *problem, enum tensor t)
{
    unsigned type = problem->tensors[t].data_type, src = problem->tensors[SRC].data_type;
    type = type < TYPES ? type : 0;
    return t == WEIGHTS ? pairs[src < TYPES ? src : 0][type] : ones[t][type];
}

const char *types_sentence(const struct problem *problem, int served)
{
    return sentence(problem, types_order[served]);
}
