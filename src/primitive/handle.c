/* Descriptors and primitives as objects that are used again. */
#include "src/primitive/handle.h"

#include <string.h>

#include "src/core/log.h"
#include "src/core/thread_number.h"
#include "src/primitive/engine.h"

enum { KEPT = 4096 }; /* free objects of a lane */

/* The first object out takes a reference to the engine, which somebody else keeps alive meanwhile:
 * the user, or the object that this one is made from. */
static struct handle *lane_get(struct handle_lane *lane)
{
    size_t used;
    struct handle *handle = slab_get_counted(&lane->slab, &used);
    if (!handle)
        return NULL;
    if (used == 1)
        engine_retain(lane->engine);
    memset(handle, 0, HANDLE_BYTES);
    handle->lane = lane;
    return handle;
}

static void lane_put(struct handle_lane *lane, void *handle)
{
    neo_engine *engine = lane->engine;
    if (slab_put(&lane->slab, handle) == 0)
        engine_release(engine);
}

neo_status handle_lanes_init(struct handle_lane *lanes, neo_engine *engine)
{
    for (int i = 0; i < HANDLE_LANES; i++) {
        slab_init(&lanes[i].slab, HANDLE_BYTES, KEPT);
        lanes[i].engine = engine;
    }
    for (int i = 0; i < HANDLE_LANES; i++) {
        lanes[i].anchor = lane_get(&lanes[i]);
        if (!lanes[i].anchor)
            return NEO_OUT_OF_MEMORY;
    }
    return NEO_OK;
}

void handle_lanes_let_go(struct handle_lane *lanes)
{
    for (int i = 0; i < HANDLE_LANES; i++) {
        void *anchor = lanes[i].anchor;
        lanes[i].anchor = NULL;
        if (anchor)
            lane_put(&lanes[i], anchor);
    }
}

void *handle_create(neo_engine *engine)
{
    return lane_get(&engine->lanes[thread_number() % HANDLE_LANES]);
}

void handle_destroy(struct handle *handle)
{
    struct handle_lane *lane = handle->lane;
    handle->lane = NULL;
    lane_put(lane, handle);
}

bool handle_is_live(const struct handle *handle, const char *function)
{
    if (!handle->lane)
        log_error("%s: the object is destroyed already", function);
    return handle->lane != NULL;
}
