/* Calls whose refusals must be told. */
#include "tests/fuzz/told.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/capture.h"

neo_status fuzz_told_status;

void fuzz_told_begin(void)
{
    capture_begin();
}

void fuzz_told_end(const char *call, neo_status status)
{
    char *text = capture_end();
    bool is_refused = status == NEO_INVALID_ARGUMENT || status == NEO_UNSUPPORTED;
    bool is_told = strstr(text, "neoprene_verbose,v1,check,") != NULL;
    bool is_known = is_refused || status == NEO_OK || status == NEO_OUT_OF_MEMORY ||
                    status == NEO_LAST_IMPLEMENTATION;
    if (!is_known || (is_refused && !is_told) || (status == NEO_OK && is_told)) {
        fprintf(stderr, "%s: %s\nthe log: %s\n", call, neo_status_text(status), text);
        abort();
    }
    if (getenv("NEOPRENE_TEST_ROUND"))
        fputs(text, stderr);
    free(text);
    fuzz_told_status = status;
}
