/* The functions of the tables in functions.h: Neoprene's part first, and what it refuses is passed
 * on to another oneDNN where there is one. Without it they say that they are not served. */
#include "compat/onednn/functions.h"

#include <stdlib.h>

#include "compat/onednn/theirs.h"

/* A call that may be passed on. */
struct passing {
    const char *name;
    dnnl_status status;
    int takes_theirs; /* an argument of it is the other library's alone */
    any_function *function;
    int lacks_twin; /* of an argument */
    const dnnl_memory_desc **list;
};

/* ---- arguments there ---- */

static const dnnl_memory_desc *pass_desc(struct passing *passing, const dnnl_memory_desc *md)
{
    const dnnl_memory_desc *twin = theirs_of_desc(md);
    passing->lacks_twin |= md && !twin;
    return twin;
}

static const dnnl_memory_desc *const *pass_list(struct passing *passing,
                                                const dnnl_memory_desc *const *mds, int count)
{
    if (!mds || count <= 0)
        return NULL;
    passing->list = malloc((size_t)count * sizeof *passing->list);
    for (int i = 0; passing->list && i < count; i++)
        passing->list[i] = pass_desc(passing, mds[i]);
    passing->lacks_twin |= !passing->list;
    return passing->list;
}

static int list_has_theirs(const dnnl_memory_desc *const *mds, int count)
{
    for (int i = 0; mds && i < count; i++)
        if (desc_is_theirs(mds[i]))
            return 1;
    return 0;
}

#define PASS(letter, name) , PASS_##letter(name)
#define PASS_E(ours) ((ours) ? theirs()->engine : NULL)
#define PASS_S(ours) ((ours) ? theirs()->stream : NULL)
#define PASS_D(md) pass_desc(&passing, md)
#define PASS_L(mds) pass_list(&passing, mds, count)
#define PASS_T(attr) ((attr) ? (attr)->theirs : NULL)
#define PASS_O(post_ops) ((post_ops) ? (post_ops)->theirs : NULL)
#define PASS_H(pd) ((pd) ? (pd)->theirs : NULL)
#define PASS_I(value) value
#define PASS_U(value) value
#define PASS_Z(value) value
#define PASS_F(value) value
#define PASS_N(value) value
#define PASS_P(value) value
#define PASS_W(value) value

#define IS_THEIRS(letter, name) | IS_THEIRS_##letter(name)
#define IS_THEIRS_E(engine) 0
#define IS_THEIRS_D(md) desc_is_theirs(md)
#define IS_THEIRS_L(mds) list_has_theirs(mds, count)
#define IS_THEIRS_T(attr) ((attr) && (attr)->theirs_only)
#define IS_THEIRS_H(pd) 0
#define IS_THEIRS_I(value) 0
#define IS_THEIRS_U(value) 0
#define IS_THEIRS_Z(value) 0
#define IS_THEIRS_F(value) 0
#define IS_THEIRS_N(value) 0
#define IS_THEIRS_P(value) 0
#define IS_THEIRS_W(value) 0

/* ---- passing on ---- */

/* Whether the other library is to be called, for want of ours or beside it. */
static int goes_on(struct passing *passing, int beside)
{
    if ((passing->status == dnnl_success && !beside) || passing->status == dnnl_out_of_memory)
        return 0;
    passing->function = theirs_find(passing->name);
    return passing->function != NULL;
}

/* Its status; ours where it was not called. */
static dnnl_status finish(struct passing *passing)
{
    free(passing->list);
    if (passing->function)
        return passing->lacks_twin ? dnnl_out_of_memory : passing->status;
    return passing->status == dnnl_unimplemented ? unserved(passing->name) : passing->status;
}

/* ---- descriptors of primitives ---- */

/* A backward pass asks for the descriptor of its forward pass, so those of training have one there
 * too. */
static int is_of_training(const struct passing *passing, dnnl_primitive_desc *const *out)
{
    return passing->status == dnnl_success && (*out)->parameters.prop_kind == PROP_TRAINING;
}

/* Hands `made` out, or keeps it as the twin of what was handed out, which is good without one. */
static dnnl_status finish_pd(struct passing *passing, dnnl_primitive_desc **out,
                             dnnl_primitive_desc *made, int has_ours,
                             const dnnl_primitive_attr *attr)
{
    dnnl_status status = finish(passing);
    if (!passing->function)
        return status;
    if (status == dnnl_success && has_ours)
        pd_set_theirs(*out, made);
    else if (status == dnnl_success)
        status = pd_of_theirs(out, made, attr);
    if (status != dnnl_success && made)
        theirs()->dnnl_primitive_desc_destroy(made);
    return has_ours ? dnnl_success : status;
}

#define CREATE(symbol, call, ARGUMENTS)                                             \
    EXPORT dnnl_status symbol(dnnl_primitive_desc **out ARGUMENTS(TYPED))           \
    {                                                                               \
        typedef dnnl_status function(dnnl_primitive_desc **made ARGUMENTS(TYPED));  \
        struct passing passing = {.name = #symbol, .status = dnnl_unimplemented};   \
        dnnl_primitive_desc *made = NULL;                                           \
        passing.takes_theirs = theirs() && (0 ARGUMENTS(IS_THEIRS));                \
        if (!passing.takes_theirs)                                                  \
            passing.status = call;                                                  \
        int has_ours = passing.status == dnnl_success;                              \
        if (out && goes_on(&passing, is_of_training(&passing, out)))                \
            passing.status = ((function *)passing.function)(&made ARGUMENTS(PASS)); \
        return finish_pd(&passing, out, made, has_ours, attr);                      \
    }
#define SERVED(symbol, ours, ARGUMENTS) CREATE(symbol, ours(out ARGUMENTS(NAMED)), ARGUMENTS)
SERVED_LIST(SERVED)
#define PASSED_CREATE(symbol, ARGUMENTS) CREATE(symbol, dnnl_unimplemented, ARGUMENTS)
PASSED_CREATE_LIST(PASSED_CREATE)

/* ---- descriptors of memory ---- */

static dnnl_status finish_desc(struct passing *passing, dnnl_memory_desc **out,
                               dnnl_memory_desc *made)
{
    dnnl_status status = finish(passing);
    if (!passing->function || status != dnnl_success)
        return status;
    status = desc_hand_out(out, desc_of_theirs(made));
    theirs()->dnnl_memory_desc_destroy(made);
    return status;
}

#define DESC(symbol, ours, ARGUMENTS)                                               \
    EXPORT dnnl_status symbol(dnnl_memory_desc **out ARGUMENTS(TYPED))              \
    {                                                                               \
        typedef dnnl_status function(dnnl_memory_desc **made ARGUMENTS(TYPED));     \
        struct passing passing = {.name = #symbol, .status = dnnl_unimplemented};   \
        dnnl_memory_desc *made = NULL;                                              \
        passing.takes_theirs = theirs() && (0 ARGUMENTS(IS_THEIRS));                \
        if (!passing.takes_theirs)                                                  \
            passing.status = ours(out ARGUMENTS(NAMED));                            \
        if (out && goes_on(&passing, 0))                                            \
            passing.status = ((function *)passing.function)(&made ARGUMENTS(PASS)); \
        return finish_desc(&passing, out, made);                                    \
    }
DESC_LIST(DESC)

/* ---- attributes and post-operations ---- */

/* Where both were changed, theirs has what ours has; where ours refused, it has more. */
#define CHANGE(type, symbol, call, ARGUMENTS)                                                 \
    EXPORT dnnl_status symbol(type *changed ARGUMENTS(TYPED))                                 \
    {                                                                                         \
        typedef dnnl_status function(type *twin ARGUMENTS(TYPED));                            \
        struct passing passing = {.name = #symbol, .status = call};                           \
        int has_ours = passing.status == dnnl_success;                                        \
        if (changed && changed->theirs && goes_on(&passing, 1))                               \
            passing.status = ((function *)passing.function)(changed->theirs ARGUMENTS(PASS)); \
        dnnl_status status = finish(&passing);                                                \
        if (status == dnnl_success && !has_ours)                                              \
            changed->theirs_only = 1;                                                         \
        return status;                                                                        \
    }
#define ATTR(symbol, ours, ARGUMENTS) \
    CHANGE(dnnl_primitive_attr, symbol, ours(changed ARGUMENTS(NAMED)), ARGUMENTS)
ATTR_LIST(ATTR)
#define PASSED_ATTR(symbol, ARGUMENTS) \
    CHANGE(dnnl_primitive_attr, symbol, dnnl_unimplemented, ARGUMENTS)
PASSED_ATTR_LIST(PASSED_ATTR)
#define POST_OPS(symbol, ours, ARGUMENTS) \
    CHANGE(dnnl_post_ops, symbol, ours(changed ARGUMENTS(NAMED)), ARGUMENTS)
POST_OPS_LIST(POST_OPS)

/* ---- the rest ---- */

/* Lists of arguments begin with a comma. */
#define REST(...) REST_OF(__VA_ARGS__)
#define REST_OF(first, ...) __VA_ARGS__
#define PASSED(symbol, ARGUMENTS)                                                     \
    EXPORT dnnl_status symbol(REST(0 ARGUMENTS(TYPED)))                               \
    {                                                                                 \
        typedef dnnl_status function(REST(0 ARGUMENTS(TYPED)));                       \
        struct passing passing = {.name = #symbol, .status = dnnl_unimplemented};     \
        if (goes_on(&passing, 0))                                                     \
            passing.status = ((function *)passing.function)(REST(0 ARGUMENTS(PASS))); \
        return finish(&passing);                                                      \
    }
PASSED_LIST(PASSED)

/* A caller passes arguments that are not looked at. */
#define UNSERVED(symbol)             \
    EXPORT dnnl_status symbol(void); \
    EXPORT dnnl_status symbol(void)  \
    {                                \
        return unserved(#symbol);    \
    }
UNSERVED_LIST(UNSERVED)

/* Graphs run in the engine that there is, with its allocator. */
EXPORT dnnl_status dnnl_graph_make_engine_with_allocator(dnnl_engine **engine, int kind,
                                                         size_t index, const void *allocator)
{
    (void)allocator;
    return theirs() ? dnnl_engine_create(engine, kind, index) : unserved(__func__);
}

EXPORT dnnl_status dnnl_graph_tensor_get_engine(const void *tensor, dnnl_engine **engine)
{
    if (!theirs())
        return unserved(__func__);
    return tensor ? dnnl_engine_create(engine, ENGINE_CPU, 0) : dnnl_invalid_arguments;
}
