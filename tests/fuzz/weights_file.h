/* One input of the cache-file fuzzer. */
#ifndef TESTS_FUZZ_WEIGHTS_FILE_H
#define TESTS_FUZZ_WEIGHTS_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as a cache file, looks at everything in it, adds an entry, and reads again.
 * Aborts if what it was given comes out as an entry with wrong bytes. path is overwritten. */
void fuzz_weights_file(const char *path, const uint8_t *data, size_t size);

/* Repairs the checksums of an input's records, so that the checks behind them are reached. */
void fuzz_weights_reseal(uint8_t *data, size_t size);

#endif
