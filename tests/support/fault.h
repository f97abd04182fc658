/* Makes the n-th allocation of the library fail, and counts allocations.
 *
 * The test programs are linked with --wrap for every allocating function, so the code under test is
 * the one that ships. Counting is per process and atomic; cmocka's own allocations count too, so
 * measure only around the calls under test. */
#ifndef TESTS_SUPPORT_FAULT_H
#define TESTS_SUPPORT_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* The n-th allocation from now on fails (n = 1 is the next one); every other one succeeds. */
void fault_arm(size_t n);

/* No allocation fails any more. Returns true if the armed failure was delivered. */
bool fault_disarm(void);

/* The number of allocations that succeeded or failed since the process began. */
size_t fault_allocations(void);

#endif
