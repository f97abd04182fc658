/* Tensors whose values come from files instead of a generator. */
#include "benchdnn/import.h"

#include "benchdnn/globals.h"

#include <stdio.h>
#include <stdlib.h>

static void report(const char *path, const char *what)
{
    if (globals.verbose >= 2)
        printf("File '%s' %s.\n", path, what);
}

/* The file must hold exactly the buffer. */
static void read_buffer(const struct tensor *t, FILE *file, const char *path)
{
    size_t bytes = fread(t->buffer, 1, t->bytes, file);
    if (bytes == t->bytes && fgetc(file) == EOF)
        return;
    bench_error("file '%s' does not have the %zu bytes of argument %d.", path, t->bytes, t->arg);
    exit(1);
}

neo_status import_values(struct tensor *t, neo_engine *engine, neo_stream *stream)
{
    if (!*globals.buffer_prefix)
        return NEO_OK;
    struct text path = {0};
    text_printf(&path, "%s.%d.bin", globals.buffer_prefix, t->arg);
    FILE *file = fopen(text_get(&path), "rb");
    neo_status status = NEO_OK;
    if (file) {
        read_buffer(t, file, text_get(&path));
        fclose(file);
        status = tensor_read_values(t, engine, stream);
    }
    report(text_get(&path), file ? "imported" : "not found; values are generated");
    text_deinit(&path);
    return status;
}
