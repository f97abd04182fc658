/* libblas.so.3 on Neoprene, as a program that is linked to it sees it, without the library itself:
 * against double loops, with every wrong call reported as the BLAS behind it reports it. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/capture.h"
#include "tests/support/guard.h"
#include "tests/support/random.h"
#include "tests/support/require.h"
#include "tests/support/test.h"

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102, NO_TRANS = 111, TRANS = 112, CONJ_TRANS = 113 };
enum { MOST = 40, EXTRA = 5, ELEMENTS = (MOST + EXTRA) * (MOST + EXTRA) };
static const float marker = 12345;

void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_sgemv(int order, int trans, int m, int n, float alpha, const float *a, int lda,
                 const float *x, int incx, float beta, float *y, int incy);
void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc);
void sgemv_(const char *trans, const int *m, const int *n, const float *alpha, const float *a,
            const int *lda, const float *x, const int *incx, const float *beta, float *y,
            const int *incy);
float cblas_sdot(int n, const float *x, int incx, const float *y, int incy);

/* A program's own report of wrong arguments, which BLAS calls in place of its own. */
static int reported;
__attribute__((visibility("default"))) void xerbla_(const char *name, const int *info);
void xerbla_(const char *name, const int *info)
{
    (void)name;
    reported = *info;
}

struct buffers {
    struct guard a, b, c;
};

static void buffers_init(struct buffers *buffers)
{
    guard_init(&buffers->a, ELEMENTS * sizeof(float));
    guard_init(&buffers->b, ELEMENTS * sizeof(float));
    guard_init(&buffers->c, ELEMENTS * sizeof(float));
}

static void buffers_deinit(struct buffers *buffers)
{
    guard_deinit(&buffers->a);
    guard_deinit(&buffers->b);
    guard_deinit(&buffers->c);
}

static float small_integer(uint64_t *random)
{
    return (float)random_below(random, 9) - 4;
}

static void fill(float *out, size_t count, uint64_t *random)
{
    for (size_t i = 0; i < count; i++)
        out[i] = small_integer(random);
}

/* A matrix as BLAS describes it: element (i, j) at i * row + j * column. */
struct matrix {
    float *data;
    size_t row, column, count; /* count: of the elements from the first to the last */
    int ld;
};

/* Of the sizes of op(X), where it is transposed or not. */
static struct matrix make_matrix(const struct guard *guard, int rows, int columns, int trans,
                                 int order, uint64_t *random)
{
    int stored_rows = trans ? columns : rows, stored_columns = trans ? rows : columns;
    int inner = order == ROW_MAJOR ? stored_columns : stored_rows;
    int outer = order == ROW_MAJOR ? stored_rows : stored_columns;
    struct matrix out = {.ld = (inner > 1 ? inner : 1) + (int)random_below(random, EXTRA)};
    out.count = inner && outer ? (size_t)(outer - 1) * (size_t)out.ld + (size_t)inner : 0;
    out.data = guard_at(guard, out.count * sizeof(float), (int)random_below(random, 2));
    int unit_rows = (order == ROW_MAJOR) == (trans != 0);
    out.row = unit_rows ? 1 : (size_t)out.ld;
    out.column = unit_rows ? (size_t)out.ld : 1;
    fill(out.data, out.count, random);
    return out;
}

static int random_size(uint64_t *random)
{
    return random_below(random, 12) ? 1 + (int)random_below(random, MOST) : 0;
}

static int random_trans(uint64_t *random)
{
    static const int kinds[] = {NO_TRANS, TRANS, CONJ_TRANS};
    return RANDOM_OF(kinds, random);
}

static const char *letter(int trans)
{
    return trans == NO_TRANS ? "N" : trans == TRANS ? "t" : "C";
}

static float random_scalar(uint64_t *random)
{
    static const float values[] = {1, 1, 0, -1, 0.5f, 2};
    return RANDOM_OF(values, random);
}

/* Keeps what lies between the rows, and makes all else NaN where beta says that it is not read. */
static void mark(struct matrix *c, int m, int n, float beta, uint64_t *random)
{
    for (size_t i = 0; i < c->count; i++)
        c->data[i] = marker;
    for (size_t i = 0; i < (size_t)m; i++)
        for (size_t j = 0; j < (size_t)n; j++)
            c->data[i * c->row + j * c->column] = beta == 0 ? NAN : small_integer(random);
}

static double sum_of(const struct matrix *a, const struct matrix *b, size_t i, size_t j, int k)
{
    double sum = 0;
    for (size_t p = 0; p < (size_t)k; p++)
        sum += (double)a->data[i * a->row + p * a->column] *
               (double)b->data[p * b->row + j * b->column];
    return sum;
}

/* Writes into expected what C has to be, in all of its elements. */
static void reference(float *expected, const struct matrix *a, const struct matrix *b,
                      const struct matrix *c, int m, int n, int k, float alpha, float beta)
{
    memcpy(expected, c->data, c->count * sizeof *expected);
    for (size_t i = 0; i < (size_t)m; i++)
        for (size_t j = 0; j < (size_t)n; j++) {
            float *at = &expected[i * c->row + j * c->column];
            double before = beta == 0 ? 0 : (double)beta * (double)*at;
            *at = (float)((double)alpha * (alpha == 0 ? 0 : sum_of(a, b, i, j, k)) + before);
        }
}

static int differs(const float *got, const float *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(got[i] == expected[i]))
            return 1;
    return 0;
}

/* One product in either order by either name; the result is exact. 1: as the loops say. */
static int gemm_round(const struct buffers *buffers, uint64_t *random)
{
    static const int orders[] = {ROW_MAJOR, COLUMN_MAJOR};
    int order = RANDOM_OF(orders, random), ta = random_trans(random), tb = random_trans(random);
    int m = random_size(random), n = random_size(random), k = random_size(random);
    float alpha = random_scalar(random), beta = random_scalar(random), expected[ELEMENTS];
    struct matrix a = make_matrix(&buffers->a, m, k, ta != NO_TRANS, order, random);
    struct matrix b = make_matrix(&buffers->b, k, n, tb != NO_TRANS, order, random);
    struct matrix c = make_matrix(&buffers->c, m, n, 0, order, random);
    mark(&c, m, n, beta, random);
    reference(expected, &a, &b, &c, m, n, k, alpha, beta);
    if (order == COLUMN_MAJOR && random_below(random, 2))
        sgemm_(letter(ta), letter(tb), &m, &n, &k, &alpha, a.data, &a.ld, b.data, &b.ld, &beta,
               c.data, &c.ld);
    else
        cblas_sgemm(order, ta, tb, m, n, k, alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld);
    int right = !differs(c.data, expected, c.count);
    if (!right)
        (void)fprintf(stderr, "wrong: order %d, %d %d, %d x %d x %d, alpha %g, beta %g\n", order,
                      ta, tb, m, n, k, (double)alpha, (double)beta);
    return right;
}

static void products_of_random_shapes_are_exact(void **state)
{
    (void)state;
    struct buffers buffers;
    buffers_init(&buffers);
    uint64_t random = 1;
    for (int i = 0; i < 400; i++)
        assert_true(gemm_round(&buffers, &random));
    buffers_deinit(&buffers);
}

/* A vector as BLAS describes it: with a negative increment it runs from the end. */
static struct matrix make_vector(const struct guard *guard, int size, int increment,
                                 uint64_t *random)
{
    size_t step = (size_t)(increment < 0 ? -increment : increment);
    struct matrix out = {.row = step, .column = step, .ld = increment};
    out.count = size ? (size_t)(size - 1) * step + 1 : 0;
    out.data = guard_at(guard, out.count * sizeof(float), (int)random_below(random, 2));
    fill(out.data, out.count, random);
    return out;
}

static size_t place(const struct matrix *vector, int size, int i)
{
    return (size_t)(vector->ld < 0 ? size - 1 - i : i) * vector->row;
}

static void vector_reference(float *expected, const struct matrix *a, const struct matrix *x,
                             const struct matrix *y, int m, int n, float alpha, float beta)
{
    memcpy(expected, y->data, y->count * sizeof *expected);
    for (int i = 0; i < m; i++) {
        double sum = 0;
        for (int p = 0; p < n; p++)
            sum += (double)a->data[(size_t)i * a->row + (size_t)p * a->column] *
                   (double)x->data[place(x, n, p)];
        float *at = &expected[place(y, m, i)];
        *at = (float)((double)alpha * sum + (beta == 0 ? 0 : (double)beta * (double)*at));
    }
}

static int gemv_round(const struct buffers *buffers, uint64_t *random)
{
    static const int orders[] = {ROW_MAJOR, COLUMN_MAJOR}, increments[] = {1, 1, 3, -1, -2};
    int order = RANDOM_OF(orders, random), trans = random_trans(random);
    int m = 1 + (int)random_below(random, MOST), n = 1 + (int)random_below(random, MOST);
    int incx = RANDOM_OF(increments, random), incy = RANDOM_OF(increments, random);
    float alpha = random_scalar(random), beta = random_scalar(random), expected[ELEMENTS];
    struct matrix a = make_matrix(&buffers->a, m, n, trans != NO_TRANS, order, random);
    struct matrix x = make_vector(&buffers->b, n, incx, random);
    struct matrix y = make_vector(&buffers->c, m, incy, random);
    for (int i = 0; i < m && beta == 0; i++)
        y.data[place(&y, m, i)] = NAN;
    vector_reference(expected, &a, &x, &y, m, n, alpha, beta);
    int rows = trans == NO_TRANS ? m : n, columns = trans == NO_TRANS ? n : m;
    if (order == COLUMN_MAJOR && random_below(random, 2))
        sgemv_(letter(trans), &rows, &columns, &alpha, a.data, &a.ld, x.data, &incx, &beta, y.data,
               &incy);
    else
        cblas_sgemv(order, trans, rows, columns, alpha, a.data, a.ld, x.data, incx, beta, y.data,
                    incy);
    return !differs(y.data, expected, y.count);
}

static void vectors_of_any_increment_are_exact(void **state)
{
    (void)state;
    struct buffers buffers;
    buffers_init(&buffers);
    uint64_t random = 2;
    for (int i = 0; i < 400; i++)
        assert_true(gemv_round(&buffers, &random));
    buffers_deinit(&buffers);
}

/* Parameter number: the value that is wrong there; column-major, 3 x 4 x 5. */
static int report_of(int parameter)
{
    float a[20] = {0}, b[20] = {0}, c[20];
    for (int i = 0; i < 20; i++)
        c[i] = marker;
    int m = 3, n = 4, k = 5, lda = 3, ldb = 5, ldc = 3, minus = -1, two = 2;
    float one = 1;
    reported = 0;
    sgemm_(parameter == 1 ? "x" : "N", parameter == 2 ? "?" : "N", parameter == 3 ? &minus : &m,
           parameter == 4 ? &minus : &n, parameter == 5 ? &minus : &k, &one, a,
           parameter == 8 ? &two : &lda, b, parameter == 10 ? &two : &ldb, &one, c,
           parameter == 13 ? &two : &ldc);
    for (int i = 0; i < 20 && parameter; i++)
        assert_true(c[i] == marker);
    return reported;
}

static void wrong_parameters_are_reported_by_number(void **state)
{
    (void)state;
    static const int parameters[] = {0, 1, 2, 3, 4, 5, 8, 10, 13};
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        assert_int_equal(report_of(parameters[i]), parameters[i]);
    float x[4] = {0}, y[4] = {0};
    reported = 0;
    cblas_sgemv(COLUMN_MAJOR, NO_TRANS, 2, 2, 1, x, 1, x, 1, 0, y, 1);
    assert_int_equal(reported, 6);
    reported = 0;
    cblas_sgemv(ROW_MAJOR, NO_TRANS, 2, 2, 1, x, 2, x, 0, 0, y, 1);
    assert_int_equal(reported, 8);
}

/* Real data: both libraries within k * 2^-24 * |a| * |b| of the exact sum, so 2 k 2^-24 apart. */
static void real_data_agrees_with_the_library_behind(void **state)
{
    (void)state;
    enum { M = 33, N = 37, K = 130 };
    static float a[M * K], b[K * N], c[M * N], behind[M * N];
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    union {
        void *object;
        __typeof__(&cblas_sgemm) function;
    } theirs = {dlsym(library, "cblas_sgemm")};
    assert_non_null(theirs.object);
    assert_true(theirs.function != cblas_sgemm);
    uint64_t random = 3;
    for (int i = 0; i < M * K; i++)
        a[i] = (float)random_below(&random, 1 << 20) / (1 << 20);
    for (int i = 0; i < K * N; i++)
        b[i] = (float)random_below(&random, 1 << 20) / (1 << 20);
    cblas_sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, M, N, K, 1, a, K, b, N, 0, c, N);
    theirs.function(ROW_MAJOR, NO_TRANS, NO_TRANS, M, N, K, 1, a, K, b, N, 0, behind, N);
    for (int i = 0; i < M * N; i++)
        assert_true(fabs((double)c[i] - (double)behind[i]) <= 2.0 * K * K / (1 << 24));
    (void)dlclose(library);
}

/* The log has a line for each product, so none was passed on that is served. */
static void products_run_on_neoprene(void **state)
{
    (void)state;
    const float a[4] = {1, 2, 3, 4}, x[2] = {1, 1};
    float c[4], y[2];
    int two = 2, one = 1;
    float scale = 1, zero = 0;
    capture_begin();
    cblas_sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2);
    cblas_sgemv(ROW_MAJOR, NO_TRANS, 2, 2, 1, a, 2, x, 1, 0, y, 1);
    sgemm_("N", "T", &two, &two, &two, &scale, a, &two, a, &two, &zero, c, &two);
    sgemv_("T", &two, &two, &scale, a, &two, x, &one, &zero, y, &one);
    (void)fflush(stdout);
    char *log = capture_end();
    int lines = 0;
    for (const char *at = log; (at = strstr(at, ",exec,cpu,matmul,")); at++)
        lines++;
    free(log);
    assert_int_equal(lines, 4);
}

static void *many_rounds(void *argument)
{
    uint64_t random = *(uint64_t *)argument;
    struct buffers buffers;
    buffers_init(&buffers);
    for (int i = 0; i < 40; i++)
        require(gemm_round(&buffers, &random));
    buffers_deinit(&buffers);
    return NULL;
}

static void threads_multiply_at_once_and_end(void **state)
{
    (void)state;
    pthread_t threads[4];
    uint64_t seeds[4] = {11, 12, 13, 14};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, many_rounds, &seeds[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void a_child_multiplies_after_fork(void **state)
{
    (void)state;
    uint64_t seed = 21;
    many_rounds(&seed);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        many_rounds(&seed);
        _exit(0);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void other_names_are_those_of_the_library_behind(void **state)
{
    (void)state;
    const float x[3] = {1, 2, 3}, y[3] = {4, 5, 6};
    assert_true(cblas_sdot(3, x, 1, y, 1) == 32);
}

int main(void)
{
    /* Read once, by the first call of the library. */
    (void)setenv("NEOPRENE_VERBOSE", "profile_exec", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_random_shapes_are_exact),
        cmocka_unit_test(vectors_of_any_increment_are_exact),
        cmocka_unit_test(wrong_parameters_are_reported_by_number),
        cmocka_unit_test(real_data_agrees_with_the_library_behind),
        cmocka_unit_test(products_run_on_neoprene),
        cmocka_unit_test(threads_multiply_at_once_and_end),
        cmocka_unit_test(a_child_multiplies_after_fork),
        cmocka_unit_test(other_names_are_those_of_the_library_behind),
    };
    return cmocka_run_group_tests_name("compat_blas", tests, NULL, NULL);
}
