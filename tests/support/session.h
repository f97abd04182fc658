/* An engine and a stream for all tests of a program; the functions are for
 * cmocka_run_group_tests(). */
#ifndef TESTS_SUPPORT_SESSION_H
#define TESTS_SUPPORT_SESSION_H

#include "neoprene/neoprene.h"

extern neo_engine *engine;
extern neo_stream *stream;

int session_setup(void **state);
int session_teardown(void **state);

#endif
