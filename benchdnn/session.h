/* The engine and the streams that problems run in. */
#ifndef BENCHDNN_SESSION_H
#define BENCHDNN_SESSION_H

#include "neoprene/neoprene.h"

/* Both are made when they are first needed, and kept. They end the program if that fails. */
neo_engine *session_engine(void);
/* Stream number index with at most max_threads threads (0: all). */
neo_stream *session_stream(int max_threads, int index);

/* Destroys them; they are made anew when they are needed again. */
void session_end(void);

/* Prints what the engine's allocator has handed out, by kind. */
void session_print_memory(void);

#endif
