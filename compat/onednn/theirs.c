/* Another oneDNN: it is loaded when it is first asked for. */
#include "compat/onednn/theirs.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library;
static struct theirs the_functions;
static const struct theirs *loaded; /* &the_functions, or NULL */

any_function *theirs_find(const char *name)
{
    any_function *found = NULL;
    if (theirs())
        *(void **)&found = dlsym(library, name);
    return found;
}

static void *find(const char *name, const char **missing)
{
    void *found = dlsym(library, name);
    if (!found && !*missing)
        *missing = name;
    return found;
}

static const char *find_all(void)
{
    const char *missing = NULL;
#define FIND(function, arguments) *(void **)&the_functions.function = find(#function, &missing);
    THEIRS_LIST(FIND)
    FIND(dnnl_memory_desc_equal, )
    FIND(dnnl_memory_desc_get_size, )
#undef FIND
    return missing;
}

static int create_engine_and_stream(void)
{
    enum { IN_ORDER = 1 };
    return the_functions.dnnl_engine_create(&the_functions.engine, ENGINE_CPU, 0) == dnnl_success &&
           the_functions.dnnl_stream_create(&the_functions.stream, the_functions.engine,
                                            IN_ORDER) == dnnl_success;
}

/* Its symbols are nobody else's, and it looks for its own first: it has the names that this library
 * has. */
static void load(void)
{
    const char *path = getenv("NEOPRENE_ONEDNN_FALLBACK");
    if (!path || !*path)
        return;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    const char *why = library ? find_all() : dlerror();
    if (!why && create_engine_and_stream())
        loaded = &the_functions;
    else if (verbose_level())
        printf("onednn_verbose,v1,primitive,error,neoprene: NEOPRENE_ONEDNN_FALLBACK=%s is not "
               "used: %s\n",
               path, why ? why : "it makes no engine");
}

const struct theirs *theirs(void)
{
    pthread_once(&once, load);
    return loaded;
}

/* ---- descriptors of memory ---- */

/* Layouts that both libraries have met. A program has few; a list of them is as quick as what it is
 * asked for. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct layout {
    struct layout *next;
    dnnl_memory_desc ours;
    dnnl_memory_desc *theirs;
} * layouts;

static struct layout *layout_of(const dnnl_memory_desc *md)
{
    return (struct layout *)(intptr_t)md->desc.strides[0]; /* of a layout that is theirs */
}

static int same(const neo_memory_desc *a, const neo_memory_desc *b)
{
    return (a->ndims == 0 && b->ndims == 0) || neo_memory_desc_equal(a, b);
}

static struct layout *find_layout(const neo_memory_desc *ours, const dnnl_memory_desc *their_md)
{
    for (struct layout *layout = layouts; layout; layout = layout->next)
        if (ours ? same(&layout->ours.desc, ours)
                 : theirs()->dnnl_memory_desc_equal(layout->theirs, their_md))
            return layout;
    return NULL;
}

/* Takes their_md over. */
static struct layout *add_layout(const neo_memory_desc *ours, dnnl_memory_desc *their_md)
{
    struct layout *layout = malloc(sizeof *layout);
    if (!layout) {
        theirs()->dnnl_memory_desc_destroy(their_md);
        return NULL;
    }
    *layout = (struct layout){layouts, {*ours}, their_md};
    layouts = layout;
    return layout;
}

static dnnl_memory_desc *make_theirs(const neo_memory_desc *ours)
{
    dnnl_memory_desc *made = NULL;
    int type = map_data_type_back(ours->data_type);
    if (ours->format_kind == NEO_FORMAT_STRIDED)
        theirs()->dnnl_memory_desc_create_with_strides(&made, ours->ndims, ours->dims, type,
                                                       ours->strides);
    else if (ours->format_kind != NEO_FORMAT_PACKED)
        theirs()->dnnl_memory_desc_create_with_tag(&made, ours->ndims, ours->dims, type,
                                                   ours->ndims ? FORMAT_ANY : FORMAT_UNDEF);
    return made;
}

const dnnl_memory_desc *theirs_of_desc(const dnnl_memory_desc *md)
{
    if (!md)
        return NULL;
    if (desc_is_theirs(md))
        return layout_of(md)->theirs;
    neo_memory_desc ours = md->desc;
    ours.offset = 0;
    pthread_mutex_lock(&lock);
    struct layout *layout = find_layout(&ours, NULL);
    dnnl_memory_desc *made = layout ? NULL : make_theirs(&ours);
    if (made)
        layout = add_layout(&ours, made);
    pthread_mutex_unlock(&lock);
    return layout ? layout->theirs : NULL;
}

static int query(const dnnl_memory_desc *their_md, int what, void *result)
{
    return theirs()->dnnl_memory_desc_query(their_md, what, result) == dnnl_success;
}

/* The plain layout that it looks like; what queries do not tell makes it another one still. */
static int looks_plain(neo_memory_desc *ours, const dnnl_memory_desc *their_md)
{
    int ndims = 0, kind = FORMAT_UNDEF, type = 0, blocks = 0;
    const neo_dim *dims, *strides;
    if (!query(their_md, QUERY_NDIMS, &ndims) || !query(their_md, QUERY_FORMAT_KIND, &kind) ||
        !query(their_md, QUERY_DATA_TYPE, &type) || !query(their_md, QUERY_DIMS, &dims))
        return 0;
    *ours = (neo_memory_desc){.ndims = 0};
    if (ndims == 0)
        return 1;
    int ours_type = map_data_type(type);
    if (ours_type < 0)
        return 0;
    if (kind == FORMAT_ANY)
        return neo_memory_desc_init_tag(ours, ndims, dims, (neo_data_type)ours_type, "any") ==
               NEO_OK;
    return kind == FORMAT_BLOCKED && query(their_md, QUERY_INNER_BLOCKS, &blocks) && blocks == 0 &&
           query(their_md, QUERY_STRIDES, &strides) &&
           neo_memory_desc_init_strides(ours, ndims, dims, (neo_data_type)ours_type, strides) ==
               NEO_OK;
}

static struct layout *add_plain(const dnnl_memory_desc *their_md)
{
    neo_memory_desc ours;
    dnnl_memory_desc *made = looks_plain(&ours, their_md) ? make_theirs(&ours) : NULL;
    if (!made)
        return NULL;
    if (theirs()->dnnl_memory_desc_equal(made, their_md))
        return add_layout(&ours, made);
    theirs()->dnnl_memory_desc_destroy(made);
    return NULL;
}

static struct layout *add_theirs(const dnnl_memory_desc *their_md)
{
    neo_memory_desc ours = {.ndims = 0};
    dnnl_memory_desc *clone = NULL;
    if (!query(their_md, QUERY_NDIMS, &ours.ndims) ||
        theirs()->dnnl_memory_desc_clone(&clone, their_md) != dnnl_success)
        return NULL;
    ours.format_kind = (neo_format_kind)FORMAT_THEIRS;
    struct layout *layout = add_layout(&ours, clone);
    if (layout)
        layout->ours.desc.strides[0] = (intptr_t)layout;
    return layout;
}

const dnnl_memory_desc *desc_of_theirs(const dnnl_memory_desc *their_md)
{
    if (!their_md)
        return NULL;
    pthread_mutex_lock(&lock);
    struct layout *layout = find_layout(NULL, their_md);
    if (!layout)
        layout = add_plain(their_md);
    if (!layout)
        layout = add_theirs(their_md);
    pthread_mutex_unlock(&lock);
    return layout ? &layout->ours : NULL;
}

/* ---- executing ---- */

static dnnl_status twin_of_memory(dnnl_memory **out, const dnnl_memory *memory)
{
    const neo_memory_desc *desc = &memory->md.desc;
    const dnnl_memory_desc *md = theirs_of_desc(&memory->md);
    char *data = memory->data;
    if (!md)
        return dnnl_out_of_memory;
    if (!desc_is_theirs(&memory->md) && data && desc->offset)
        data += (uint64_t)desc->offset * neo_data_type_bits(desc->data_type) / 8;
    return theirs()->dnnl_memory_create(out, md, theirs()->engine, data);
}

dnnl_status theirs_execute(const dnnl_primitive *their_primitive, int count,
                           const dnnl_exec_arg *args)
{
    dnnl_exec_arg *passed = calloc((size_t)count + 1, sizeof *passed);
    dnnl_status status = passed ? dnnl_success : dnnl_out_of_memory;
    for (int i = 0; status == dnnl_success && i < count; i++) {
        passed[i].arg = args[i].arg;
        if (args[i].memory)
            status = twin_of_memory(&passed[i].memory, args[i].memory);
    }
    if (status == dnnl_success)
        status = theirs()->dnnl_primitive_execute(their_primitive, theirs()->stream, count, passed);
    if (status == dnnl_success)
        status = theirs()->dnnl_stream_wait(theirs()->stream);
    for (int i = 0; passed && i < count; i++)
        if (passed[i].memory)
            theirs()->dnnl_memory_destroy(passed[i].memory);
    free(passed);
    return status;
}
