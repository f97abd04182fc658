/* The types of a problem, and arrays of them. */
#include "tests/perf/problem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void driver_take_result(const struct problem *problem, const void *from)
{
    float *values = problem->dst;
    for (size_t i = 0; i < problem->dst_size; i++)
        switch (problem->dst_type) {
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

void problem_set_types(struct problem *problem)
{
    const char *asked = getenv("PERF_TYPES"), *group = getenv("PERF_GROUP");
    const char *text = problem->types = asked ? asked : "f32:f32:f32";
    problem->src_type = take_type(&text);
    problem->weights_type = take_type(&text);
    problem->dst_type = take_type(&text);
    problem->is_dynamic = group != NULL;
    problem->group = group ? strtoul(group, NULL, 10) : 0;
}

bool driver_allows_bf16(void)
{
    const char *text = getenv("PERF_FPMATH");
    return text && !strcmp(text, "bf16");
}

bool driver_allows_f16_sums(void)
{
    return getenv("PERF_ACCUMULATION") != NULL;
}
