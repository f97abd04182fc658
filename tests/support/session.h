/* An engine and a stream for all tests of a program, or for each of them: the functions are
 * cmocka's fixtures. */
#ifndef TESTS_SUPPORT_SESSION_H
#define TESTS_SUPPORT_SESSION_H

#include "neoprene/neoprene.h"

extern neo_engine *engine;
extern neo_stream *stream;

int session_setup(void **state);
int session_setup_single(void **state); /* the stream has one thread */
int session_teardown(void **state);

#endif
