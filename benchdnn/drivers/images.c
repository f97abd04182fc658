/* Descriptors of images by keys. */
#include "benchdnn/drivers/images.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY(name)                                   \
    {                                               \
#name, offsetof(struct image_numbers, name) \
    }

/* No name is the beginning of one that follows it. */
static const struct {
    const char *name;
    size_t offset;
} keys[] = {KEY(mb), KEY(ic), KEY(oc), KEY(id),  KEY(ih),    KEY(iw),   KEY(od), KEY(oh),
            KEY(ow), KEY(ls), KEY(g),  KEY(eps), KEY(alpha), KEY(beta), KEY(k)};

static bool read_number(struct image_numbers *n, const char **text)
{
    for (size_t i = 0; i < count_of(keys); i++) {
        size_t length = strlen(keys[i].name);
        const char *digits = *text + length;
        char *end;
        if (strncmp(*text, keys[i].name, length) != 0 || !isdigit((unsigned char)*digits))
            continue;
        double value = strtod(digits, &end);
        memcpy((char *)n + keys[i].offset, &value, sizeof value);
        *text = end;
        return true;
    }
    bench_error("Unrecognized pattern in `%s`.", *text);
    return false;
}

/* Of one image; the larger of two dimensions of space stands for a smaller one. */
static void set_space(struct dims *dims, double d, double h, double w)
{
    int spatial = d >= 0 ? 3 : h >= 0 ? 2 : w >= 0 ? 1 : 0;
    h = spatial == 3 && h < 0 ? d : h;
    w = spatial >= 2 && w < 0 ? h : w;
    const double sizes[] = {d, h, w};
    dims->count = 2 + spatial;
    for (int i = 0; i < spatial; i++)
        dims->at[2 + i] = (int64_t)sizes[3 - spatial + i];
}

bool images_parse(struct problem *p, const char *text)
{
    struct image_numbers *n = &p->lines.numbers;
    *n = (struct image_numbers){-1, 2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    p->name[0] = 0;
    while (*text && *text != 'n') {
        if (*text == '_')
            text++;
        else if (!read_number(n, &text))
            return false;
    }
    if (n->ic < 0) {
        bench_error("`ic` is mandatory.");
        return false;
    }
    p->lines.shape_count = 1;
    p->lines.shapes[0] = (struct dims){.at = {(int64_t)n->mb, (int64_t)n->ic}};
    set_space(&p->lines.shapes[0], n->id, n->ih, n->iw);
    return !*text || problem_set_name(p, text + 1);
}

void images_set_dst(struct problem *p)
{
    const struct image_numbers *n = &p->lines.numbers;
    p->lines.shape_count = 2;
    p->lines.shapes[1] = p->lines.shapes[0];
    set_space(&p->lines.shapes[1], n->od, n->oh, n->ow);
}

void images_print(struct text *out, const struct dims *dims, const char *letter)
{
    static const char *const axes[] = {"d", "h", "w"};
    bool is_src = *letter == 'i';
    if (is_src)
        text_printf(out, "mb%lldic%lld", (long long)dims->at[0], (long long)dims->at[1]);
    for (int i = 2; i < dims->count; i++)
        text_printf(out, "%s%s%lld", letter, axes[3 - (dims->count - 2) + i - 2],
                    (long long)dims->at[i]);
}
