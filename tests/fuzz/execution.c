/* Runs what was made, on guarded memory, and compares it with the loops. */
#include "tests/fuzz/execution.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/told.h"
#include "tests/support/require.h"
#include "tests/support/tensor.h"

enum { MOST_WORK = 1 << 17, MOST_BYTES = 1 << 19, MOST_SCRATCH = 1 << 24 };
enum { MOST_ARGS = FUZZ_TENSORS + NEO_MAX_POST_OPS + 1 };

bool fuzz_is_small(const struct fuzz_problem *problem)
{
    for (int t = 0; t < FUZZ_TENSORS; t++)
        if (neo_memory_desc_size(&problem->actual[t]) > MOST_BYTES)
            return false;
    for (int i = 0; i < problem->operand_count; i++)
        if (neo_memory_desc_size(&problem->operands[i].actual) > MOST_BYTES)
            return false;
    return fuzz_problem_work(problem) <= MOST_WORK;
}

/* ---- what an execution is given ---- */

struct call {
    struct tensor tensors[FUZZ_TENSORS], operands[NEO_MAX_POST_OPS];
    struct tensor plain_weights; /* before they were packed */
    struct guard scratch;
    neo_memory *scratch_memory;
    neo_exec_arg args[MOST_ARGS];
    int count;
};

static bool is_runtime(const neo_memory_desc *desc)
{
    for (int i = 0; i < desc->ndims; i++)
        if (desc->dims[i] == NEO_RUNTIME_DIM ||
            (desc->format_kind == NEO_FORMAT_STRIDED && desc->strides[i] == NEO_RUNTIME_DIM))
            return true;
    return false;
}

/* The layout that the library chose, or, where it leaves something open, the actual one. */
static const neo_memory_desc *desc_of(const neo_primitive_desc *pd, int arg,
                                      const neo_memory_desc *actual)
{
    const neo_memory_desc *asked = neo_primitive_desc_query(pd, arg);
    require(asked && asked->format_kind != NEO_FORMAT_ANY);
    return is_runtime(asked) ? actual : asked;
}

static void add(struct call *call, int arg, neo_memory *memory)
{
    call->args[call->count++] = (neo_exec_arg){arg, memory};
}

static void add_tensor(struct call *call, neo_engine *engine, neo_stream *stream,
                       const neo_memory_desc *desc, const neo_memory_desc *actual, int t)
{
    unsigned seed = 3 + (unsigned)t;
    if (desc->format_kind == NEO_FORMAT_PACKED) {
        call->plain_weights = tensor_make(engine, actual, seed);
        call->tensors[t] = tensor_reordered(engine, stream, &call->plain_weights, desc);
    } else {
        call->tensors[t] = tensor_make(engine, desc, seed);
    }
    add(call, fuzz_args[t], call->tensors[t].memory);
}

/* Beyond its end nothing can be touched, and no byte more than was asked for is there. */
static void add_scratch(struct call *call, neo_engine *engine, size_t bytes)
{
    neo_dim size = (neo_dim)bytes;
    neo_memory_desc desc;
    require(neo_memory_desc_init_tag(&desc, 1, &size, NEO_U8, "a") == NEO_OK);
    guard_init(&call->scratch, bytes + 1);
    void *data = guard_end(&call->scratch, bytes);
    memset(data, 0xff, bytes); /* NaN */
    require(neo_memory_create(&call->scratch_memory, &desc, engine, data) == NEO_OK);
    add(call, NEO_ARG_SCRATCHPAD, call->scratch_memory);
}

static void call_init(struct call *call, neo_engine *engine, neo_stream *stream,
                      const struct fuzz_problem *problem, const neo_primitive_desc *pd)
{
    memset(call, 0, sizeof *call);
    for (int t = 0; t < FUZZ_TENSORS; t++)
        if (problem->described[t].ndims)
            add_tensor(call, engine, stream, desc_of(pd, fuzz_args[t], &problem->actual[t]),
                       &problem->actual[t], t);
    for (int i = 0; i < problem->operand_count; i++) {
        const struct fuzz_operand *operand = &problem->operands[i];
        const neo_memory_desc *desc = desc_of(pd, operand->arg, &operand->actual);
        bool is_filled = desc->data_type == NEO_F32;
        call->operands[i] = tensor_make(engine, desc, is_filled ? 17 + (unsigned)i : 0);
        add(call, operand->arg, call->operands[i].memory);
    }
    size_t bytes = neo_primitive_desc_scratchpad_size(pd, neo_stream_num_threads(stream));
    if (neo_attributes_get_scratchpad_mode(problem->attributes) == NEO_SCRATCHPAD_USER && bytes)
        add_scratch(call, engine, bytes);
}

static void call_deinit(struct call *call)
{
    for (int t = 0; t < FUZZ_TENSORS; t++)
        tensor_free(&call->tensors[t]);
    for (int i = 0; i < NEO_MAX_POST_OPS; i++)
        tensor_free(&call->operands[i]);
    tensor_free(&call->plain_weights);
    neo_memory_destroy(call->scratch_memory);
    if (call->scratch.map)
        guard_deinit(&call->scratch);
}

/* ---- wrong calls ---- */

enum mistake {
    MISSING,
    TWICE,
    UNKNOWN,
    NO_MEMORY,
    NO_BUFFER,
    OTHER_ENGINE,
    OTHER_SHAPE,
    NO_LIST,
    NEGATIVE_COUNT,
    MISTAKES
};

/* Changes the list; returns memory to be destroyed after the call, or NULL. */
static neo_memory *make_mistake(enum mistake mistake, neo_engine *engine, neo_exec_arg *args,
                                int *count, int at)
{
    static neo_dim dims[NEO_MAX_NDIMS] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    neo_memory_desc desc = *neo_memory_get_desc(args[at].memory);
    neo_engine *other = NULL;
    neo_memory *memory = NULL;
    void *data = neo_memory_get_handle(args[at].memory);
    if (mistake == NO_BUFFER && !neo_memory_desc_size(&desc))
        mistake = NO_MEMORY; /* without elements no buffer is needed */
    switch (mistake) {
    case MISSING:
        args[at] = args[--*count];
        return NULL;
    case TWICE:
        args[(at + 1) % *count] = args[at];
        if (*count == 1)
            args[(*count)++] = args[at];
        return NULL;
    case UNKNOWN:
        args[at].arg ^= 1 << 14;
        return NULL;
    case NO_MEMORY:
        args[at].memory = NULL;
        return NULL;
    case OTHER_ENGINE:
        require(neo_engine_create(&other) == NEO_OK);
        break;
    case OTHER_SHAPE:
        if (args[at].arg == NEO_ARG_SCRATCHPAD)
            desc.dims[0]--; /* any that is large enough will do */
        else
            require(neo_memory_desc_init_tag(&desc, NEO_MAX_NDIMS, dims, NEO_U4, "abcdefghijkl") ==
                    NEO_OK);
        break;
    default:
        data = NULL;
    }
    require(neo_memory_create(&memory, &desc, other ? other : engine, data) == NEO_OK);
    args[at].memory = memory;
    neo_engine_destroy(other);
    return memory;
}

/* Nothing may have been written: dst's bytes are as before. */
static void execute_wrongly(const neo_primitive *primitive, neo_engine *engine, neo_stream *stream,
                            const struct fuzz_problem *problem, const struct call *call,
                            struct fuzz_bytes *bytes)
{
    neo_exec_arg args[MOST_ARGS + 1];
    int count = call->count, at = fuzz_below(bytes, count);
    enum mistake mistake = (enum mistake)fuzz_below(bytes, MISTAKES);
    if (problem->is_runtime && call->args[at].arg == NEO_ARG_SCRATCHPAD)
        mistake = NO_MEMORY; /* the sizes may need less than any sizes can */
    const struct tensor *dst = &call->tensors[FUZZ_DST];
    size_t size = neo_memory_desc_size(&dst->desc);
    void *before = malloc(size + 1);
    require(before);
    memcpy(before, dst->data, size);
    memcpy(args, call->args, sizeof call->args);
    neo_memory *memory = NULL;
    if (mistake == NEGATIVE_COUNT)
        count = -count;
    else if (mistake != NO_LIST)
        memory = make_mistake(mistake, engine, args, &count, at);
    FUZZ_TOLD(neo_primitive_execute(primitive, stream, count, mistake == NO_LIST ? NULL : args));
    if (fuzz_told_status != NEO_INVALID_ARGUMENT) {
        fprintf(stderr, "mistake %d at argument %d was accepted\n", (int)mistake,
                call->args[at].arg);
        abort();
    }
    require(memcmp(before, dst->data, size) == 0);
    neo_memory_destroy(memory);
    free(before);
}

/* ---- comparison ---- */

struct comparison {
    const struct tensor *got, *want;
    double tolerance; /* relative to the larger of 1 and the value */
    const char *implementation;
};

static void compare_element(void *context, const neo_dim *position)
{
    const struct comparison *c = context;
    double got = (double)*tensor_at(c->got, position), want = (double)*tensor_at(c->want, position);
    if (got == want || (isnan(got) && isnan(want)) ||
        fabs(got - want) <= c->tolerance * fmax(1, fabs(want)))
        return;
    fprintf(stderr, "%s: got %.9g, want %.9g at", c->implementation, got, want);
    for (int i = 0; i < c->got->desc.ndims; i++)
        fprintf(stderr, " %lld", (long long)position[i]);
    fprintf(stderr, "\n");
    abort();
}

/* Sums of small integers are exact in whatever order, but with Winograd's transforms. */
static void compare(const struct fuzz_problem *problem, const neo_primitive_desc *pd,
                    const struct tensor *got, const struct tensor *want)
{
    struct comparison comparison = {got, want, 0, neo_primitive_desc_implementation(pd)};
    if (strstr(comparison.implementation, "winograd")) {
        if (!problem->is_gentle)
            return;
        comparison.tolerance = 16 * NEO_WINOGRAD_ERROR_6 * 0x1p-24 *
                               (double)neo_memory_desc_elements(&problem->actual[FUZZ_WEIGHTS]);
    }
    tensor_for_each(got->desc.ndims, got->desc.dims, compare_element, &comparison);
}

/* What may only be read is filled once more and compared. */
static void check_inputs(const struct call *call, neo_engine *engine)
{
    for (int t = 0; t < FUZZ_DST; t++) {
        const struct tensor *tensor = &call->tensors[t];
        if (!tensor->memory || tensor->desc.format_kind != NEO_FORMAT_STRIDED)
            continue;
        struct tensor fresh = tensor_make(engine, &tensor->desc, 3 + (unsigned)t);
        require(memcmp(fresh.data, tensor->data, neo_memory_desc_size(&tensor->desc)) == 0);
        tensor_free(&fresh);
    }
}

/* ---- execution ---- */

/* May the sizes that come now contradict each other or the description? */
static bool may_be_refused(const struct fuzz_problem *problem)
{
    return !problem->is_right && problem->is_runtime;
}

/* The loops' implementation of the plain problem. A reorder has one only, and so has what an
 * operand makes late, of which sizes are known at execution: executions of it are compared with
 * each other. NULL where the sizes contradict each other. */
static neo_primitive_desc *reference_of(const struct fuzz_problem *plain, neo_engine *engine)
{
    neo_primitive_desc *pd;
    if (fuzz_problem_describe(&pd, engine, plain) != NEO_OK) {
        require(may_be_refused(plain));
        return NULL;
    }
    while (strcmp(neo_primitive_desc_algorithm(pd), "reference") != 0)
        if (neo_primitive_desc_next(pd) != NEO_OK)
            break;
    const char *algorithm = neo_primitive_desc_algorithm(pd);
    require(plain->operation == FUZZ_REORDER || !strcmp(algorithm, "reference") ||
            (plain->is_runtime && plain->operand_count > 0 && !strcmp(algorithm, "by_size")));
    return pd;
}

/* dst is left in *call, which is to be deinitialised. False if it was refused. */
static bool run(struct call *call, neo_engine *engine, neo_stream *stream,
                const struct fuzz_problem *problem, const neo_primitive_desc *pd,
                struct fuzz_bytes *mistakes)
{
    neo_primitive *primitive;
    FUZZ_TOLD(neo_primitive_create(&primitive, pd));
    require(fuzz_told_status == NEO_OK);
    call_init(call, engine, stream, problem, pd);
    if (mistakes && fuzz_rarely(mistakes, 4))
        execute_wrongly(primitive, engine, stream, problem, call, mistakes);
    FUZZ_TOLD(neo_primitive_execute(primitive, stream, call->count, call->args));
    bool is_done = fuzz_told_status == NEO_OK;
    require(is_done || may_be_refused(problem));
    neo_primitive_destroy(primitive);
    return is_done;
}

/* want is NULL where the reference refused. */
static void run_one(neo_engine *engine, neo_stream *stream, const struct fuzz_problem *problem,
                    const neo_primitive_desc *pd, const struct tensor *want,
                    struct fuzz_bytes *bytes)
{
    struct call call;
    bool is_done = run(&call, engine, stream, problem, pd, bytes);
    const struct tensor *dst = &call.tensors[FUZZ_DST];
    require(is_done <= (want != NULL));
    check_inputs(&call, engine);
    if (is_done && dst->desc.format_kind == NEO_FORMAT_STRIDED) {
        tensor_check_gaps(dst);
        compare(problem, pd, dst, want);
    }
    call_deinit(&call);
}

void fuzz_execute(neo_engine *engine, neo_stream *stream, const struct fuzz_problem *problem,
                  neo_primitive_desc *pd, struct fuzz_bytes *bytes)
{
    struct fuzz_problem plain = fuzz_problem_plain(problem);
    neo_primitive_desc *reference = reference_of(&plain, engine);
    struct call expected = {0};
    bool is_done = reference && run(&expected, engine, stream, &plain, reference, NULL);
    const struct tensor *want = is_done ? &expected.tensors[FUZZ_DST] : NULL;
    neo_primitive_desc_destroy(reference);
    do {
        if (neo_primitive_desc_scratchpad_size(pd, neo_stream_num_threads(stream)) <= MOST_SCRATCH)
            run_one(engine, stream, problem, pd, want, bytes);
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    call_deinit(&expected);
}
