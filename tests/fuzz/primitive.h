/* One input of the fuzzer of primitives. */
#ifndef TESTS_FUZZ_PRIMITIVE_H
#define TESTS_FUZZ_PRIMITIVE_H

#include <stddef.h>
#include <stdint.h>

/* Makes a description of the bytes and asks for it. It must be refused with a sentence or give
 * implementations that agree with each other; then everything must be given back. Aborts if not.
 */
void fuzz_primitive(const uint8_t *data, size_t size);

/* Before the first input and after the last one. */
void fuzz_primitive_begin(void);
void fuzz_primitive_end(void);

#endif
