/* Moves a thread off a CPU, without a lasting change of where it may run. */
#ifndef SRC_THREADING_LEAVE_CPU_H
#define SRC_THREADING_LEAVE_CPU_H

#include <stdbool.h>

#define LEAVE_CPU_MOST 4096 /* CPU numbers are below */

/* The calling thread runs on another of the CPUs that it may use when this returns true; it may use
 * the same CPUs as before. False if there is no other one, or the system does not allow it. */
bool leave_cpu(int cpu);

#endif
