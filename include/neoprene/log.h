/* Where the log's lines go. How many there are: neo_set_verbose() in neoprene/types.h. */
#ifndef NEOPRENE_LOG_H
#define NEOPRENE_LOG_H

#include "neoprene/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes one line, without its end of line, which is valid during the call. Any thread may call it,
 * several at once, also inside a call of the library: it calls none of the library's functions. */
typedef void neo_log_function(void *context, const char *line);

/* Gives every further line to this function; NULL: to where NEOPRENE_LOG says, as at first:
 *   stderr   standard error, also if the variable is not set;
 *   stdout   standard output;
 *   a path   the end of this file, which is made if there is none. If it cannot be opened, one
 *            line on standard error says so, and the others follow it there.
 * Programs that run with another user's rights do not read the variable. Threads may log while this
 * is called: the former function may still be at work, with its context, when it returns. */
NEO_API void neo_set_log(neo_log_function *function, void *context);

#ifdef __cplusplus
}
#endif

#endif
