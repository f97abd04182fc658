/* Fills tensors such that results can be compared exactly. */
#include "benchdnn/fill.h"

#include "benchdnn/driver.h"
#include "benchdnn/element.h"
#include "benchdnn/fused.h"
#include "benchdnn/globals.h"

#include <math.h>

/* ---- random numbers, the same in every run ---- */

/* Number i of a sequence follows from i alone (and repeats after 2^32), so none waits for the one
 * before: i goes through the multiplications and shifts with which MurmurHash3 ends (A. Appleby),
 * after which each bit depends on each. */
struct random {
    uint32_t key;
};

static uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

static struct random random_begin(int kind, int64_t count)
{
    return (struct random){mix((uint32_t)(kind + 1) * 0x9e3779b9u ^ mix((uint32_t)count))};
}

static uint32_t random_at(struct random r, int64_t i)
{
    return mix((uint32_t)i * 0x9e3779b9u ^ r.key);
}

/* Another sequence: what decides about an element does not also say what it is. */
static struct random random_other(struct random r)
{
    return (struct random){mix(~r.key)};
}

static int random_between(struct random r, int64_t i, int low, int high)
{
    uint64_t span = (uint64_t)((int64_t)high - low) + 1;
    return low + (int)(random_at(r, i) * span >> 32);
}

static double random_unit(struct random r, int64_t i)
{
    return random_at(r, i) * 0x1p-32;
}

static int random_sign(struct random r, int64_t i)
{
    return random_at(random_other(r), i) & 1 ? 1 : -1;
}

/* ---- ranges ---- */

struct range {
    int low, high;
};

struct range_row {
    enum type type;
    struct range src, weights, dst;
};

static const struct range_row conv_ranges[] = {
    {TYPE_F32, {-32, 32}, {-32, 32}, {-8, 8}}, {TYPE_BF16, {-4, 4}, {-4, 4}, {-4, 4}},
    {TYPE_F16, {-4, 4}, {-2, 2}, {-4, 4}},     {TYPE_S8, {-4, 4}, {-4, 4}, {-4, 4}},
    {TYPE_U8, {0, 8}, {0, 8}, {0, 160}},       {TYPE_S32, {-4, 4}, {-4, 4}, {-128, 128}},
};

static const struct range_row winograd_ranges[] = {
    {TYPE_F32, {-16, 128}, {2, 64}, {-8, 8}},
    {TYPE_F16, {-2, 16}, {1, 6}, {-4, 4}},
};

static const struct range_row matmul_ranges[] = {
    {TYPE_F32, {-64, 64}, {-128, 128}, {-8, 8}}, {TYPE_BF16, {-4, 4}, {-2, 2}, {-4, 4}},
    {TYPE_F16, {-4, 4}, {-2, 2}, {-4, 4}},       {TYPE_S8, {-4, 4}, {-4, 4}, {-4, 4}},
    {TYPE_U8, {0, 8}, {0, 8}, {0, 160}},         {TYPE_S32, {-4, 4}, {-4, 4}, {-128, 128}},
    {TYPE_S4, {-2, 2}, {-2, 2}, {-2, 2}},        {TYPE_U4, {0, 4}, {0, 4}, {0, 4}},
};

static const struct range_row reorder_ranges[] = {
    {TYPE_F32, {-128, 128}, {0, 0}, {-8, 8}}, {TYPE_BF16, {-128, 128}, {0, 0}, {-8, 8}},
    {TYPE_F16, {-128, 128}, {0, 0}, {-8, 8}}, {TYPE_S32, {-1000, 1000}, {0, 0}, {-8, 8}},
    {TYPE_S8, {-128, 127}, {0, 0}, {-8, 8}},  {TYPE_U8, {0, 255}, {0, 0}, {0, 8}},
    {TYPE_S4, {-8, 7}, {0, 0}, {-8, 7}},      {TYPE_U4, {0, 15}, {0, 0}, {0, 8}},
};

/* Every tensor of operations on lines: what their functions tell from each other. */
static const struct range_row line_ranges[] = {
    {TYPE_F32, {-8, 8}, {0, 0}, {0, 0}}, {TYPE_BF16, {-4, 4}, {0, 0}, {0, 0}},
    {TYPE_F16, {-4, 4}, {0, 0}, {0, 0}}, {TYPE_S32, {-16, 16}, {0, 0}, {0, 0}},
    {TYPE_S8, {-8, 8}, {0, 0}, {0, 0}},  {TYPE_U8, {0, 8}, {0, 0}, {0, 0}},
};

#define TABLE(rows) rows, sizeof(rows) / sizeof *(rows)

static struct range find_in(const struct range_row *rows, size_t count, enum type type, int operand)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].type == type)
            return operand == SRC ? rows[i].src : operand == WEI ? rows[i].weights : rows[i].dst;
    }
    return (struct range){-4, 4};
}

/* A little beyond what the shortest types hold, so that not nearly all of a result is saturated. */
static struct range find_reorder_range(const struct problem *p, int operand)
{
    enum type to = p->operands[DST].type;
    struct range range = find_in(TABLE(reorder_ranges), p->operands[operand].type, operand);
    if (operand != SRC || type_digits(to) > type_digits(TYPE_U4))
        return range;
    int low = (int)type_min(to) - 2, high = (int)type_max(to) + 2;
    return (struct range){low > range.low ? low : range.low, high < range.high ? high : range.high};
}

static struct range find_range(const struct problem *p, int operand, bool is_winograd)
{
    enum type type = p->operands[operand].type;
    if (p->operands[operand].arg % NEO_ARG_ATTR_POST_OP_DW == NEO_ARG_BIAS)
        return (struct range){type_min(type) < 0 ? -8 : 0, 8};
    if (type == TYPE_F32 && p->attr.fpmath.mode != NEO_FPMATH_STRICT)
        type = TYPE_BF16; /* the library may round inputs to that: they are to survive it */
    if (is_winograd)
        return find_in(TABLE(winograd_ranges), type, operand);
    if (p->driver->is_convolution)
        return find_in(TABLE(conv_ranges), type, operand == DW_WEI ? WEI : operand);
    if (p->driver == &driver_matmul)
        return find_in(TABLE(matmul_ranges), type, operand);
    if (p->driver->is_on_lines)
        return find_in(TABLE(line_ranges), type, SRC);
    return find_reorder_range(p, operand);
}

static int largest(struct range range)
{
    return -range.low > range.high ? -range.low : range.high;
}

/* Below 2^digits every integer is exact, also in the type of dst. So many products may be added
 * without getting there; the others must be 0. Integer results are to saturate, so they get more.
 */
static double find_density(const struct problem *p, bool is_winograd)
{
    if (is_winograd || p->driver == &driver_reorder || p->driver->is_on_lines)
        return 1;
    enum type type = p->operands[DST].type;
    bool is_int8 = type_is_integer(p->operands[SRC].type);
    int accumulator = is_int8 ? 31 : 24;
    int digits =
        type_digits(type) < accumulator && !type_is_integer(type) ? type_digits(type) : accumulator;
    double product =
        (double)largest(find_range(p, SRC, false)) * (double)largest(find_range(p, WEI, false));
    const struct post_op *depthwise = fused_depthwise(p);
    if (depthwise)
        product *=
            pow(depthwise->kernel, p->conv.spatial) * (double)largest(find_range(p, DW_WEI, false));
    double safe = ldexp(1, digits) / product;
    double density = safe / (double)p->driver->reduction(p) * (is_int8 ? 3 : 1);
    return density < 1 ? density : 1;
}

/* ---- filling ---- */

static void fill_integers(struct tensor *t, int kind, struct range range, double density)
{
    int64_t count = dims_elements(&t->dims);
    struct random r = random_begin(kind, count), other = random_other(r);
    uint32_t limit = density < 1 ? (uint32_t)(density * 0x1p32) : UINT32_MAX;
    for (int64_t i = 0; i < count; i++) {
        bool is_zero = density < 1 && random_at(other, i) >= limit;
        t->values[i] = is_zero ? 0 : (float)random_between(r, i, range.low, range.high);
    }
    for (int64_t i = 0; count > 0 && t->values[0] <= 0 && range.high > 0; i++)
        t->values[0] = (float)random_between(r, i, range.low, range.high);
}

static void fill_reals(struct tensor *t, int kind)
{
    int64_t count = dims_elements(&t->dims);
    struct random r = random_begin(kind, count);
    for (int64_t i = 0; i < count; i++)
        t->values[i] = (float)(random_unit(r, i) * 2 - 1);
}

/* Elements are as far from a zero point that is given as they would be from 0, so that their type's
 * other values are there, too, and not nearly all results are saturated. */
static void add_zero_point(struct tensor *t, const struct quantities *all, int arg)
{
    for (int i = 0; i < all->count; i++) {
        const struct quantity *q = &all->at[i];
        if (quantity_neo_arg(q) != arg || !q->has_value)
            continue;
        for (int64_t j = 0, count = dims_elements(&t->dims); j < count; j++)
            t->values[j] = (float)element_round(t->type, (double)t->values[j] + q->value);
    }
}

void fill_operand(struct tensor *t, const struct problem *p, int operand, bool is_winograd)
{
    if (p->driver->fill && p->driver->fill(t, p, operand))
        return;
    bool is_real = globals.fill == FILL_REAL && !type_is_integer(t->type);
    if (is_real && p->driver != &driver_reorder) {
        fill_reals(t, operand);
        return;
    }
    double density = operand == SRC ? find_density(p, is_winograd) : 1;
    fill_integers(t, operand, find_range(p, operand, is_winograd), density);
    if (p->driver->reduction && (operand == SRC || operand == WEI))
        add_zero_point(t, &p->attr.zero_points, p->operands[operand].arg);
}

void fill_binary(struct tensor *t)
{
    int64_t count = dims_elements(&t->dims);
    struct random r = random_begin(17, count);
    bool is_unsigned = t->type == TYPE_U8 || t->type == TYPE_U4;
    for (int64_t i = 0; i < count; i++) {
        int value = random_between(r, i, 1, t->type == TYPE_S4 ? 7 : FILL_BINARY_MOST);
        t->values[i] = (float)(is_unsigned ? value : value * random_sign(r, i));
    }
}

void fill_condition(struct tensor *t)
{
    int64_t count = dims_elements(&t->dims);
    struct random r = random_begin(19, count);
    for (int64_t i = 0; i < count; i++)
        t->values[i] = (float)(random_at(r, i) & 1);
}

void fill_prelu(struct tensor *t)
{
    int64_t count = dims_elements(&t->dims);
    struct random r = random_begin(18, count);
    for (int64_t i = 0; i < count; i++)
        t->values[i] = (float)(random_between(r, i, 1, 4) * random_sign(r, i)) / 4;
}

void fill_scales(struct tensor *t, const struct quantity *q)
{
    int64_t count = dims_elements(&t->dims);
    struct random r = random_begin(19 + (int)q->arg, count);
    for (int64_t i = 0; i < count; i++)
        t->values[i] = q->has_value ? (float)element_round(q->type, q->value)
                                    : (float)ldexp(1, random_between(r, i, -4, 1));
}

void fill_zero_points(struct tensor *t, const struct quantity *q)
{
    int64_t count = dims_elements(&t->dims);
    struct random r = random_begin(29 + (int)q->arg, count);
    int least = type_min(q->type) < 0 ? -2 : 0;
    for (int64_t i = 0; i < count; i++)
        t->values[i] = q->has_value ? (float)element_round(q->type, q->value)
                                    : (float)random_between(r, i, least, 2);
}
