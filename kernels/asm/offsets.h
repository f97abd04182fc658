/* Where a structure has what assembly reads: a file with a line of OFFSET for each member gives the
 * assembler the names, and in C fails to compile unless they are right. So does CONSTANT with what
 * an enumeration says. */
#ifndef KERNELS_ASM_OFFSETS_H
#define KERNELS_ASM_OFFSETS_H

#ifdef __ASSEMBLER__
#define OFFSET(structure, member, name, offset) .set name, offset
#define CONSTANT(name, value) .set name, value
#else
#include <stddef.h>
#define OFFSET(structure, member, name, offset) \
    _Static_assert(offsetof(struct structure, member) == (offset), #name)
#define CONSTANT(name, value) _Static_assert((int)(name) == (value), #name)
#endif

#endif
