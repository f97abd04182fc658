/* Looks numbers up in the tables of mapping.h. */
#include "compat/onednn/mapping.h"

struct pair {
    int number, ours;
};
#define PAIR(number, ours) {number, ours},
#define COUNT(table) (sizeof(table) / sizeof *(table))

static int find(const struct pair *table, size_t count, int number)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].number == number)
            return table[i].ours;
    return -1;
}

static const struct pair data_types[] = {DATA_TYPE_LIST(PAIR)};
static const struct pair eltwises[] = {ELTWISE_LIST(PAIR)};
static const struct pair binaries[] = {BINARY_LIST(PAIR)};
static const struct pair poolings[] = {POOLING_LIST(PAIR)};
static const struct pair softmaxes[] = {SOFTMAX_LIST(PAIR)};
static const struct pair convolutions[] = {CONVOLUTION_LIST(PAIR)};
static const struct pair lrns[] = {LRN_LIST(PAIR)};
static const struct pair resamplings[] = {RESAMPLING_LIST(PAIR)};
static const struct pair reductions[] = {REDUCTION_LIST(PAIR)};
static const struct pair deconvolutions[] = {DECONVOLUTION_LIST(PAIR)};
static const struct pair fpmaths[] = {FPMATH_LIST(PAIR)};
static const struct pair accumulations[] = {ACCUMULATION_LIST(PAIR)};
/* Training differs from inference only in what the backward pass would need. */
static const struct pair props[] = {{PROP_TRAINING, NEO_FORWARD_TRAINING},
                                    {PROP_INFERENCE, NEO_FORWARD_INFERENCE}};

int map_data_type(int number)
{
    return find(data_types, COUNT(data_types), number);
}

int map_data_type_back(neo_data_type type)
{
    for (size_t i = 0; i < COUNT(data_types); i++)
        if (data_types[i].ours == (int)type)
            return data_types[i].number;
    return 0;
}

int map_eltwise(int number)
{
    return find(eltwises, COUNT(eltwises), number);
}

int map_binary(int number)
{
    return find(binaries, COUNT(binaries), number);
}

int map_pooling(int number)
{
    return find(poolings, COUNT(poolings), number);
}

int map_softmax(int number)
{
    return find(softmaxes, COUNT(softmaxes), number);
}

int map_convolution(int number)
{
    return find(convolutions, COUNT(convolutions), number);
}

int map_lrn(int number)
{
    return find(lrns, COUNT(lrns), number);
}

int map_resampling(int number)
{
    return find(resamplings, COUNT(resamplings), number);
}

int map_reduction(int number)
{
    return find(reductions, COUNT(reductions), number);
}

int map_deconvolution(int number)
{
    return find(deconvolutions, COUNT(deconvolutions), number);
}

int map_fpmath(int number)
{
    return find(fpmaths, COUNT(fpmaths), number);
}

int map_accumulation(int number)
{
    return find(accumulations, COUNT(accumulations), number);
}

int map_prop_kind(int number)
{
    return find(props, COUNT(props), number);
}

const char *map_tag(int number)
{
    static const struct {
        int number;
        const char *text;
    } tags[] = {
#define TAG(number, text) {number, #text},
        TAG_LIST(TAG)
#undef TAG
    };
    for (size_t i = 0; i < COUNT(tags); i++)
        if (tags[i].number == number)
            return tags[i].text;
    return NULL;
}

const char *map_primitive_name(int kind)
{
    static const char *const names[] = {
#define NAME(number, name, text) [number] = (text),
        PRIMITIVE_LIST(NAME)
#undef NAME
    };
    return kind >= 0 && kind < (int)COUNT(names) && names[kind] ? names[kind] : "undef";
}

dnnl_status map_status(neo_status status)
{
    static const struct {
        neo_status ours;
        dnnl_status theirs;
    } statuses[] = {
#define STATUS(ours, theirs) {ours, theirs},
        STATUS_LIST(STATUS)
#undef STATUS
    };
    for (size_t i = 0; i < COUNT(statuses); i++)
        if (statuses[i].ours == status)
            return statuses[i].theirs;
    return dnnl_runtime_error;
}
