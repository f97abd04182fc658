/* Compares a result with what the reference says. */
#include "benchdnn/compare.h"

#include "benchdnn/attributes/post_ops.h"
#include "benchdnn/driver.h"
#include "benchdnn/element.h"
#include "benchdnn/fill.h"
#include "benchdnn/globals.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define POINTS_SHOWN 10

/* What may excuse a difference, from the attributes and the type. */
struct tolerance {
    enum type type;
    double threshold; /* relative */
    double near;      /* absolute */
    bool has_eltwise, has_exp, has_rounding, may_be_non_finite, has_dst_scale, is_chain;
};

struct point {
    double exact, expected, got, diff, rdiff;
};

/* Of what is not exact before it is rounded, rounding may go either way. */
static double threshold_of(const struct comparison *c, enum type type)
{
    const struct driver *driver = c->problem->driver;
    if (c->is_winograd)
        return type == TYPE_F16 ? 7e-3 : 2e-5;
    double tolerance = driver->tolerance ? driver->tolerance(c->problem) : 0;
    double epsilon = type_epsilon(type);
    return tolerance > 0 && tolerance < epsilon ? epsilon : tolerance;
}

/* The largest factor that a post-operation gives an element. */
static double gain_of(const struct post_op *op)
{
    if (op->kind == POST_OP_BINARY && op->binary == NEO_BINARY_MUL)
        return FILL_BINARY_MOST;
    return op->kind == POST_OP_ELTWISE && op->eltwise == NEO_ELTWISE_LINEAR ? fabs(op->alpha) : 1;
}

/* By how much scales and post-operations magnify an error that an operation makes before they are
 * applied. */
static double gain(const struct problem *p)
{
    double factor = 1;
    for (int i = 0; i < p->attr.post_ops.count; i++)
        factor *= gain_of(&p->attr.post_ops.at[i]);
    for (int i = 0; i < p->attr.scales.count; i++) {
        const struct quantity *q = &p->attr.scales.at[i];
        if (q->has_value && q->arg == QUANTITY_DST)
            factor /= q->value;
        if (q->has_value && q->arg == QUANTITY_SRC && p->driver->scales_result)
            factor *= q->value;
    }
    return factor > 1 ? factor : 1;
}

static double near_of(const struct problem *p)
{
    return p->driver->near ? p->driver->near(p) * gain(p) : 0;
}

static struct tolerance find_tolerance(const struct comparison *c)
{
    const struct post_ops *ops = &c->problem->attr.post_ops;
    enum type type = c->problem->operands[DST].type;
    return (struct tolerance){
        .type = type,
        .threshold = threshold_of(c, type),
        .near = near_of(c->problem),
        .has_eltwise = post_ops_have_kind(ops, POST_OP_ELTWISE),
        .has_exp = post_ops_have_eltwise(ops, NEO_ELTWISE_EXP),
        .has_rounding = post_ops_round(ops),
        .may_be_non_finite =
            type == TYPE_F16 || c->problem->driver->tolerance || post_ops_make_non_finite(ops),
        .has_dst_scale = c->has_dst_scale,
        .is_chain = ops->count > 1,
    };
}

/* ---- rules: each says that a difference is what rounding may do ---- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static bool is_tiny(const struct point *p)
{
    return fabs(p->expected) <= 1e-5 && p->diff < (double)FLT_EPSILON;
}

static bool is_below_threshold(const struct point *p, const struct tolerance *t)
{
    return (fabs(p->expected) > 1e-5 ? p->rdiff : p->diff) <= t->threshold || p->diff <= t->near;
}

static bool is_same_extreme(const struct point *p, const struct tolerance *t)
{
    bool both_nan = isnan(p->expected) && isnan(p->got);
    bool both_infinite = isinf(p->expected) && p->expected == p->got;
    /* what an operation makes of a value that is no number is not defined */
    bool is_undefined = t->is_chain && isnan(p->expected);
    return t->may_be_non_finite && (both_nan || both_infinite || is_undefined);
}

static bool is_integer_excuse(const struct point *p, const struct tolerance *t)
{
    if (!type_is_integer(t->type))
        return false;
    /* an operation's own error may take a value over the tie */
    bool is_half = fabs(fabs(p->exact - floor(p->exact)) - 0.5) < larger(9e-6, t->near);
    bool is_saturated =
        t->type == TYPE_S32 && p->expected == type_max(TYPE_S32) && p->got >= 2147483520;
    return isnan(p->exact) || is_saturated || (is_half && p->diff <= 1);
}

static bool is_eltwise_rounding(const struct point *p, const struct tolerance *t)
{
    double epsilon = type_epsilon(t->type);
    if (t->has_exp || (t->has_eltwise && fabs(p->expected) > 1e5))
        return p->rdiff <= larger(epsilon, 5e-6) || p->diff <= larger(epsilon, 2e-5);
    return t->has_eltwise &&
           (p->diff <= larger(epsilon, 2e-5) || p->rdiff <= larger(epsilon, 8e-6));
}

static bool is_binary_rounding(const struct point *p, const struct tolerance *t)
{
    if (!t->has_rounding)
        return false;
    if (t->type == TYPE_F16 || t->type == TYPE_BF16)
        return p->rdiff <= larger(type_epsilon(t->type), 5e-3);
    return p->diff <= 4e-6 || p->rdiff <= 1e-5;
}

static bool is_scale_rounding(const struct point *p, const struct tolerance *t)
{
    return t->has_dst_scale && p->rdiff <= larger(type_epsilon(t->type), 1e-5);
}

static bool is_excused(const struct point *p, const struct tolerance *t)
{
    return is_tiny(p) || is_below_threshold(p, t) || is_same_extreme(p, t) ||
           is_integer_excuse(p, t) || is_eltwise_rounding(p, t) || is_binary_rounding(p, t) ||
           is_scale_rounding(p, t);
}

static struct point make_point(const struct comparison *c, enum type type, int64_t i)
{
    struct point p = {.exact = c->expected[i], .got = c->got[i]};
    p.expected = element_round(type, p.exact);
    p.diff = fabs(p.expected - p.got);
    p.rdiff = p.diff / (fabs(p.expected) > (double)FLT_MIN ? fabs(p.expected) : 1);
    return p;
}

static void print_point(const struct dims *dims, int64_t index, const struct point *p)
{
    struct dims position = {.count = dims->count};
    int64_t rest = index;
    for (int i = dims->count - 1; i >= 0; i--) {
        position.at[i] = rest % dims->at[i];
        rest /= dims->at[i];
    }
    struct text text = {0};
    dims_print(&text, &position);
    printf("[%4lld][DST][%s] exp_f32:%12g exp:%12g got:%12g diff:%8g rdiff:%8g\n", (long long)index,
           text_get(&text), p->exact, p->expected, p->got, p->diff, p->rdiff);
    text_deinit(&text);
}

/* ---- all points ---- */

struct totals {
    size_t errors, zeros;
    double squared_diff, squared_expected;
};

static void compare_all(const struct comparison *c, int64_t count, bool print,
                        struct totals *totals)
{
    const struct operand *dst = &c->problem->operands[DST];
    struct tolerance tolerance = find_tolerance(c);
    *totals = (struct totals){0};
    for (int64_t i = 0; i < count; i++) {
        totals->zeros += c->got[i] == 0;
        if (c->got[i] == c->expected[i] && !c->is_winograd)
            continue;
        struct point p = make_point(c, dst->type, i);
        totals->squared_diff += p.diff * p.diff;
        totals->squared_expected += p.expected * p.expected;
        bool is_ok = c->slack ? p.diff <= c->slack[i] || (isnan(p.expected) && isnan(p.got)) ||
                                    p.expected == p.got
                              : p.expected == p.got || is_excused(&p, &tolerance);
        if (!is_ok && totals->errors++ < POINTS_SHOWN && print)
            print_point(&dst->dims, i, &p);
    }
}

/* Winograd's transforms may lose more in single points than in all together. */
static bool is_close_in_norm(const struct comparison *c, const struct totals *totals)
{
    double threshold = find_tolerance(c).threshold;
    return c->is_winograd && totals->squared_expected > 0 &&
           sqrt(totals->squared_diff / totals->squared_expected) <= threshold;
}

static bool compares(const struct post_ops *ops)
{
    for (int i = 0; i < ops->count; i++) {
        if (ops->at[i].kind == POST_OP_BINARY && ops->at[i].binary >= NEO_BINARY_MIN &&
            !post_op_selects(&ops->at[i]))
            return true;
    }
    return false;
}

/* A result of which nearly all is zero says nothing about the sums. */
static bool is_mistrusted(const struct comparison *c, int64_t count, size_t zeros)
{
    const struct problem *p = c->problem;
    double trust = p->driver->zero_trust;
    bool is_cut = post_ops_make_zeros(&p->attr.post_ops) || p->operands[DST].type == TYPE_U8;
    if (is_cut && trust < 85)
        trust = 85;
    return count >= 10 && !compares(&p->attr.post_ops) &&
           100.0 * (double)zeros / (double)count > trust;
}

void compare_results(const struct comparison *c, struct outcome *outcome)
{
    int64_t count = dims_elements(&c->problem->operands[DST].dims);
    struct totals totals;
    compare_all(c, count, !c->is_winograd, &totals);
    if (totals.errors && is_close_in_norm(c, &totals))
        totals.errors = 0;
    outcome->errors = totals.errors;
    outcome->total = (size_t)count;
    if (totals.errors)
        outcome->state = STATE_FAILED;
    else if (is_mistrusted(c, count, totals.zeros))
        outcome->state = STATE_MISTRUSTED;
    else
        outcome->state = STATE_PASSED;
}
