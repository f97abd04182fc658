#include "tests/support/rounds.h"

#include <stdlib.h>

size_t rounds_count(size_t few, size_t many)
{
    const char *text = getenv("NEOPRENE_LONG");
    return text && *text ? many : few;
}

void rounds_run(size_t few, size_t many, void (*check)(size_t round))
{
    const char *alone = getenv("NEOPRENE_TEST_ROUND");
    size_t first = alone ? (size_t)strtoull(alone, NULL, 10) : 0;
    size_t count = alone ? 1 : rounds_count(few, many);
    for (size_t round = first; round < first + count; round++)
        check(round);
}
