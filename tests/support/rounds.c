#include "tests/support/rounds.h"

#include <stdlib.h>

static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text;
}

size_t rounds_count(size_t few, size_t many)
{
    enum { SHORTER = 8 };
    if (is_set("NEOPRENE_LONG"))
        return many;
    return is_set("NEOPRENE_SHORT") ? (few + SHORTER - 1) / SHORTER : few;
}

bool rounds_has(size_t row, size_t variant, size_t every)
{
    enum { FEWER = 4 };
    if (is_set("NEOPRENE_LONG"))
        return true;
    if (every > 1 && is_set("NEOPRENE_SHORT"))
        every *= FEWER;
    return (row + variant) % every == 0;
}

void rounds_run(size_t few, size_t many, void (*check)(size_t round))
{
    const char *alone = getenv("NEOPRENE_TEST_ROUND");
    size_t first = alone ? (size_t)strtoull(alone, NULL, 10) : 0;
    size_t count = alone ? 1 : rounds_count(few, many);
    for (size_t round = first; round < first + count; round++)
        check(round);
}
