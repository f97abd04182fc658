/* Which combinations of data types are served, and the sentences for those that are not. */
#include "src/primitive/types.h"

static const struct type_set f32_alone[] = {{{TYPES_F32, TYPES_F32, TYPES_F32, TYPES_F32}}, {{0}}};

static const struct type_set whole_alone[] = {
    {{TYPES_WHOLE, TYPES_WHOLE, TYPES_WHOLE, TYPES_WHOLE}}, {{0}}};

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

/* ---- the search ---- */

static bool is_in(const struct type_set *set, const struct problem *problem, enum tensor t)
{
    const neo_memory_desc *desc = &problem->tensors[t];
    return !desc->ndims || types_have(set->types[t], desc->data_type);
}

/* How many tensors, in the order in which they are looked at, have types of the set. */
static int agreeing(const struct type_set *set, const struct problem *problem,
                    const enum tensor *order)
{
    int count = 0;
    while (count < TENSOR_COUNT && is_in(set, problem, order[count]))
        count++;
    return count;
}

static const char *sentence(const struct problem *problem, enum tensor t)
{
    unsigned type = problem->tensors[t].data_type, src = problem->tensors[SRC].data_type;
    type = type < TYPES ? type : 0;
    return t == WEIGHTS ? pairs[src < TYPES ? src : 0][type] : ones[t][type];
}

static const struct type_set *sets_of(const struct type_set *sets, const struct problem *problem)
{
    if (sets)
        return sets;
    return problem->operation->takes_all_types ? whole_alone : f32_alone;
}

const char *types_refuse(const struct type_set *sets, const struct problem *problem)
{
    static const enum tensor order[TENSOR_COUNT] = {SRC, WEIGHTS, DST, BIAS};
    int most = 0;
    for (const struct type_set *set = sets_of(sets, problem); set->types[SRC]; set++) {
        int count = agreeing(set, problem, order);
        if (count == TENSOR_COUNT)
            return NULL;
        most = count > most ? count : most;
    }
    return sentence(problem, order[most]);
}
