/* benchdnn: checks and times problems that are described on the command line.
 *
 *   benchdnn [global options] --DRIVER [options | descriptors | --batch=FILE]…
 *
 * Status: 0 all is well, 1 a problem has failed or a file or driver is missing, 2 a wrong option.
 */
#include "benchdnn/batch.h"
#include "benchdnn/bench.h"
#include "benchdnn/globals.h"
#include "benchdnn/peer.h"
#include "benchdnn/report.h"
#include "benchdnn/session.h"

#include <stdio.h>
#include <string.h>

static const struct driver *parse_driver(const char *token)
{
    return strncmp(token, "--", 2) == 0 ? driver_find(token + 2) : NULL;
}

static void print_drivers(void)
{
    printf("benchdnn [global options] --DRIVER [options | descriptors | --batch=FILE]…\nDrivers:");
    for (size_t i = 0; i < driver_count; i++)
        printf(" --%s", drivers[i]->name);
    printf("\nbenchdnn --DRIVER --help lists all options.\n");
}

/* From the driver's name on. */
static int run(int count, char **tokens)
{
    if (count == 0 || strcmp(tokens[0], "--help") == 0) {
        print_drivers();
        return count == 0;
    }
    const struct driver *driver = parse_driver(tokens[0]);
    if (!driver) {
        fprintf(stderr, "Error: can't parse the driver name '%s'.\n", tokens[0]);
        return 1;
    }
    report_begin();
    struct settings *settings = settings_create(driver);
    bench_tokens(settings, driver, (size_t)count - 1, tokens + 1);
    peer_finish();
    settings_destroy(settings);
    return report_finish() != 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "err: no arguments passed\n");
        return 1;
    }
    int first = 1;
    globals_init();
    while (first < argc && globals_parse(argv[first]))
        first++;
    int status = run(argc - first, argv + first);
    session_end();
    batch_forget();
    globals_deinit();
    return status;
}
