/* The log: where lines go, and what refusals say. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/core/log.h"
#include "tests/support/capture.h"
#include "tests/support/session.h"
#include "tests/support/temporary.h"
#include "tests/support/tensor.h"

/* The lines that a function of the user's was given. */
struct lines {
    int count;
    char text[4096];
};

static void keep(void *context, const char *line)
{
    struct lines *lines = context;
    size_t used = strlen(lines->text);
    assert_null(strchr(line, '\n'));
    lines->count++;
    snprintf(lines->text + used, sizeof lines->text - used, "%s\n", line);
}

static struct lines lines;

static void begin(void)
{
    lines = (struct lines){0};
    neo_set_verbose(1);
    neo_set_log(keep, &lines);
}

static void end(void)
{
    neo_set_log(NULL, NULL);
    neo_set_verbose(0);
}

static void has(const char *wanted)
{
    if (!strstr(lines.text, wanted))
        fail_msg("the log does not have '%s':\n%s", wanted, lines.text);
}

/* Makes a refusal whose line goes where NEOPRENE_LOG says; a process reads that once. */
static void refuse_in_child(const char *where, const char *output, const char *error)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen(output, "w", stdout) || !freopen(error, "w", stderr))
            _exit(2);
        setenv("NEOPRENE_VERBOSE", "1", 1);
        setenv("NEOPRENE_LOG", where, 1);
        neo_status status = neo_engine_create(NULL);
        fflush(NULL);
        _exit(status == NEO_INVALID_ARGUMENT ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static bool has_refusal(const char *path)
{
    char text[4096];
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = 0;
    fclose(file);
    return strstr(text, "out is NULL") != NULL;
}

/* A program's standard output has nothing of the library's unless that is asked for. */
static void lines_go_where_the_environment_says(void **state)
{
    (void)state;
    const char *folder = temporary_folder("log");
    char output[512], error[512], own[512];
    snprintf(output, sizeof output, "%s/output", folder);
    snprintf(error, sizeof error, "%s/error", folder);
    snprintf(own, sizeof own, "%s/own", folder);
    const struct {
        const char *where;
        bool output, error, own;
    } rows[] = {
        {"stderr", .error = true},
        {"stdout", .output = true},
        {own, .own = true},
        {"/nowhere/at/all", .error = true},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        unlink(own);
        refuse_in_child(rows[i].where, output, error);
        assert_int_equal(has_refusal(output), rows[i].output);
        assert_int_equal(has_refusal(error), rows[i].error);
        assert_int_equal(has_refusal(own), rows[i].own);
    }
}

static neo_status matmul(neo_primitive_desc **pd, neo_memory_desc *src, neo_memory_desc *weights,
                         neo_memory_desc *dst)
{
    const neo_matmul_desc desc = {.src = *src, .weights = *weights, .dst = *dst};
    return neo_matmul_primitive_desc_create(pd, engine, &desc, NULL);
}

static void lines_go_to_a_function_of_the_user(void **state)
{
    (void)state;
    begin();
    neo_status status = neo_engine_create(NULL);
    end();
    assert_int_equal(status, NEO_INVALID_ARGUMENT);
    assert_int_equal(lines.count, 1);
    has("neoprene_verbose,v1,check,neo_engine_create");
    neo_set_verbose(1);
    capture_begin();
    neo_engine_create(NULL);
    char *text = capture_end();
    neo_set_verbose(0);
    assert_non_null(strstr(text, "neoprene_verbose,v1,check,neo_engine_create"));
    free(text);
    assert_int_equal(lines.count, 1);
}

static void the_first_line_tells_the_machine(void **state)
{
    (void)state;
    neo_engine *own;
    begin();
    neo_status status = neo_engine_create(&own);
    end();
    neo_engine_destroy(own);
    assert_int_equal(status, NEO_OK);
    assert_int_equal(strncmp(lines.text, "neoprene_verbose,v1,info,Neoprene ", 34), 0);
    has(",isa:");
    has(",core:");
    has(",threads:");
    has(" GB/s\n");
}

static void refusals_have_both_sides(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    neo_memory_desc src = tensor_desc(2, (neo_dim[]){2, 4}, "ab");
    neo_memory_desc weights = tensor_desc(2, (neo_dim[]){5, 3}, "ab");
    neo_memory_desc dst = tensor_desc(2, (neo_dim[]){2, 3}, "ab");
    begin();
    neo_status status = matmul(&pd, &src, &weights, &dst);
    end();
    assert_int_equal(status, NEO_INVALID_ARGUMENT);
    has("K of src is not K of weights (src f32:ab:2x4, weights f32:ab:5x3, dst f32:ab:2x3)");
}

static void a_wrong_size_of_dst_is_told_with_the_right_one(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    neo_memory_desc src = tensor_desc(4, (neo_dim[]){1, 2, 8, 8}, "abcd");
    neo_memory_desc weights = tensor_desc(4, (neo_dim[]){2, 2, 3, 3}, "abcd");
    neo_memory_desc dst = tensor_desc(4, (neo_dim[]){1, 2, 6, 7}, "abcd");
    const neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                       .src = src,
                                       .weights = weights,
                                       .dst = dst,
                                       .strides = {1, 1}};
    begin();
    neo_status status = neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL);
    end();
    assert_int_equal(status, NEO_INVALID_ARGUMENT);
    has("dimension 3 of dst has 7, and 6 follow");
    has("dst f32:abcd:1x2x6x7");
}

static void a_missing_argument_has_a_name(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    float values[4] = {0};
    neo_memory_desc desc = tensor_desc(2, (neo_dim[]){2, 2}, "ab");
    neo_memory *memory;
    assert_int_equal(matmul(&pd, &desc, &desc, &desc), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    assert_int_equal(neo_memory_create(&memory, &desc, engine, values), NEO_OK);
    const neo_exec_arg args[] = {{NEO_ARG_SRC, memory}, {NEO_ARG_DST, memory}};
    begin();
    neo_status status = neo_primitive_execute(primitive, stream, 2, args);
    end();
    assert_int_equal(status, NEO_INVALID_ARGUMENT);
    has("argument weights (33) is missing");
    neo_memory_destroy(memory);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

static void has_kernel(const char *algorithm, const char *kernel)
{
    char expected[128];
    snprintf(expected, sizeof expected, "create:kernel,matmul,%s: %s", algorithm, kernel);
    has(expected);
}

/* By every implementation of a product with C transposed; "swapped" nests another one, of which
 * there is a line, too. */
static void what_runs_is_told(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    neo_memory_desc plain = tensor_matrix(16, 16, "ab"), dst = tensor_matrix(16, 16, "ba");
    int nesting = 0;
    uint32_t before = __atomic_load_n(&log_categories, __ATOMIC_RELAXED);
    begin();
    __atomic_store_n(&log_categories, LOG_DISPATCH, __ATOMIC_RELAXED);
    neo_status status = matmul(&pd, &plain, &plain, &dst);
    assert_int_equal(status, NEO_OK);
    for (; status == NEO_OK; lines.text[0] = 0, status = neo_primitive_desc_next(pd)) {
        const char *algorithm = neo_primitive_desc_algorithm(pd);
        has_kernel(algorithm, neo_primitive_desc_kernel(pd));
        if (strcmp(algorithm, "swapped") == 0)
            has_kernel(neo_primitive_desc_kernel(pd), ""), nesting++;
    }
    end();
    __atomic_store_n(&log_categories, before, __ATOMIC_RELAXED);
    assert_int_equal(status, NEO_LAST_IMPLEMENTATION);
    assert_int_equal(nesting, 1);
    neo_primitive_desc_destroy(pd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup_single, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_go_where_the_environment_says), /* before this process has read it */
        TEST(lines_go_to_a_function_of_the_user),
        TEST(the_first_line_tells_the_machine),
        TEST(refusals_have_both_sides),
        TEST(a_wrong_size_of_dst_is_told_with_the_right_one),
        TEST(a_missing_argument_has_a_name),
        TEST(what_runs_is_told),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
