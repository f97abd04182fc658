/* Status codes, data types, dimensions: what every other header of Neoprene uses. */
#ifndef NEOPRENE_TYPES_H
#define NEOPRENE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NEO_API __attribute__((visibility("default")))

/* ---- status ---- */

/* Every function that can fail returns one of these; NEO_OK is 0. With verbose on
 * (NEOPRENE_VERBOSE=1) the log also has a sentence that names the argument and its value. */
#define NEO_STATUS_LIST(X)                                                      \
    X(NEO_OK, "success")                                                        \
    X(NEO_OUT_OF_MEMORY, "memory is exhausted or a limit on it is reached")     \
    X(NEO_INVALID_ARGUMENT, "an argument is wrong or contradicts another one")  \
    X(NEO_UNSUPPORTED, "the request is valid, but no implementation serves it") \
    X(NEO_LAST_IMPLEMENTATION, "there is no further implementation")            \
    X(NEO_NOT_FOUND, "there is no such entry")                                  \
    X(NEO_IO_ERROR, "the operating system refused an operation on a file")      \
    X(NEO_CORRUPT, "stored data fails its checks")                              \
    X(NEO_BUSY, "the object is in use")                                         \
    X(NEO_RUNTIME_ERROR, "a callback or the operating system failed")

typedef enum neo_status {
#define NEO_STATUS_ENTRY(name, text) name,
    NEO_STATUS_LIST(NEO_STATUS_ENTRY)
#undef NEO_STATUS_ENTRY
} neo_status;

/* The English text of a status; never NULL, also for values that are no status. */
NEO_API const char *neo_status_text(neo_status status);

/* ---- data types ---- */

/* name, its text, bits per element. s4 and u4 hold two elements a byte, the first one in the low
 * bits. */
#define NEO_DATA_TYPE_LIST(X) \
    X(NEO_F32, "f32", 32)     \
    X(NEO_F16, "f16", 16)     \
    X(NEO_BF16, "bf16", 16)   \
    X(NEO_S32, "s32", 32)     \
    X(NEO_S8, "s8", 8)        \
    X(NEO_U8, "u8", 8)        \
    X(NEO_S4, "s4", 4)        \
    X(NEO_U4, "u4", 4)

typedef enum neo_data_type {
    NEO_DATA_TYPE_UNDEF,
#define NEO_DATA_TYPE_ENTRY(name, text, bits) name,
    NEO_DATA_TYPE_LIST(NEO_DATA_TYPE_ENTRY)
#undef NEO_DATA_TYPE_ENTRY
} neo_data_type;

/* "f32" and so on; "undef" for NEO_DATA_TYPE_UNDEF and for values that are no data type. */
NEO_API const char *neo_data_type_name(neo_data_type type);

/* Bits per element; 0 for NEO_DATA_TYPE_UNDEF and for values that are no data type. */
NEO_API size_t neo_data_type_bits(neo_data_type type);

/* ---- dimensions ---- */

#define NEO_MAX_NDIMS 12

/* A dimension, stride or offset, in elements. */
typedef int64_t neo_dim;

/* Stands for a dimension (or stride) that is known only when the primitive is executed. */
#define NEO_RUNTIME_DIM INT64_MIN

/* ---- the engine ---- */

/* What owns memory, caches and threads: engine.h. */
typedef struct neo_engine neo_engine;

/* ---- version ---- */

/* Of these headers. */
#define NEO_VERSION_MAJOR 0
#define NEO_VERSION_MINOR 2
#define NEO_VERSION_PATCH 0

/* For the preprocessor: are these headers of this version or a later one? */
#define NEO_VERSION_AT_LEAST(major, minor, patch) \
    (NEO_VERSION_MAJOR > (major) ||               \
     (NEO_VERSION_MAJOR == (major) &&             \
      (NEO_VERSION_MINOR > (minor) ||             \
       (NEO_VERSION_MINOR == (minor) && NEO_VERSION_PATCH >= (patch)))))

typedef struct neo_version {
    int major, minor, patch;
    const char *target; /* "aarch64" or "portable" */
} neo_version;

/* The version of the library that is running; a static object, never NULL. */
NEO_API const neo_version *neo_get_version(void);

/* ---- log ---- */

/* Sets how much the library writes to its log (neoprene/log.h), in all threads, and overrides
 * NEOPRENE_VERBOSE; levels below and above are 0 and 2:
 *   0  nothing;
 *   1  errors, warnings, why calls were refused, and the time of each execution;
 *   2  also the time of each creation.
 * NEOPRENE_VERBOSE also takes a comma list of: none, error, warn, check (why a call was refused),
 * dispatch (why an algorithm or a kind of memory was not taken), profile_exec, profile_create,
 * profile (both), memory (each allocation), all. Without either, errors and warnings are
 * written. */
NEO_API void neo_set_verbose(int level);

#ifdef __cplusplus
}
#endif

#endif
