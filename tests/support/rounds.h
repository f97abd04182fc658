/* Tests of random problems, each made again by its number. */
#ifndef TESTS_SUPPORT_ROUNDS_H
#define TESTS_SUPPORT_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>

/* `few`, an eighth of them if NEOPRENE_SHORT is set, or `many` if NEOPRENE_LONG is. */
size_t rounds_count(size_t few, size_t many);

/* Is this row of a table one that a variant is tried on? One of `every` rows is, a fourth of them
 * if NEOPRENE_SHORT is set and the variant is not for all rows, or all if NEOPRENE_LONG is;
 * variants with other numbers take other rows. */
bool rounds_has(size_t row, size_t variant, size_t every);

/* Calls check(0), check(1) …: so many rounds, or only the one that NEOPRENE_TEST_ROUND names. */
void rounds_run(size_t few, size_t many, void (*check)(size_t round));

#endif
