/* The command line of benchdnn: descriptors, options, batch files, and whatever else is typed. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/benchdnn.h"
#include "tests/support/temporary.h"

/* ---- descriptors ---- */

/* What is written, and how it is printed again. */
static const char *const descriptors[][3] = {
    {"conv", "mb2ic16ih7oc16oh7kh5ph2n\"a\"", "ic16ih7oc16oh7kh5ph2n\"a\""},
    {"conv", "ic16oc16_ih7_oh7_kh5_ph2", "ic16ih7oc16oh7kh5ph2"},  /* any order, _ ignored */
    {"conv", "mb1g1ic4oc8iw5kw3", "g1mb1ic4iw5oc8ow3kw3pw0"},      /* g1 is not "no g" */
    {"conv", "ic4oc8ih5kh3", "ic4ih5oc8oh3kh3ph0"},                /* o from p = 0 */
    {"conv", "ic4oc8ih5oh5kh3", "ic4ih5oc8oh5kh3ph1"},             /* p from o */
    {"conv", "ic4oc8ih7kh3sh2dh1ph1", "ic4ih7oc8oh3kh3sh2ph1dh1"}, /* strides, dilation */
    {"conv", "ic16ih14oc24oh10kh3ph0", "ic16ih14oc24oh10kh3ph0"},  /* unused columns */
    {"conv", "ic3id5oc4kd3", "ic3id5oc4od3kd3pd0"},                /* a cube */
    {"conv", "ic3id5ih6iw7oc4kd1kh3kw3", "ic3id5ih6iw7oc4od5oh4ow5kd1kh3kw3pd0ph0pw0"},
    {"conv", "ic3ih8iw9oc4kh1kw1", "ic3ih8iw9oc4oh8ow9kh1kw1ph0pw0"},
    {"conv", "g4ic8ih9oc8kh3sh2n\"net:layer*4\"", "g4ic8ih9oc8oh4kh3sh2ph0n\"net:layer*4\""},
    {"matmul", "10x30:30x20", "10x30:30x20"},
    {"matmul", "10x30:30x20n\"a\"", "10x30:30x20n\"a\""},
    {"matmul", "10x30:30x20_n\"a\"", "10x30:30x20n\"a\""},
    {"matmul", "3x2x10x30:1x2x30x20", "3x2x10x30:1x2x30x20"},
    {"matmul", "2x3x4:5", "2x3x4:5x1x1"}, /* padded with ones */
    {"reorder", "2x3x4x5n\"a\"", "2x3x4x5n\"a\""},
};

/* Lists all descriptors of a driver, as written and as printed, in one run. */
static void list_descriptors(const char *driver)
{
    char arguments[4096];
    int length = snprintf(arguments, sizeof arguments, "--mode=L --%s", driver);
    for (size_t i = 0; i < count_of(descriptors); i++) {
        if (strcmp(descriptors[i][0], driver) == 0)
            length += snprintf(arguments + length, sizeof arguments - (size_t)length, " '%s' '%s'",
                               descriptors[i][1], descriptors[i][2]);
    }
    struct benchdnn_run *r = benchdnn_run(arguments);
    for (size_t i = 0; i < count_of(descriptors); i++) {
        char line[512];
        snprintf(line, sizeof line, "__REPRO: --mode=L --%s %s\n", driver, descriptors[i][2]);
        if (strcmp(descriptors[i][0], driver) == 0 && benchdnn_count(r->output, line) < 2)
            fail_msg("%s is not printed as %s:\n%s", descriptors[i][1], descriptors[i][2],
                     r->output);
    }
}

static void descriptors_are_printed_as_they_are_read(void **state)
{
    (void)state;
    list_descriptors("conv");
    list_descriptors("matmul");
    list_descriptors("reorder");
}

static void canonical_lines_name_every_default(void **state)
{
    (void)state;
    benchdnn_expect("--mode=L --canonical=true --conv ic4oc8ih5kh3", 0,
                    "mb2ic4ih5iw5oc8oh3ow3kh3kw3sh1sw1ph0pw0dh0dw0");
    benchdnn_expect("--mode=L --canonical=true --conv ic4oc8ih5kh3", 0, "--dir=FWD_B --dt=f32 ");
}

/* ---- options ---- */

static const char *const options[][3] = {
    {"conv", "--dir=fwd_i --dt=s8:s8:u8 --alg=WINO ic4oc8ih5kh3",
     "--dir=FWD_I --dt=s8:s8:u8 --alg=wino "},
    {"conv", "--stag=axb --strides=:9x3x1:8x4x2 ic4oc8iw5kw3",
     "--stag=axb --strides=:9x3x1:8x4x2 "},
    {"conv", "--attr-post-ops=eltwise_relu:0.5+binary_add:f32:per_oc:axb ic4oc8ih5kh3",
     "--attr-post-ops=relu:0.5+add:f32:per_oc:axb "},
    {"conv", "--attr-post-ops=tanh:0:0:2.5 ic4oc8ih5kh3", "--attr-post-ops=tanh "},
    {"conv", "--attr-post-ops=sum+sum:0.5:2:s8+prelu ic4oc8ih5kh3",
     "=sum+sum:0.5:2:s8+prelu:common "},
    {"conv", "--attr-post-ops=mul:s8:2:any:4x1x1x1 ic4oc8ih5kh3", "=mul:s8:2:any:4x1x1x1 "},
    {"conv", "--attr-post-ops=dw:k3s2p1:s8 ic4oc8ih5kh3", "--attr-post-ops=dw:k3s2p1:s8 "},
    {"conv", "--attr-scales=src:common:0.25+wei:per_oc ic4oc8ih5kh3",
     "--attr-scales=src:common:0.25+wei:per_oc "},
    {"matmul", "--attr-scales=wei:3:f16:32x1 10x64:64x20", "--attr-scales=wei:3:f16:32x1 "},
    {"matmul", "--attr-zero-points=src:common:2+dst:0 10x64:64x20",
     "--attr-zero-points=src:common:2+dst:0 "},
    {"matmul", "--attr-fpmath=bf16:true --attr-scratchpad=user 10x64:64x20",
     "--attr-scratchpad=user --attr-fpmath=bf16:true "},
    {"matmul", "--runtime_dims_masks=2:1 --bia_dt=f32 --bia_mask=3 10x64:64x20",
     "--runtime_dims_masks=2:1 --bia-dt=f32 --bia_mask=3 "},
    {"matmul", "--ctx-init=3 --ctx-exe=2:auto:1 10x64:64x20", "--ctx-init=3 --ctx-exe=2:auto:1 "},
    {"reorder", "--sdt=f32 --ddt=s8 --stag=ab --dtag=ba --oflag=s8s8_comp:1 10x64",
     "--ddt=s8 --stag=ab --dtag=ba --oflag=s8s8_comp:1 "},
};

static void options_are_printed_when_they_are_not_the_defaults(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(options); i++) {
        char all[1024];
        snprintf(all, sizeof all, "--mode=L --%s %s", options[i][0], options[i][1]);
        benchdnn_expect(all, 0, options[i][2]);
    }
}

static void options_stay_until_they_are_set_again(void **state)
{
    (void)state;
    struct benchdnn_run *r =
        benchdnn_run("--mode=L --conv --stag=axb ic4oc8ih5kh3 --stag= ic4oc8ih5kh3 "
                     "--dir=FWD_I --dtag=axb ic4oc8ih5kh3 --reset ic4oc8ih5kh3");
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->output, "0:LISTED (0 ms) __REPRO: --mode=L --conv --stag=axb ic4"));
    assert_non_null(strstr(r->output, "1:LISTED (0 ms) __REPRO: --mode=L --conv ic4"));
    assert_non_null(strstr(r->output, "--conv --dir=FWD_I --dtag=axb ic4"));
    assert_non_null(strstr(r->output, "3:LISTED (0 ms) __REPRO: --mode=L --conv ic4"));
}

static void lists_of_values_are_multiplied_and_may_have_empty_elements(void **state)
{
    (void)state;
    struct benchdnn_run *r =
        benchdnn_run("--mode=L --conv --dir=FWD_D,FWD_I --attr-post-ops=,relu ic4oc8ih5kh3");
    assert_non_null(strstr(r->output, "tests:4 "));
    assert_non_null(strstr(r->output, "0:LISTED (0 ms) __REPRO: --mode=L --conv --dir=FWD_D ic4"));
    assert_non_null(
        strstr(r->output, "1:LISTED (0 ms) __REPRO: --mode=L --conv --dir=FWD_D --attr"));
    assert_non_null(strstr(r->output, "listed:4"));
}

static void mb_replaces_the_batch_of_a_descriptor(void **state)
{
    (void)state;
    benchdnn_expect("--mode=L --conv --mb=0,5 mb3ic4oc8ih5kh3", 0, "--conv mb3ic4");
    benchdnn_expect("--mode=L --conv --mb=0,5 mb3ic4oc8ih5kh3", 0, "--conv mb5ic4");
}

static void match_counts_only_the_problems_that_match(void **state)
{
    (void)state;
    benchdnn_expect("--mode=L --conv --match='.*axb.*oc8' --stag=axb,abx ic4oc8ih5kh3 ic4oc9ih5kh3",
                    0, "tests:1 ");
}

static void start_skips_the_first_problems(void **state)
{
    (void)state;
    benchdnn_expect("--start=1 --matmul 3x4:4x5 4x4:4x5", 0,
                    "0:SKIPPED (Skip-start option hit) (0 ms) __REPRO: --matmul 3x4:4x5");
    benchdnn_expect("--start=1 --matmul 3x4:4x5 4x4:4x5", 0, "passed:1 skipped:1 ");
}

static void what_users_of_the_other_benchdnn_type_is_understood(void **state)
{
    (void)state;
    benchdnn_expect("--version", 0, "benchdnn of neoprene ");
    benchdnn_expect("--perf-template=%desc%:%prb% --mode=P --fix-times-per-prb=1 --matmul 3x4:4x5",
                    0, "3x4:4x5:--mode=P --fix-times-per-prb=1 --matmul 3x4:4x5");
    benchdnn_expect("--matmul --dt=s8:s8:s32 --attr-scales=wei:0:2 3x4:4x5", 0,
                    "--attr-scales=wei:common:2 3x4:4x5");
    benchdnn_expect("--matmul --attr-scales=wei:0:f32 3x4:4x5", 0, "passed:1 ");
    benchdnn_expect("--matmul --attr-fpmath=,bf16 3x4:4x5", 0, "0:PASSED (");
    benchdnn_expect("--matmul --attr-fpmath=,bf16 3x4:4x5", 0, "--attr-fpmath=bf16 3x4:4x5");
    benchdnn_expect("--matmul --attr-fpmath=,bf16 3x4:4x5", 0, "tests:2 passed:2 ");
    benchdnn_expect("--matmul --grouped=src:0:2:1,2 3x4:2x4x5 --grouped= 3x4:4x5", 0,
                    "passed:1 skipped:2 ");
}

/* ---- wrong input ---- */

static const struct {
    const char *arguments;
    int status;
    const char *part;
} refusals[] = {
    {"", 1, "benchdnn: no arguments passed"},
    {"--pooling ic4", 1, "benchdnn: can't parse the driver name '--pooling'."},
    {"--mode=L", 1, "--conv --matmul --reorder"},
    {"--mode=CP --conv ic4", 2, "benchdnn: mode value is invalid."},
    {"--mode=X --conv ic4", 2, "benchdnn: mode value is invalid."},
    {"--mode=F --max-ms-per-prb=20 --conv", 2, "can't be combined with mode F"},
    {"--conv --stagg=axb", 2, "benchdnn: unknown option for 'conv' driver: '--stagg=axb'."},
    {"--conv --dt f32", 2, "benchdnn: `--dt` takes a value: `--dt=…`."},
    {"--conv --match=[", 2, "`match` option expects a POSIX basic regular expression; `[`"},
    {"--repeats-per-prb=0 --conv", 2, "`repeats-per-prb` option expects"},
    {"--matmul 3x4:2x4x5", 2, "Different numbers of dimensions"},
    {"--conv --stagg=axb", 2, "The most similar option(s) is/are: '--stag'"},
    {"--conv --bia_mask=1 ic4", 2, "benchdnn: unknown option for 'conv' driver"},
    {"--conv -stag=axb", 2, "benchdnn: options should be passed with `--` prefix."},
    {"--conv --dt=f32:f32 ic4", 2, "`dt` option expects"},
    {"--conv --dt=f31 ic4", 2, "`dt` option expects"},
    {"--conv --stag=aab ic4", 2, "`stag` option expects a format tag; `aab` is not that."},
    {"--conv --dir=FORWARD ic4", 2, "`dir` option expects"},
    {"--conv --attr-post-ops=relo ic4", 2, "`attr-post-ops` option expects"},
    {"--conv --attr-post-ops=dw:k3 ic4", 2, "`attr-post-ops` option expects"},
    {"--conv --attr-scales=src:somehow ic4", 2, "`attr-scales` option expects"},
    {"--conv --attr-scratchpad=none ic4", 2, "`attr-scratchpad` option expects"},
    {"--conv --strides=1x2 ic4", 2, "`strides` option expects"},
    {"--conv --stag=axb --strides=1x2x3:: ic4oc4iw5kw1", 2, "strides and a tag"},
    {"--conv --batch=is_not_there", 1, "cannot open file is_not_there"},
    {"--conv --memory-kind=usm ic4", 2, "unknown option"},
    {"--conv --ctx-exe=0 ic4", 2, "`ctx-exe` option expects"},
    {"--conv ic16oc", 2, "benchdnn: No value found for `oc` setting"},
    {"--conv ic16oc-3", 2, "must be positive"},
    {"--conv ic16xx3", 2, "Unrecognized pattern"},
    {"--conv ih5oc4kh3", 2, "`ic` and `oc` are mandatory"},
    {"--conv ic4oc4ih5kh9", 2, "`oh` is 0"},
    {"--conv ic4oc4ih5kh0", 2, "must be positive"},
    {"--conv g3ic4oc4ih5kh3", 2, "`g` must divide"},
    {"--conv ic99999999999999999999oc4ih5kh3", 2, "too large"},
    {"--matmul 3x4", 2, "Expected number of dims arguments is `2`"},
    {"--matmul 3x4:4x5:3x5", 2, "Expected number of dims arguments is `2`"},
    {"--matmul 3x4:4x5end", 2, "Unrecognized pattern"},
    {"--matmul 99999999999999999999x4:4x5", 2, "a size is too large"},
    {"--reorder 1x1x1x1x1x1x1x1x1x1x1x1x1", 2, "there are more than 12 sizes"},
    {"--matmul 3x4:5x6", 1, "With NEOPRENE_VERBOSE=1"},
    {"--matmul 3x4:4xx5", 2, "Expected number of dims arguments is `2`"},
    {"--reorder 3x4:4x5", 2, "Unrecognized pattern"},
    {"--reorder --attr-scales=src:per_oc 3x4", 2, "per_oc"},
    {"--mode=P --fix-times-per-prb=1 --matmul --perf-template=%color% 3x4:4x5", 2,
     "benchdnn: perf report option \"color\" is not supported"},
};

static void wrong_input_gets_a_sentence_and_a_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(refusals); i++)
        benchdnn_expect(refusals[i].arguments, refusals[i].status, refusals[i].part);
}

static void put_words(const char *name, const char *first, const char *word, int count,
                      const char *last)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", benchdnn_folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(first, file);
    for (int i = 0; i < count; i++)
        (void)fputs(word, file);
    (void)fputs(last, file);
    (void)fclose(file);
}

/* So many that to read them anew for each would take minutes. */
static void long_lists_are_read_in_no_time(void **state)
{
    (void)state;
    put_words("resets", "", "--reset\n", 200000, "3x4:4x5\n");
    put_words("tags", "--stag=", "ab,", 200000, "ab\n");
    benchdnn_expect("--mode=L --matmul --batch=resets", 0, "listed:1");
    benchdnn_expect("--matmul --batch=tags", 0, "No problem found");
}

static void an_interrupted_list_ends_with_its_summary(void **state)
{
    (void)state;
    put_words("many", "", "64x64:64x64\n", 1000, "");
    struct benchdnn_run *r =
        benchdnn_run_interrupted("--repeats-per-prb=100000 --matmul --batch=many");
    assert_int_equal(benchdnn_count(r->output, "\ntests:"), 1);
    assert_true(benchdnn_count(r->output, "PASSED") < 1000u * 100000);
}

static void an_interrupted_measurement_ends(void **state)
{
    (void)state;
    time_t begin = time(NULL);
    struct benchdnn_run *r =
        benchdnn_run_interrupted("--mode=P --max-ms-per-prb=60000 --matmul 64x64:64x64");
    assert_true(time(NULL) - begin < 40);
    assert_int_equal(benchdnn_count(r->output, "\ntests:"), 1);
}

/* After done, which has what is done of how many problems: minutes and seconds, which take longer
 * on a busy machine. */
static bool says_what_is_left(const char *output, const char *done)
{
    int minutes, seconds, end = 0;
    const char *at = strstr(output, done);
    if (at)
        sscanf(at + strlen(done), "%d:%2d left%n", &minutes, &seconds, &end);
    return end > 0;
}

/* How many problems are done, and how long the others will take, while somebody looks. */
static void progress_is_shown_on_a_terminal(void **state)
{
    (void)state;
    put_words("three", "", "3x4:4x5\n", 3, "");
    struct benchdnn_run *r = benchdnn_run_on_terminal("--matmul --batch=three");
    assert_int_equal(r->status, 0);
    assert_true(says_what_is_left(r->output, "\r1/3, "));
    assert_true(says_what_is_left(r->output, "\r2/3, "));
    r = benchdnn_run("--matmul --batch=three");
    assert_null(strstr(r->output, " left"));
}

static void an_option_without_a_problem_is_worth_a_warning(void **state)
{
    (void)state;
    benchdnn_expect("--conv --stag=axb", 0,
                    "conv driver: WARNING: No problem found for a given option!");
}

/* ---- batch files ---- */

static void batch_files_are_read_token_by_token(void **state)
{
    (void)state;
    temporary_put(benchdnn_folder, "tokens",
                  "# a comment --stag=none\n"
                  "--dir=FWD_I --stag=axb ic4oc8ih5kh3n\"a#b\" # another\n"
                  "--attr-post-ops=, \\\n   relu, \\\n  tanh\n ic4oc8ih5kh3\n");
    struct benchdnn_run *r = benchdnn_run("--mode=L --conv --batch=tokens");
    assert_non_null(strstr(r->output, "--dir=FWD_I --stag=axb ic4ih5oc8oh3kh3ph0n\"a#b\"\n"));
    assert_non_null(strstr(r->output, "--attr-post-ops=tanh ic4"));
    assert_non_null(strstr(r->output, "listed:4"));
}

static void options_of_nested_batch_files_stay(void **state)
{
    (void)state;
    temporary_put(benchdnn_folder, "outer", "--dir=FWD_D --batch=inner ic5oc8ih5kh3\n");
    temporary_put(benchdnn_folder, "inner", "ic4oc8ih5kh3 --stag=axb\n");
    struct benchdnn_run *r = benchdnn_run("--mode=L --conv --batch=outer ic6oc8ih5kh3");
    assert_non_null(strstr(r->output, "0:LISTED (0 ms) __REPRO: --mode=L --conv --dir=FWD_D ic4"));
    assert_non_null(strstr(r->output, "--conv --dir=FWD_D --stag=axb ic5"));
    assert_non_null(strstr(r->output, "--conv --dir=FWD_D --stag=axb ic6"));
}

static void batch_files_are_found_beside_those_before(void **state)
{
    (void)state;
    temporary_put(benchdnn_folder, "deep/first", "--batch=second\n");
    temporary_put(benchdnn_folder, "deep/second", "3x4:4x5\n");
    benchdnn_expect("--mode=L --matmul --batch=deep/first", 0, "listed:1");
}

static void our_own_files_are_found_by_name(void **state)
{
    (void)state;
    benchdnn_expect("--mode=L --conv --batch=test_conv_ci", 0, "failed:0");
    benchdnn_expect("--mode=L --matmul --batch=test_matmul_ci", 0, "failed:0");
    benchdnn_expect("--mode=L --reorder --batch=test_reorder_ci", 0, "failed:0");
}

static void batch_files_that_include_themselves_end(void **state)
{
    (void)state;
    temporary_put(benchdnn_folder, "circle", "--batch=circle\n");
    benchdnn_expect("--mode=L --conv --batch=circle", 1, "nested too deeply");
}

static void a_folder_is_no_batch_file(void **state)
{
    (void)state;
    benchdnn_expect("--mode=L --conv --batch=.", 1, "cannot open file .");
}

/* ---- garbage ---- */

/* clang-format off */
static const char *const pieces[] = {
    "--", "-", "conv", "matmul", "dt=", "stag=", "attr-post-ops=", "strides=", "ic", "oc", "ih",
    "kh", "3", "0", "-1", "99999999999", "x", ":", "+", ",", "_", "n", "axb", "f32", "relu", "sum",
    "add", "per_oc", "=", "%", "mode=", "L", "batch=", "attr-scales=", "wei", "dw:k3", "\\\\",
    "--stag=", "--dt=", "common", "4x5", "4x5:5x6", "ic3ih4oc5kh3", "--match=", "(", "[", "*",
    "--mb=", "ctx-exe", "--dir", "select", "prelu", "1e9", "nan",
};
/* clang-format on */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void no_garbage_crashes_it(void **state)
{
    (void)state;
    static const char *const drivers[] = {"conv", "matmul", "reorder"};
    uint32_t seed = 1;
    const char *emulator = getenv("EMULATOR");
    int rounds = emulator && *emulator ? 15 : 40; /* starting the emulator takes its time */
    for (int i = 0; i < rounds; i++) {
        char arguments[2048];
        int length = snprintf(arguments, sizeof arguments, "--mode=L --%s", drivers[i % 3]);
        uint32_t tokens = 1 + next_random(&seed) % 3;
        for (uint32_t t = 0; t < tokens; t++) {
            length += snprintf(arguments + length, sizeof arguments - (size_t)length, " '");
            for (uint32_t p = 1 + next_random(&seed) % 6; p-- > 0;)
                length += snprintf(arguments + length, sizeof arguments - (size_t)length, "%s",
                                   pieces[next_random(&seed) % count_of(pieces)]);
            length += snprintf(arguments + length, sizeof arguments - (size_t)length, "'");
        }
        struct benchdnn_run *r = benchdnn_run(arguments);
        if (r->status < 0)
            fail_msg("benchdnn %s crashed:\n%s", arguments, r->output);
    }
}

/* Sizes whose products do not fit 64 bits, and less absurd ones that do not fit memory. */
static void absurd_sizes_end_with_a_verdict(void **state)
{
    (void)state;
    benchdnn_expect("--conv ic1073741824oc1073741824ih1073741824kh1 "
                    "g1073741824ic1073741824oc1073741824ih5kh3",
                    0, "skipped:2 ");
    benchdnn_expect("--conv ic1oc1ih1073741824kh1073741824dh1073741824ph1073741824sh1073741824", 2,
                    "`oh` is 0");
    benchdnn_expect("--matmul 9223372036854775807x9223372036854775807:9223372036854775807x3 "
                    "4294967296x2:2x4294967296",
                    0, "skipped:2 ");
    benchdnn_expect("--matmul --strides=9223372036854775807x1:: 2x2:2x2", 0, "skipped:1 ");
    benchdnn_expect("--reorder 4294967296x4294967296x4294967296", 0, "skipped:1 ");
    benchdnn_expect("--reorder 20x9223372036854775807x11x0x10", 0, "passed:1 ");
    benchdnn_expect("--conv ic4294967311oc1iw5kw1 ic1oc1iw4294967311kw1", 0, "skipped:2 ");
    benchdnn_expect("--mb=1 --conv", 1, "can't parse the driver name");
    benchdnn_expect("--conv --mb=9223372036854775807 ic1oc1ih1kh1", 0, "skipped:1 ");
    assert_true(
        benchdnn_run("--matmul --runtime_dims_masks=4095:4095 --bia-dt=f32 --bia_mask=9999999999 "
                     "3x4:4x5")
            ->status >= 0);
}

static void no_garbage_in_batch_files_crashes_it(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int i = 0; i < 5; i++) {
        char text[512];
        for (size_t c = 0; c + 1 < sizeof text; c++)
            text[c] = (char)(1 + next_random(&seed) % 254);
        text[sizeof text - 1] = 0;
        temporary_put(benchdnn_folder, "garbage", text);
        assert_true(benchdnn_run("--mode=L --conv --batch=garbage")->status >= 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_are_printed_as_they_are_read),
        cmocka_unit_test(canonical_lines_name_every_default),
        cmocka_unit_test(options_are_printed_when_they_are_not_the_defaults),
        cmocka_unit_test(options_stay_until_they_are_set_again),
        cmocka_unit_test(lists_of_values_are_multiplied_and_may_have_empty_elements),
        cmocka_unit_test(mb_replaces_the_batch_of_a_descriptor),
        cmocka_unit_test(match_counts_only_the_problems_that_match),
        cmocka_unit_test(start_skips_the_first_problems),
        cmocka_unit_test(what_users_of_the_other_benchdnn_type_is_understood),
        cmocka_unit_test(long_lists_are_read_in_no_time),
        cmocka_unit_test(an_interrupted_list_ends_with_its_summary),
        cmocka_unit_test(an_interrupted_measurement_ends),
        cmocka_unit_test(progress_is_shown_on_a_terminal),
        cmocka_unit_test(wrong_input_gets_a_sentence_and_a_status),
        cmocka_unit_test(an_option_without_a_problem_is_worth_a_warning),
        cmocka_unit_test(batch_files_are_read_token_by_token),
        cmocka_unit_test(options_of_nested_batch_files_stay),
        cmocka_unit_test(batch_files_are_found_beside_those_before),
        cmocka_unit_test(our_own_files_are_found_by_name),
        cmocka_unit_test(batch_files_that_include_themselves_end),
        cmocka_unit_test(a_folder_is_no_batch_file),
        cmocka_unit_test(no_garbage_crashes_it),
        cmocka_unit_test(absurd_sizes_end_with_a_verdict),
        cmocka_unit_test(no_garbage_in_batch_files_crashes_it),
    };
    return cmocka_run_group_tests_name("benchdnn", tests, benchdnn_find, NULL);
}
