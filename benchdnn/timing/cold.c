/* Cold caches: executions take turns on copies of tensors. */
#include "benchdnn/timing/cold.h"

#include "benchdnn/globals.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COPIES_MAX 4096

static bool is_chosen(int operand)
{
    if (globals.cold_cache.which == COLD_WEIGHTS)
        return operand == WEI;
    return globals.cold_cache.which != COLD_NONE;
}

/* Three times what all caches of this machine hold, or a guess. */
static double cache_bytes(void)
{
    long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE), l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    double total = (l2 > 0 ? (double)l2 * (double)sysconf(_SC_NPROCESSORS_ONLN) : 0) +
                   (l3 > 0 ? (double)l3 : 0);
    return 3 * (total > 0 ? total : 32e6);
}

static size_t count_sets(const struct data *data)
{
    double bytes = 0;
    for (int i = 0; i < OPERANDS; i++)
        bytes += is_chosen(i) ? (double)data->operands[i].bytes : 0;
    if (bytes <= 0)
        return 1;
    double count = cache_bytes() / bytes + 2;
    return count < COPIES_MAX ? (size_t)count : COPIES_MAX;
}

/* Replaces the tensor in one set of arguments by a copy. */
static bool add_copy(struct cold *cold, neo_exec_arg *args, const struct tensor *from,
                     neo_engine *engine)
{
    struct tensor *copy = &cold->copies[cold->copy_count];
    neo_status status = tensor_init(copy, from->arg, from->type, &from->dims, &from->desc, engine);
    cold->copy_count++;
    if (status != NEO_OK)
        return false;
    memcpy(copy->buffer, from->buffer, from->bytes);
    for (int i = 0; i < cold->arg_count; i++) {
        if (args[i].arg == from->arg)
            args[i].memory = copy->memory;
    }
    return true;
}

void cold_init(struct cold *cold, const struct data *data, neo_engine *engine)
{
    size_t sets = count_sets(data), set_bytes = (size_t)data->arg_count * sizeof *cold->args;
    *cold = (struct cold){.arg_count = data->arg_count};
    cold->args = bench_alloc(sets * set_bytes);
    cold->copies = bench_alloc(sets * OPERANDS * sizeof *cold->copies);
    memcpy(cold->args, data->args, set_bytes);
    bool has_memory = true;
    for (cold->count = 1; cold->count < sets && has_memory; cold->count++) {
        neo_exec_arg *args = cold->args + cold->count * (size_t)data->arg_count;
        memcpy(args, data->args, set_bytes);
        for (int i = 0; i < OPERANDS && has_memory; i++) {
            if (is_chosen(i) && data->operands[i].arg)
                has_memory = add_copy(cold, args, &data->operands[i], engine);
        }
    }
    cold->tlb_bytes = (size_t)globals.cold_cache.tlb_bytes;
    if (cold->tlb_bytes)
        cold->tlb = bench_alloc(cold->tlb_bytes);
}

void cold_deinit(struct cold *cold)
{
    for (size_t i = 0; i < cold->copy_count; i++)
        tensor_deinit(&cold->copies[i]);
    free(cold->copies);
    free(cold->args);
    free(cold->tlb);
}

const neo_exec_arg *cold_next(struct cold *cold)
{
    for (size_t i = 0; i < cold->tlb_bytes; i += 4096)
        cold->tlb[i]++;
    const neo_exec_arg *args = cold->args + cold->next * (size_t)cold->arg_count;
    cold->next = (cold->next + 1) % cold->count;
    return args;
}
