/* The objects that users create and destroy most: primitive descriptors and primitives.
 *
 * They are kept for reuse, in lanes, so that threads that create and destroy at once do not fight
 * for one lock or one counter: a thread takes from its own lane, and an object goes back to the
 * lane it came from. Every live one keeps its engine alive. */
#ifndef SRC_PRIMITIVE_HANDLE_H
#define SRC_PRIMITIVE_HANDLE_H

#include <stdbool.h>

#include "neoprene/engine.h"
#include "src/core/slab.h"

enum { HANDLE_LANES = 8, HANDLE_BYTES = 128 };

/* Holds a reference to the engine while an object is out. */
struct handle_lane {
    _Alignas(128) struct slab slab;
    neo_engine *engine;
    void *anchor; /* an object that is out until the user lets go of the engine */
};

/* The first member of such an object, which has at most HANDLE_BYTES. */
struct handle {
    void *link;               /* of the free ones */
    struct handle_lane *lane; /* NULL: destroyed */
};

/* Of an engine that is being created, and of one that is let go. init counts a reference for every
 * lane; deinit is for after the last one. */
neo_status handle_lanes_init(struct handle_lane *lanes, neo_engine *engine);
void handle_lanes_let_go(struct handle_lane *lanes);
static inline void handle_lanes_deinit(struct handle_lane *lanes)
{
    for (int i = 0; i < HANDLE_LANES; i++)
        slab_deinit(&lanes[i].slab);
}

/* HANDLE_BYTES bytes of zeros after the struct handle; NULL when memory is exhausted. */
void *handle_create(neo_engine *engine);

/* May also destroy the engine. */
void handle_destroy(struct handle *handle);

/* False, with an error line, for an object that is destroyed already, as long as its memory has not
 * been used again. */
bool handle_is_live(const struct handle *handle, const char *function);

static inline neo_engine *handle_engine(const struct handle *handle)
{
    return handle->lane->engine;
}

#endif
