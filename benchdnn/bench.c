/* The tokens of a command line or a batch file, one after another. */
#include "benchdnn/bench.h"

#include "benchdnn/batch.h"
#include "benchdnn/globals.h"
#include "benchdnn/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NESTING_MAX 32

static void expect_all(const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->tokens[i][0] != '-')
            progress_expect();
}

static void run_descriptor(struct settings *s, const char *descriptor)
{
    settings_run(s, descriptor);
    progress_next();
}

static void run_batch(struct settings *s, const struct driver *driver, const char *name)
{
    static int nesting;
    if (++nesting > NESTING_MAX) {
        bench_error("batch files are nested too deeply at %s.", name);
        exit(1);
    }
    struct batch batch;
    if (!batch_read(&batch, name, driver->name)) {
        bench_error("cannot open file %s", name);
        exit(1);
    }
    expect_all(&batch);
    bench_tokens(s, driver, batch.count, batch.tokens);
    batch_deinit(&batch);
    nesting--;
}

__attribute__((noreturn)) static void refuse(const struct settings *s, const char *token)
{
    if (strncmp(token, "--", 2) == 0)
        settings_suggest(s, token);
    else
        bench_error("options should be passed with `--` prefix.");
    exit(2);
}

/* Takes token if it changes what follows. */
static bool parse_option(struct settings *s, const char *token)
{
    if (token[0] != '-')
        return false;
    settings_flush(s); /* what waits was given with the options before */
    if (strcmp(token, "--help") == 0) {
        settings_help(s);
        exit(0);
    }
    return globals_parse(token) || settings_parse(s, token);
}

void bench_tokens(struct settings *s, const struct driver *driver, size_t count,
                  char *const *tokens)
{
    bool is_option_last = false;
    for (size_t i = 0; i < count && !progress_is_interrupted(); i++) {
        const char *token = tokens[i], *name;
        is_option_last = false;
        if (option_is(token, "batch", &name))
            run_batch(s, driver, name);
        else if (parse_option(s, token))
            is_option_last = true;
        else if (token[0] == '-')
            refuse(s, token);
        else
            run_descriptor(s, token);
    }
    settings_flush(s);
    if (is_option_last)
        bench_error("%s driver: WARNING: No problem found for a given option!", driver->name);
}
