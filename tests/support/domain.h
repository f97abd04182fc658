/* A memory domain for each test of a program: the first two functions are cmocka's fixtures. */
#ifndef TESTS_SUPPORT_DOMAIN_H
#define TESTS_SUPPORT_DOMAIN_H

#include "src/memory/allocation.h"

extern struct memory_domain domain;

int domain_set_up(void **state);

/* Fails when anything is left: in the table, in the limits, among the open files. */
int domain_tear_down(void **state);

/* The same as domain_set_up() with a user's allocator; says nothing about the log. */
int domain_set_up_for(const neo_allocator *user);

/* allocation_create() with what tests mostly ask for. */
neo_status domain_create(neo_allocation_kind kind, size_t bytes, uint32_t flags,
                         struct allocation *out);

#endif
