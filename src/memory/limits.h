/* How much memory an engine may hold: one object, the sum of all kinds, and a budget per kind.
 *
 * A reservation is one compare-and-swap per counter, so threads never exceed a limit together. */
#ifndef SRC_MEMORY_LIMITS_H
#define SRC_MEMORY_LIMITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "neoprene/allocation.h"

struct limits {
    atomic_size_t used;          /* all kinds */
    atomic_size_t user_object;   /* 0: the machine's */
    atomic_size_t user_total;    /* 0: the machine's */
    atomic_size_t machine;       /* as last read */
    _Atomic uint64_t read_at_ns; /* when */
    uint64_t reread_ns;          /* the machine's limit is read again when it is older than this */
    const char *root;            /* folder that /proc and /sys are read below; "" but in tests */
    struct {
        atomic_size_t used;
        atomic_size_t budget; /* 0: none */
    } kinds[NEO_KIND_COUNT];
};

/* Why a reservation was refused; every number is of the moment of the refusal. */
struct limits_refusal {
    const char *what; /* "one object", "all memory" or the kind's name */
    size_t requested, used, limit;
};

void limits_init(struct limits *limits);

/* NEO_OK, then release with limits_return(); NEO_OUT_OF_MEMORY for a limit, NEO_UNSUPPORTED for a
 * budget, with *refusal filled. */
neo_status limits_reserve(struct limits *limits, neo_allocation_kind kind, size_t bytes,
                          struct limits_refusal *refusal);
void limits_return(struct limits *limits, neo_allocation_kind kind, size_t bytes);

size_t limits_object(struct limits *limits);
size_t limits_total(struct limits *limits);

/* min(RAM, control group, RLIMIT_AS), with /proc and /sys read below root. */
size_t limits_read_machine(const char *root);

#endif
