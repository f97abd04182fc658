/* benchdnn: checks and times problems that are described on the command line.
 *
 *   benchdnn [global options] --DRIVER [options | descriptors | --batch=FILE]…
 *
 * Status: 0 all is well, 1 a problem has failed or a file or driver is missing, 2 a wrong option,
 * 130 interrupted, after the summary.
 */
#include "benchdnn/batch.h"
#include "benchdnn/bench.h"
#include "benchdnn/globals.h"
#include "benchdnn/progress.h"
#include "benchdnn/report.h"
#include "benchdnn/session.h"
#include "benchdnn/timing/peer.h"

#include <stdio.h>
#include <string.h>

#include "neoprene/types.h"

enum { INTERRUPTED = 130 };

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

static void print_version(void)
{
    const neo_version *v = neo_get_version();
    printf("benchdnn of neoprene %d.%d.%d\n", (int)v->major, (int)v->minor, (int)v->patch);
}

/* From the driver's name on; an option of the driver may stand before it. */
static int run(int count, char **tokens, const char *perf_template)
{
    if (count && strcmp(tokens[0], "--version") == 0) {
        print_version();
        return 0;
    }
    if (count == 0 || strcmp(tokens[0], "--help") == 0) {
        print_drivers();
        return count == 0;
    }
    const struct driver *driver = parse_driver(tokens[0]);
    if (!driver) {
        bench_error("can't parse the driver name '%s'.", tokens[0]);
        return 1;
    }
    report_begin();
    progress_begin();
    struct settings *settings = settings_create(driver);
    if (perf_template)
        settings_parse(settings, perf_template);
    bench_tokens(settings, driver, (size_t)count - 1, tokens + 1);
    peer_finish();
    settings_destroy(settings);
    progress_hide();
    long failed = report_finish();
    return progress_is_interrupted() ? INTERRUPTED : failed != 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        bench_error("no arguments passed");
        return 1;
    }
    int first = 1;
    const char *perf_template = NULL;
    globals_init();
    for (const char *value; first < argc; first++) {
        if (option_is(argv[first], "perf-template", &value))
            perf_template = argv[first];
        else if (!globals_parse(argv[first]))
            break;
    }
    int status = run(argc - first, argv + first, perf_template);
    session_end();
    batch_forget();
    globals_deinit();
    return status;
}
