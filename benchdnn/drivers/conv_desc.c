/* Convolution descriptors: "mb2ic16ih7oc16oh7kh5ph2n"name"" and back. */
#include "benchdnn/driver.h"
#include "benchdnn/drivers/conv.h"
#include "benchdnn/globals.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D, H, W };

/* Products of two numbers and sums of those fit 64 bits. */
/* Products of a size and a factor (a stride, a kernel's extent) fit 64 bits. */
#define SIZE_MOST (INT64_C(3) << 31)
#define FACTOR_MOST (INT64_C(1) << 30)

/* ---- from text to numbers ---- */

/* Sizes as they were written; -1 where they were not. */
struct numbers {
    int64_t g, mb, ic, oc;
    int64_t i[SPATIAL], o[SPATIAL], k[SPATIAL], s[SPATIAL], p[SPATIAL], d[SPATIAL];
};

struct key {
    const char *name;
    size_t offset;
};

#define KEY(name, field)                      \
    {                                         \
        name, offsetof(struct numbers, field) \
    }

static const struct key keys[] = {
    KEY("g", g),     KEY("mb", mb),   KEY("ic", ic),   KEY("oc", oc),   KEY("id", i[D]),
    KEY("ih", i[H]), KEY("iw", i[W]), KEY("od", o[D]), KEY("oh", o[H]), KEY("ow", o[W]),
    KEY("kd", k[D]), KEY("kh", k[H]), KEY("kw", k[W]), KEY("sd", s[D]), KEY("sh", s[H]),
    KEY("sw", s[W]), KEY("pd", p[D]), KEY("ph", p[H]), KEY("pw", p[W]), KEY("dd", d[D]),
    KEY("dh", d[H]), KEY("dw", d[W]),
};

#define KEY_COUNT (sizeof keys / sizeof *keys)

static const struct key *find_key(const char *text, size_t length)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strlen(keys[i].name) == length && strncmp(text, keys[i].name, length) == 0)
            return &keys[i];
    }
    return NULL;
}

/* Sizes of tensors begin with these letters, factors with others. */
static int64_t most_of(const struct key *key)
{
    return strchr("mgio", key->name[0]) ? SIZE_MOST : FACTOR_MOST;
}

/* Reads "key number" at *text. */
static bool read_pair(struct numbers *out, const char **text)
{
    size_t length = 0;
    while (isalpha((unsigned char)(*text)[length]))
        length++;
    const struct key *key = find_key(*text, length);
    if (!key) {
        bench_error("Unrecognized pattern in `%s`.", *text);
        return false;
    }
    *text += length;
    if (**text == '-') {
        bench_error("Value of `%s` must be positive.", key->name);
        return false;
    }
    char *end;
    errno = 0;
    int64_t value = strtoll(*text, &end, 10);
    if (end == *text || !isdigit((unsigned char)**text)) {
        bench_error("No value found for `%s` setting.", key->name);
        return false;
    }
    if (errno || value > most_of(key)) {
        bench_error("Value of `%s` is too large.", key->name);
        return false;
    }
    memcpy((char *)out + key->offset, &value, sizeof value);
    *text = end;
    return true;
}

static bool read_numbers(struct numbers *out, struct problem *problem, const char *text)
{
    memset(out, -1, sizeof *out);
    while (*text) {
        if (*text == '_') {
            text++;
        } else if (*text == 'n') {
            if (problem_set_name(problem, text + 1))
                return true;
            bench_error("The name `%s` is too long.", text + 1);
            return false;
        } else if (!read_pair(out, &text)) {
            return false;
        }
    }
    return true;
}

/* ---- from numbers to a shape ---- */

static bool is_used(const struct numbers *n, int axis)
{
    return n->i[axis] >= 0 || n->o[axis] >= 0 || n->k[axis] >= 0 || n->s[axis] >= 0 ||
           n->p[axis] >= 0 || n->d[axis] >= 0;
}

static int64_t or_else(int64_t value, int64_t other)
{
    return value >= 0 ? value : other;
}

/* Where one axis is written and a smaller one is not, the smaller one has the same sizes. */
static void copy_axis(struct numbers *n, int to, int from)
{
    int64_t *const all[] = {n->i, n->o, n->k, n->s, n->p, n->d};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        all[i][to] = all[i][from];
}

static int count_axes(struct numbers *n)
{
    int first = is_used(n, D) ? D : is_used(n, H) ? H : W;
    if (!is_used(n, H) && !is_used(n, W) && first == D)
        copy_axis(n, H, D);
    if (!is_used(n, W) && first <= H)
        copy_axis(n, W, H);
    return SPATIAL - first;
}

static int64_t size_of_dst(int64_t src, int64_t extent, int64_t stride, int64_t padding)
{
    int64_t room = src - extent + 2 * padding;
    return room < 0 ? 0 : room / stride + 1;
}

/* is_turned: of a deconvolution, where src and dst have changed places. */
static bool fill_axis(struct conv_shape *out, const struct numbers *n, int axis, bool is_turned)
{
    static const char letters[] = "dhw";
    int64_t i = n->i[axis], k = n->k[axis], s = or_else(n->s[axis], 1);
    int64_t d = or_else(n->d[axis], 0);
    if (i < 0 || k < 1 || s < 1) {
        bench_error("`i%c`, `k%c` and `s%c` must be positive.", letters[axis], letters[axis],
                    letters[axis]);
        return false;
    }
    int64_t extent = (k - 1) * (d + 1) + 1, o = n->o[axis], p = n->p[axis];
    if (o < 0) {
        p = or_else(p, 0);
        o = is_turned ? (i - 1) * s + extent - 2 * p : size_of_dst(i, extent, s, p);
    } else if (p < 0) {
        p = (is_turned ? (i - 1) * s - o + extent : (o - 1) * s - i + extent) / 2;
    }
    if (o < 1) {
        bench_error("`o%c` is %lld.", letters[axis], (long long)o);
        return false;
    }
    out->i[axis] = i;
    out->o[axis] = o;
    out->k[axis] = k;
    out->s[axis] = s;
    out->p[axis] = p;
    out->d[axis] = d;
    out->right[axis] = (is_turned ? (i - 1) * s - o : (o - 1) * s - i) + extent - p;
    return true;
}

static void fill_missing_axis(struct conv_shape *out, int axis)
{
    out->i[axis] = out->o[axis] = out->k[axis] = out->s[axis] = 1;
    out->p[axis] = out->d[axis] = out->right[axis] = 0;
}

static bool fill_channels(struct conv_shape *out, const struct numbers *n)
{
    out->has_groups = n->g >= 0;
    out->g = or_else(n->g, 1);
    out->mb = or_else(n->mb, 2);
    out->ic = n->ic;
    out->oc = n->oc;
    if (n->ic < 0 || n->oc < 0) {
        bench_error("`ic` and `oc` are mandatory.");
        return false;
    }
    if (out->g < 1 || out->ic % out->g || out->oc % out->g) {
        bench_error("`g` must divide `ic` and `oc`.");
        return false;
    }
    return true;
}

bool conv_desc_parse(struct problem *problem, const char *text)
{
    struct numbers n;
    struct conv_shape *shape = &problem->conv;
    *shape = (struct conv_shape){0};
    problem->name[0] = 0;
    if (!read_numbers(&n, problem, text))
        return false;
    if (problem->driver->is_on_lines && n.oc < 0) /* pooling has no others */
        n.oc = n.ic;
    if (!fill_channels(shape, &n))
        return false;
    shape->spatial = count_axes(&n);
    for (int axis = 0; axis < SPATIAL; axis++) {
        if (axis < SPATIAL - shape->spatial)
            fill_missing_axis(shape, axis);
        else if (!fill_axis(shape, &n, axis, problem->driver->is_turned))
            return false;
    }
    return true;
}

/* ---- and back ---- */

static bool is_square(const struct conv_shape *c, bool canonical)
{
    if (canonical)
        return false;
    for (int a = SPATIAL - c->spatial; a < W; a++) {
        if (c->i[a] != c->i[W] || c->o[a] != c->o[W] || c->k[a] != c->k[W] || c->s[a] != c->s[W] ||
            c->p[a] != c->p[W] || c->d[a] != c->d[W])
            return false;
    }
    return true;
}

static bool differs(const int64_t *values, const struct conv_shape *c, int64_t from)
{
    for (int a = SPATIAL - c->spatial; a < SPATIAL; a++) {
        if (values[a] != from)
            return true;
    }
    return false;
}

static void print_sizes(struct text *out, char letter, const int64_t *values, int first, int last)
{
    for (int a = first; a <= last; a++)
        text_printf(out, "%c%c%lld", letter, "dhw"[a], (long long)values[a]);
}

void conv_desc_print(struct text *out, const struct problem *problem, bool canonical)
{
    const struct conv_shape *c = &problem->conv;
    int first = SPATIAL - c->spatial;
    int last = is_square(c, canonical) ? first : W;
    if (c->has_groups)
        text_printf(out, "g%lld", (long long)c->g);
    if (canonical || c->mb != 2)
        text_printf(out, "mb%lld", (long long)c->mb);
    const struct {
        char letter;
        const int64_t *values;
        bool is_shown;
    } groups[] = {
        {'i', c->i, true}, {'o', c->o, true},
        {'k', c->k, true}, {'s', c->s, canonical || differs(c->s, c, 1)},
        {'p', c->p, true}, {'d', c->d, canonical || differs(c->d, c, 0)},
    };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        if (groups[g].letter == 'i')
            text_printf(out, "ic%lld", (long long)c->ic);
        if (groups[g].letter == 'o' && !problem->driver->is_on_lines)
            text_printf(out, "oc%lld", (long long)c->oc);
        if (groups[g].is_shown)
            print_sizes(out, groups[g].letter, groups[g].values, first, last);
    }
    if (problem->name[0])
        text_printf(out, "n%s", problem->name);
}
