/* Reads environment variables with validation: a bad value warns once and counts as absent. */
#ifndef SRC_CORE_ENV_H
#define SRC_CORE_ENV_H

#include <stdbool.h>
#include <stdint.h>

/* A decimal whole number in [low, high], with optional suffix K, M or G (powers of 1024) if
 * suffixes is true. Returns true and sets *out when the variable is set and valid; a set but
 * invalid one is logged as a warning that quotes it and names the range. */
bool env_number(const char *name, uint64_t low, uint64_t high, bool suffixes, uint64_t *out);

/* The same for a text already at hand; false when it is no such number. */
bool parse_number(const char *text, uint64_t low, uint64_t high, bool suffixes, uint64_t *out);

#endif
