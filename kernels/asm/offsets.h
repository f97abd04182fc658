/* Where a structure has what assembly reads, which fails to compile in C unless it is right.
 * OFFSETS has up to eight members that follow each other `size` bytes apart, the first one `at`
 * bytes from the beginning: they are `name.member` to the assembler. OFFSET has one, of any name;
 * SIZE is a structure's, CONSTANT what an enumeration says. */
#ifndef KERNELS_ASM_OFFSETS_H
#define KERNELS_ASM_OFFSETS_H

#ifdef __ASSEMBLER__
#define OFFSET(structure, member, name, offset) .set name, offset
#define OFFSETS(structure, name, at, size, ...) name_offsets name, at, size, __VA_ARGS__
#define SIZE(structure, name, bytes) .set name, bytes
#define CONSTANT(name, value) .set name, value
#else
#include <stddef.h>
#define OFFSET(structure, member, name, offset) \
    _Static_assert(offsetof(struct structure, member) == (offset), #name)
#define SIZE(structure, name, bytes) _Static_assert(sizeof(struct structure) == (bytes), #name)
#define CONSTANT(name, value) _Static_assert((int)(name) == (value), #name)

/* clang-format off */
#define OFFSETS(structure, name, at, size, ...) \
    OFFSETS_NINTH(__VA_ARGS__, OFFSETS_8, OFFSETS_7, OFFSETS_6, OFFSETS_5, OFFSETS_4, OFFSETS_3, \
                  OFFSETS_2, OFFSETS_1, )(structure, at, size, __VA_ARGS__)
#define OFFSETS_NINTH(a, b, c, d, e, f, g, h, ninth, ...) ninth
#define OFFSETS_1(s, at, size, m) OFFSET(s, m, m, at)
#define OFFSETS_2(s, at, size, m, ...) OFFSET(s, m, m, at); OFFSETS_1(s, at + size, size, __VA_ARGS__)
#define OFFSETS_3(s, at, size, m, ...) OFFSET(s, m, m, at); OFFSETS_2(s, at + size, size, __VA_ARGS__)
#define OFFSETS_4(s, at, size, m, ...) OFFSET(s, m, m, at); OFFSETS_3(s, at + size, size, __VA_ARGS__)
#define OFFSETS_5(s, at, size, m, ...) OFFSET(s, m, m, at); OFFSETS_4(s, at + size, size, __VA_ARGS__)
#define OFFSETS_6(s, at, size, m, ...) OFFSET(s, m, m, at); OFFSETS_5(s, at + size, size, __VA_ARGS__)
#define OFFSETS_7(s, at, size, m, ...) OFFSET(s, m, m, at); OFFSETS_6(s, at + size, size, __VA_ARGS__)
#define OFFSETS_8(s, at, size, m, ...) OFFSET(s, m, m, at); OFFSETS_7(s, at + size, size, __VA_ARGS__)
/* clang-format on */
#endif

#endif
