/* The main program of every driver: stdin to measured regions.
 *
 *   DRIVER [--time | --cycles | --warm-cycles]
 *
 * Input, one problem a line (tests/perf/shapes.py writes them):
 *   matmul M N K PACKED TRANSPOSED SRC_BATCH WEIGHTS_BATCH      OPERAND_* bits; batches as 4x8, or
 * 1 conv G MB IC OC ID IH IW OD OH OW KD KH KW SD SH SW PD PH PW DD DH DW SPATIAL CHANNELS_LAST
 *   operation NAME MB CHANNELS HEIGHT WIDTH KERNEL STRIDE PAD     operations.h
 * PERF_TYPES=src:weights:dst asks for other types than f32, as s8:s8:s8, and PERF_GROUP=n, where
 * weights are integers and src is not, for a scale for each n rows of a column (0: all), and for
 * src as integers within the call. Output, one line a problem: ok ERROR          a region was
 * measured; the largest error among sampled elements refused REASON    no region
 *
 * With --cycles, or --warm-cycles, for the cycle simulator (cycles.py): one problem,
 *   ok ERROR NANOSECONDS IMPLEMENTATION      of one call, whose weights are in no cache, or are
 *
 * With --time, for real hardware: no regions, but a first line
 *   peak VECTOR_MACS_PER_NS clock CYCLES_PER_NS events yes|no: REASON
 * and for each problem
 *   ok ERROR NANOSECONDS CYCLES INSTRUCTIONS L1_MISSES LAST_LEVEL_MISSES    of the shortest of many
 * calls */
#include "tests/perf/driver.h"
#include "tests/perf/hardware.h"
#include "tests/perf/region.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef __aarch64__
#error "drivers are AArch64 programs"
#endif

/* Above this many products a call is its own warm-up: what happens once no longer shows. */
#define WARM_UP_LIMIT ((size_t)1 << 27)
enum { SAMPLES = 64 };

/* ---- helpers ---- */

void *driver_allocate(size_t bytes)
{
    size_t rounded = (bytes + 63) / 64 * 64;
    void *memory = aligned_alloc(64, rounded ? rounded : 64);
    if (!memory) {
        fprintf(stderr, "driver: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

float *driver_floats(size_t count)
{
    return driver_allocate(count * sizeof(float));
}

static size_t product(const size_t *values, size_t count)
{
    size_t result = 1;
    for (size_t i = 0; i < count; i++)
        result *= values[i];
    return result;
}

size_t conv_positions(const size_t dims[3])
{
    return product(dims, 3);
}

bool conv_is_depthwise(const struct conv_problem *conv)
{
    return conv->groups > 1 && conv->groups == conv->ic && conv->groups == conv->oc;
}

ptrdiff_t conv_pad_after(const struct conv_problem *conv, int dim)
{
    size_t reach = (conv->out[dim] - 1) * conv->stride[dim] +
                   (conv->kernel[dim] - 1) * (conv->dilation[dim] + 1) + 1;
    return (ptrdiff_t)reach - (ptrdiff_t)conv->in[dim] - (ptrdiff_t)conv->pad[dim];
}

ptrdiff_t conv_pad_named(const struct conv_problem *conv, int dim)
{
    ptrdiff_t pad = conv_pad_after(conv, dim);
    return pad < 0 && pad > -(ptrdiff_t)conv->stride[dim] ? 0 : pad;
}

bool conv_is_pointwise(const struct conv_problem *conv)
{
    for (int dim = 0; dim < 3; dim++)
        if (conv->kernel[dim] != 1 || conv->stride[dim] != 1 || conv->in[dim] != conv->out[dim] ||
            conv->pad[dim])
            return false;
    return true;
}

size_t matmul_batch(const struct matmul_problem *matmul)
{
    return product(matmul->dst_batch, matmul->batch_dims);
}

/* Index of the matrix in `batch` that belongs to element i of the destination's batch. */
static size_t broadcast_index(const struct matmul_problem *matmul, const size_t *batch, size_t i)
{
    size_t index = 0, step = 1;
    for (size_t dim = matmul->batch_dims; dim-- > 0;) {
        size_t here = i % matmul->dst_batch[dim];
        i /= matmul->dst_batch[dim];
        index += batch[dim] == 1 ? 0 : here * step;
        step *= batch[dim];
    }
    return index;
}

const float *matmul_src(const struct problem *problem, size_t i)
{
    const struct matmul_problem *matmul = &problem->matmul;
    return problem->src + broadcast_index(matmul, matmul->src_batch, i) * matmul->m * matmul->k;
}

const float *matmul_weights(const struct problem *problem, size_t i)
{
    const struct matmul_problem *matmul = &problem->matmul;
    return problem->weights +
           broadcast_index(matmul, matmul->weights_batch, i) * matmul->k * matmul->n;
}

float *matmul_dst(const struct problem *problem, size_t i)
{
    return problem->dst + i * problem->matmul.m * problem->matmul.n;
}

/* ---- types ---- */

static const char *const type_names[] = {
    [DRIVER_F32] = "f32", [DRIVER_F16] = "f16", [DRIVER_BF16] = "bf16", [DRIVER_S32] = "s32",
    [DRIVER_S8] = "s8",   [DRIVER_U8] = "u8",   [DRIVER_S4] = "s4"};
enum { TYPE_COUNT = sizeof type_names / sizeof type_names[0] };
static const size_t type_bytes[TYPE_COUNT] = {4, 2, 2, 4, 1, 1, 1};

static uint16_t bf16_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float of_bf16(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void *driver_typed(enum driver_type type, const float *values, size_t count)
{
    void *to = driver_allocate(count * type_bytes[type]);
    for (size_t i = 0; i < count; i++)
        switch (type) {
        case DRIVER_F32:
            ((float *)to)[i] = values[i];
            break;
        case DRIVER_F16:
            ((__fp16 *)to)[i] = (__fp16)values[i];
            break;
        case DRIVER_BF16:
            ((uint16_t *)to)[i] = bf16_of(values[i]);
            break;
        case DRIVER_S32:
            ((int32_t *)to)[i] = (int32_t)values[i];
            break;
        case DRIVER_S8:
        case DRIVER_S4:
            ((int8_t *)to)[i] = (int8_t)values[i];
            break;
        case DRIVER_U8:
            ((uint8_t *)to)[i] = (uint8_t)values[i];
            break;
        }
    return to;
}

void driver_untyped(enum driver_type type, const void *from, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        switch (type) {
        case DRIVER_F32:
            values[i] = ((const float *)from)[i];
            break;
        case DRIVER_F16:
            values[i] = (float)((const __fp16 *)from)[i];
            break;
        case DRIVER_BF16:
            values[i] = of_bf16(((const uint16_t *)from)[i]);
            break;
        case DRIVER_S32:
            values[i] = (float)((const int32_t *)from)[i];
            break;
        case DRIVER_S8:
        case DRIVER_S4:
            values[i] = ((const int8_t *)from)[i];
            break;
        case DRIVER_U8:
            values[i] = ((const uint8_t *)from)[i];
            break;
        }
}

/* The type that text begins with, which is moved behind it and a colon; f32 if none does. */
static enum driver_type take_type(const char **text)
{
    size_t length = strcspn(*text, ":");
    for (int type = DRIVER_F32; type < TYPE_COUNT; type++)
        if (strlen(type_names[type]) == length && !strncmp(type_names[type], *text, length)) {
            *text += length + ((*text)[length] == ':');
            return (enum driver_type)type;
        }
    fprintf(stderr, "driver: PERF_TYPES has no type at '%s'\n", *text);
    exit(1);
}

static void set_types(struct problem *problem)
{
    const char *asked = getenv("PERF_TYPES"), *group = getenv("PERF_GROUP");
    const char *text = problem->types = asked ? asked : "f32:f32:f32";
    problem->src_type = take_type(&text);
    problem->weights_type = take_type(&text);
    problem->dst_type = take_type(&text);
    problem->is_dynamic = group != NULL;
    problem->group = group ? strtoul(group, NULL, 10) : 0;
}

/* ---- input ---- */

static size_t parse_batch(const char *text, size_t dims[MAX_BATCH_DIMS])
{
    size_t count = 0;
    for (char *end; count < MAX_BATCH_DIMS; text = end + 1) {
        dims[count++] = strtoul(text, &end, 10);
        if (*end != 'x')
            break;
    }
    return count;
}

static bool parse_matmul(const char *line, struct problem *problem)
{
    struct matmul_problem *p = &problem->matmul;
    char src_batch[64], weights_batch[64];
    unsigned packed;
    if (sscanf(line, "matmul %zu %zu %zu %u %u %63s %63s", &p->m, &p->n, &p->k, &packed,
               &p->transposed, src_batch, weights_batch) != 7)
        return false;
    p->packed = packed;
    p->batch_dims = parse_batch(src_batch, p->src_batch);
    if (parse_batch(weights_batch, p->weights_batch) != p->batch_dims)
        return false;
    for (size_t i = 0; i < p->batch_dims; i++)
        p->dst_batch[i] =
            p->src_batch[i] > p->weights_batch[i] ? p->src_batch[i] : p->weights_batch[i];
    problem->kind = PROBLEM_MATMUL;
    problem->src_size = product(p->src_batch, p->batch_dims) * p->m * p->k;
    problem->weights_size = product(p->weights_batch, p->batch_dims) * p->k * p->n;
    problem->dst_size = matmul_batch(p) * p->m * p->n;
    return true;
}

static bool parse_conv(const char *line, struct problem *problem)
{
    size_t v[24];
    if (strncmp(line, "conv ", 5) != 0)
        return false;
    line += 5;
    for (size_t i = 0; i < 24; i++) {
        char *end;
        v[i] = strtoul(line, &end, 10);
        if (end == line)
            return false;
        line = end;
    }
    struct conv_problem *p = &problem->conv;
    *p = (struct conv_problem){.groups = v[0], .mb = v[1], .ic = v[2], .oc = v[3]};
    for (size_t dim = 0; dim < 3; dim++) {
        p->in[dim] = v[4 + dim];
        p->out[dim] = v[7 + dim];
        p->kernel[dim] = v[10 + dim];
        p->stride[dim] = v[13 + dim];
        p->pad[dim] = v[16 + dim];
        p->dilation[dim] = v[19 + dim];
    }
    p->spatial_dims = v[22];
    p->channels_last = v[23];
    problem->kind = PROBLEM_CONV;
    problem->src_size = p->mb * p->ic * conv_positions(p->in);
    problem->weights_size = p->oc * (p->ic / p->groups) * conv_positions(p->kernel);
    problem->dst_size = p->mb * p->oc * conv_positions(p->out);
    return true;
}

static bool parse_operation(const char *line, struct problem *problem)
{
    if (!operation_parse(&problem->operation, line))
        return false;
    struct operation_sizes sizes = operation_sizes(&problem->operation);
    problem->kind = PROBLEM_OPERATION;
    problem->src_size = sizes.src;
    problem->weights_size = sizes.second;
    problem->dst_size = sizes.dst;
    return true;
}

static size_t products_of(const struct problem *problem)
{
    if (problem->kind == PROBLEM_OPERATION)
        return problem->dst_size;
    size_t depth = problem->kind == PROBLEM_MATMUL ? problem->matmul.k
                                                   : problem->weights_size / problem->conv.oc;
    return problem->dst_size * depth;
}

/* Small integers from least on: all sums are exact, so that a direct method must hit the result. */
static void fill(float *values, size_t count, unsigned step, enum driver_type type)
{
    int least = type == DRIVER_U8 ? 0 : -4;
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((int)(i * step % 9) + least);
}

enum { SRC, WEIGHTS, DST };

/* Values that an array begins later by: PERF_PLACEMENT=n moves each by so many lines, up to as many
 * as a way of L2 has, and what a library allocates afterwards by all of them. Distances between
 * arrays, too, are others for each n, on the places of L1 and of L2. */
static size_t shift_of(int array)
{
    static const size_t steps[] = {[SRC] = 1171, [WEIGHTS] = 683, [DST] = 331};
    enum { PLACES = 2048, LINE = 16 };
    const char *n = getenv("PERF_PLACEMENT");
    return n ? strtoul(n, NULL, 10) * steps[array] % PLACES * LINE : 0;
}

static float *allocate_array(size_t count, int array)
{
    return driver_floats(count + shift_of(array)) + shift_of(array);
}

static void free_array(float *values, int array)
{
    free(values - shift_of(array));
}

static void make_positive(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = fabsf(values[i]) + 1;
}

static void allocate_arrays(struct problem *problem)
{
    problem->src = allocate_array(problem->src_size, SRC);
    problem->weights = allocate_array(problem->weights_size, WEIGHTS);
    problem->dst = allocate_array(problem->dst_size, DST);
    fill(problem->src, problem->src_size, 7, problem->src_type);
    fill(problem->weights, problem->weights_size, 5, problem->weights_type);
    if (problem->kind == PROBLEM_OPERATION && problem->operation.operation == OPERATION_BATCH_NORM)
        make_positive(problem->weights + problem->weights_size / 4 * 3, problem->weights_size / 4);
    memset(problem->dst, 0, problem->dst_size * sizeof(float));
}

static void free_arrays(struct problem *problem)
{
    free_array(problem->src, SRC);
    free_array(problem->weights, WEIGHTS);
    free_array(problem->dst, DST);
}

/* ---- check ---- */

/* Where element (row, column) of a rows × columns matrix lies. */
static size_t matrix_index(size_t row, size_t column, size_t rows, size_t columns, bool transposed)
{
    return transposed ? column * rows + row : row * columns + column;
}

/* Of the i-th value of dst as it lies in memory. */
static double matmul_expected(const struct problem *problem, size_t i)
{
    const struct matmul_problem *p = &problem->matmul;
    size_t size = p->m * p->n, batch = i / size, at = i % size;
    bool by_column = p->transposed & OPERAND_DST;
    size_t row = by_column ? at % p->m : at / p->n, column = by_column ? at / p->m : at % p->n;
    const float *src = matmul_src(problem, batch), *weights = matmul_weights(problem, batch);
    double sum = 0;
    for (size_t k = 0; k < p->k; k++)
        sum +=
            (double)src[matrix_index(row, k, p->m, p->k, p->transposed & OPERAND_SRC)] *
            (double)weights[matrix_index(k, column, p->k, p->n, p->transposed & OPERAND_WEIGHTS)];
    return sum;
}

/* The source element under kernel position `tap` for output position `out`, or -1 in the padding */
static ptrdiff_t source_position(const struct conv_problem *p, size_t out, size_t tap)
{
    ptrdiff_t position = 0;
    size_t out_rest[3] = {out / (p->out[1] * p->out[2]), out / p->out[2] % p->out[1],
                          out % p->out[2]};
    size_t tap_rest[3] = {tap / (p->kernel[1] * p->kernel[2]), tap / p->kernel[2] % p->kernel[1],
                          tap % p->kernel[2]};
    for (int dim = 0; dim < 3; dim++) {
        ptrdiff_t at =
            (ptrdiff_t)(out_rest[dim] * p->stride[dim] + tap_rest[dim] * (p->dilation[dim] + 1)) -
            (ptrdiff_t)p->pad[dim];
        if (at < 0 || at >= (ptrdiff_t)p->in[dim])
            return -1;
        position = position * (ptrdiff_t)p->in[dim] + at;
    }
    return position;
}

static size_t conv_index(const struct conv_problem *p, size_t channels, size_t positions,
                         size_t image, size_t channel, size_t position)
{
    return p->channels_last ? (image * positions + position) * channels + channel
                            : (image * channels + channel) * positions + position;
}

static double conv_expected(const struct problem *problem, size_t image, size_t oc, size_t out)
{
    const struct conv_problem *p = &problem->conv;
    size_t taps = conv_positions(p->kernel), icg = p->ic / p->groups;
    size_t first_ic = oc / (p->oc / p->groups) * icg;
    double sum = 0;
    for (size_t tap = 0; tap < taps; tap++) {
        ptrdiff_t position = source_position(p, out, tap);
        for (size_t ic = 0; position >= 0 && ic < icg; ic++)
            sum += (double)problem->weights[(oc * icg + ic) * taps + tap] *
                   (double)problem->src[conv_index(p, p->ic, conv_positions(p->in), image,
                                                   first_ic + ic, (size_t)position)];
    }
    return sum;
}

/* Bytes saturate, floats of 16 bits are rounded, and so are elements of src that become integers.
 */
static double error_of(const struct problem *problem, double got, double expected)
{
    double low = -INFINITY, high = INFINITY, rounding = 0;
    if (problem->dst_type == DRIVER_S8)
        low = -128, high = 127;
    else if (problem->dst_type == DRIVER_U8)
        low = 0, high = 255;
    else if (problem->dst_type == DRIVER_F16 || problem->dst_type == DRIVER_BF16)
        rounding = fabs(expected) / 256;
    if (problem->is_dynamic)
        rounding +=
            fabs(expected) / 32 + sqrt((double)(products_of(problem) / problem->dst_size)) / 4;
    return fmax(fabs(got - fmin(fmax(expected, low), high)) - rounding, 0);
}

static double error_at(const struct problem *problem, size_t i)
{
    if (problem->kind == PROBLEM_OPERATION)
        return error_of(problem, (double)problem->dst[i],
                        operation_expected(&problem->operation, problem->src, problem->weights, i));
    if (problem->kind == PROBLEM_MATMUL)
        return error_of(problem, (double)problem->dst[i], matmul_expected(problem, i));
    const struct conv_problem *p = &problem->conv;
    size_t positions = conv_positions(p->out);
    size_t image = i / (p->oc * positions), oc = i / positions % p->oc, out = i % positions;
    size_t at = conv_index(p, p->oc, positions, image, oc, out);
    return error_of(problem, (double)problem->dst[at], conv_expected(problem, image, oc, out));
}

static double largest_error(const struct problem *problem)
{
    double largest = 0;
    for (size_t sample = 0; sample < SAMPLES; sample++) {
        /* a step that shares no factor with usual sizes; the last sample is the last element */
        size_t i =
            sample + 1 == SAMPLES ? problem->dst_size - 1 : sample * 1000003 % problem->dst_size;
        largest = fmax(largest, error_at(problem, i));
    }
    return largest;
}

/* ---- measure ---- */

enum mode { COUNTED, TIMED, CYCLES, WARM_CYCLES };

static enum mode mode_of(const char *option)
{
    static const char *const options[] = {"", "--time", "--cycles", "--warm-cycles"};
    enum mode mode = WARM_CYCLES;
    while (mode > COUNTED && strcmp(option, options[mode]) != 0)
        mode--;
    return mode;
}

static double checked(const struct problem *problem, void *state)
{
    if (peer.fetch)
        peer.fetch(state);
    return largest_error(problem);
}

static void run_in_region(const struct problem *problem, void *state)
{
    if (products_of(problem) < WARM_UP_LIMIT)
        peer.run(state);
    region_begin();
    peer.run(state);
    region_end();
}

static void run_timed(const struct problem *problem, void *state)
{
    struct hardware_sample sample = hardware_time(peer.run, state);
    printf("ok %g %llu", checked(problem, state), (unsigned long long)sample.ns);
    for (size_t i = 0; i < HARDWARE_EVENTS; i++)
        printf(" %llu", (unsigned long long)sample.events[i]);
    printf("\n");
}

/* ---- the cycle simulator ---- */

/* More than its caches hold, read and not written; volatile, or the compiler knows that it is all
 * zeros and reads nothing. */
static void fill_caches(void)
{
    enum { BYTES = 24 << 20, LINE = 64 };
    static volatile unsigned char other[BYTES];
    for (size_t i = 0; i < BYTES; i += LINE)
        (void)other[i];
}

static long long simulated_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* From here on the simulator runs cycle by cycle; it takes every other core for broken. */
static void begin_cycles(void)
{
    __asm__ volatile(".inst 0xff520110" ::: "memory");
}

static size_t weights_bytes(const struct problem *problem, void *state)
{
    return peer.weights_bytes ? peer.weights_bytes(state) : problem->weights_size * sizeof(float);
}

static void run_simulated(const struct problem *problem, void *state, bool cold)
{
    peer.run(state);
    if (cold)
        fill_caches();
    else
        peer.run(state);
    begin_cycles();
    long long start = simulated_ns();
    peer.run(state);
    long long end = simulated_ns();
    printf("ok %g %lld %s %zu\n", checked(problem, state), end - start,
           peer.implementation ? peer.implementation(state) : peer.name,
           weights_bytes(problem, state));
    fflush(stdout);
    _exit(0); /* what is left would be simulated, too */
}

static void print_machine(void)
{
    const char *refusal = hardware_refusal();
    hardware_stay();
    printf("peak %g clock %g events %s%s\n", hardware_peak(), hardware_clock(),
           refusal ? "no: " : "yes", refusal ? refusal : "");
    fflush(stdout);
}

static void measure(struct problem *problem, enum mode mode)
{
    void *state = NULL;
    set_types(problem);
    allocate_arrays(problem);
    const char *why_not = peer.prepare(problem, &state);
    if (why_not) {
        printf("refused %s\n", why_not);
    } else if (mode == TIMED) {
        run_timed(problem, state);
    } else if (mode == CYCLES || mode == WARM_CYCLES) {
        run_simulated(problem, state, mode == CYCLES);
    } else {
        run_in_region(problem, state);
        printf("ok %g\n", checked(problem, state));
    }
    fflush(stdout);
    peer.release(state);
    free_arrays(problem);
}

int main(int argc, char **argv)
{
    enum mode mode = mode_of(argc > 1 ? argv[1] : "");
    const char *why_not = peer.start();
    if (why_not) {
        fprintf(stderr, "%s: %s\n", peer.name, why_not);
        return 1;
    }
    if (mode == TIMED)
        print_machine();
    char line[512];
    while (fgets(line, sizeof line, stdin)) {
        struct problem problem = {0};
        if (!parse_matmul(line, &problem) && !parse_conv(line, &problem) &&
            !parse_operation(line, &problem)) {
            fprintf(stderr, "%s: not a problem: %s", peer.name, line);
            return 1;
        }
        measure(&problem, mode);
    }
    return 0;
}
