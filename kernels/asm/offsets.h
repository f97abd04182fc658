/* Where a structure has what assembly reads: a file with a line of OFFSET for each member gives the
 * assembler the names, and in C fails to compile unless they are right. */
#ifndef KERNELS_ASM_OFFSETS_H
#define KERNELS_ASM_OFFSETS_H

#ifdef __ASSEMBLER__
#define OFFSET(structure, member, name, offset) .set name, offset
#else
#include <stddef.h>
#define OFFSET(structure, member, name, offset) \
    _Static_assert(offsetof(struct structure, member) == (offset), #name)
#endif

#endif
