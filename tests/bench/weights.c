/* What packed weights cost, for whole networks, through the public interface alone.
 *
 *   build/portable-gcc/bench/weights [--layers N] [--file PATH] [--inputs FOLDER]
 *
 * Each line is: network, what, value, unit. Every layer has weights of its own. A measurement that
 * starts an engine runs in a process of its own, as a program that starts does. Times are sums over
 * calls of neo_weights_pack() or neo_weights_pack_known(); making up the plain weights is not
 * counted. The decoder has N of its 22 layers (default: all, or as many as a third of the available
 * memory holds). */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/weights/weights.h"
#include "tests/support/temporary.h"

enum { DECODER_LAYERS = 22, REST_S = 4 };

enum { RESNET, MOBILENET, DECODER, NETWORKS };

static struct network networks[NETWORKS] = {
    [RESNET] = {.name = "resnet_50", .file = "conv/shapes_resnet_50"},
    [MOBILENET] = {.name = "mobilenet_v1", .file = "conv/shapes_mobilenet_v1"},
    [DECODER] = {.name = "decoder_1b", .file = "matmul/shapes_decoder_decode_weights"},
};

static const char *cache_path;

/* Fewer layers, in proportion; one of each at least. */
static void scale_layers(struct network *network, int layers)
{
    for (size_t i = 0; i < network->count; i++) {
        struct shape *shape = &network->shapes[i];
        if (shape->count >= DECODER_LAYERS)
            shape->count = shape->count / DECODER_LAYERS * layers;
    }
}

static void print(const struct network *network, const char *what, double value, const char *unit)
{
    printf("%-13s %-44s %12.3f %s\n", network->name, what, value, unit);
    fflush(stdout);
}

static void print_start(const struct network *network, enum start_kind kind,
                        const struct result *result)
{
    char what[96];
    double mib = (double)network_bytes(network) / (1 << 20);
    snprintf(what, sizeof what, "%s start", starts[kind].name);
    print(network, what, result->pack_ms, "ms");
    snprintf(what, sizeof what, "%s start, rate", starts[kind].name);
    print(network, what, mib / result->pack_ms * 1e3, "MiB/s");
    snprintf(what, sizeof what, "%s start, first inference", starts[kind].name);
    print(network, what, result->first_ms, "ms");
    snprintf(what, sizeof what, "%s start, peak memory", starts[kind].name);
    print(network, what, result->peak_mib, "MiB");
    check(result->fallbacks <= 0, "the file refused an entry");
}

static void report_shares(const struct network *network, double unique_mib)
{
    static const char *const units[] = {"", "1 process", "2 processes", "", "4 processes"};
    for (int processes = 1; processes <= 4; processes *= 2) {
        struct result sum = measure_share(network, processes);
        char what[96];
        snprintf(what, sizeof what, "resident, %s", units[processes]);
        print(network, what, sum.rss_mib / unique_mib, "copies");
        snprintf(what, sizeof what, "proportional, %s", units[processes]);
        print(network, what, sum.pss_mib / unique_mib, "copies");
        snprintf(what, sizeof what, "other memory, %s", units[processes]);
        print(network, what, sum.own_mib, "MiB");
    }
}

/* Bytes that the primitives want: the file cannot be smaller. */
static double unique_bytes(void)
{
    neo_weights_file_summary summary;
    check_ok(neo_weights_file_list(cache_path, 0, NULL, NULL, &summary));
    return (double)summary.bytes[NEO_WEIGHTS_USABLE];
}

static void report_rates(const struct network *network)
{
    struct rates rates = measure_rates(network);
    print(network, "plain weights", (double)network_bytes(network) / (1 << 20), "MiB");
    print(network, "memcpy", rates.bytes / rates.ns[COPY] * 1e3, "MB/s");
    print(network, "packing", rates.bytes / rates.ns[PACK] * 1e3, "MB/s");
    print(network, "packing / memcpy", rates.ns[COPY] / rates.ns[PACK], "times");
    print(network, "unpacking / memcpy", rates.ns[COPY] / rates.ns[UNPACK], "times");
}

static void report_network(const struct network *network)
{
    report_rates(network);
    unlink(cache_path);
    double cold_ms = 0;
    for (enum start_kind kind = COLD; kind < STARTS; kind++) {
        struct result result = measure_start(network, kind);
        print_start(network, kind, &result);
        if (kind == COLD)
            sleep(REST_S);
        cold_ms = kind == COLD ? result.pack_ms : cold_ms;
        char what[96];
        snprintf(what, sizeof what, "cold / %s", starts[kind].name);
        if (kind != COLD)
            print(network, what, cold_ms / result.pack_ms, "times");
    }
    struct stat file;
    check(!stat(cache_path, &file), "stat");
    double unique = unique_bytes();
    print(network, "file / unique bytes", (double)file.st_size / unique, "times");
    report_shares(network, unique / (1 << 20));
    unlink(cache_path);
}

static int layers_that_fit(void)
{
    const int all = DECODER_LAYERS;
    double mib = proc_kib("/proc/meminfo", "MemAvailable:") / 1024 / 3;
    double layer = (double)network_bytes(&networks[DECODER]) / (1 << 20) / all;
    return mib > layer * all ? all : mib > layer ? (int)(mib / layer) : 1;
}

static void read_networks(const char *folder, int layers)
{
    for (size_t i = 0; i < NETWORKS; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, networks[i].file);
        networks[i].count = shapes_read(networks[i].shapes, MOST_SHAPES, path);
    }
    if (layers < 1 || layers > DECODER_LAYERS)
        layers = layers_that_fit();
    scale_layers(&networks[DECODER], layers);
    if (layers < DECODER_LAYERS)
        printf("# the decoder has %d of its %d layers\n", layers, DECODER_LAYERS);
}

int main(int count, char **words)
{
    const char *folder = "benchdnn/inputs";
    int layers = 0;
    for (int i = 1; i + 1 < count; i += 2)
        if (!strcmp(words[i], "--layers"))
            layers = atoi(words[i + 1]);
        else if (!strcmp(words[i], "--file"))
            cache_path = words[i + 1];
        else if (!strcmp(words[i], "--inputs"))
            folder = words[i + 1];
    if (!cache_path)
        cache_path = temporary_file("bench");
    read_networks(folder, layers);
    start_prepare(cache_path);
    for (size_t i = 0; i < NETWORKS; i++)
        report_network(&networks[i]);
    return 0;
}
