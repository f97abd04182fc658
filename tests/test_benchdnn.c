/* benchdnn as its users see it: what it prints and the status it ends with. */
#include "tests/support/temporary.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/temporary.h"

#define OUTPUT_MAX 1000000

/* ---- running it ---- */

struct run {
    int status; /* -1: it was killed */
    char output[OUTPUT_MAX];
};

static char program[1024]; /* with the emulator in front */
static const char *folder;

/* benchdnn is built beside the tests. */
static int find_program(void **state)
{
    (void)state;
    char path[512];
    const char *emulator = getenv("EMULATOR");
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(length > 0);
    path[length] = 0;
    *strrchr(path, '/') = 0;
    snprintf(program, sizeof program, "%s %s/../benchdnn/benchdnn", emulator ? emulator : "", path);
    folder = temporary_folder("benchdnn");
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("ASAN_OPTIONS", "exitcode=101", 1); /* what a sanitizer finds counts as a crash */
    setenv("UBSAN_OPTIONS", "exitcode=101", 1);
    setenv("TSAN_OPTIONS", "exitcode=101", 1);
    return 0;
}

/* Standard error comes first: benchdnn's own buffer is flushed later. */
static struct run *run(const char *arguments)
{
    static struct run result;
    char command[4096];
    snprintf(command, sizeof command, "cd %s && %s %s 2>&1", folder, program, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(result.output, 1, OUTPUT_MAX - 1, pipe);
    result.output[length] = 0;
    int status = pclose(pipe);
    result.status = WIFEXITED(status) && WEXITSTATUS(status) < 100 ? WEXITSTATUS(status) : -1;
    return &result;
}

static void expect(const char *arguments, int status, const char *part)
{
    struct run *r = run(arguments);
    if (r->status != status || !strstr(r->output, part)) {
        print_error("benchdnn %s\nstatus %d instead of %d, or no `%s` in:\n%s\n", arguments,
                    r->status, status, part, r->output);
        fail();
    }
}

static size_t count_parts(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

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
    struct run *r = run(arguments);
    for (size_t i = 0; i < count_of(descriptors); i++) {
        char line[512];
        snprintf(line, sizeof line, "__REPRO: --mode=L --%s %s\n", driver, descriptors[i][2]);
        if (strcmp(descriptors[i][0], driver) == 0 && count_parts(r->output, line) < 2)
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
    expect("--mode=L --canonical=true --conv ic4oc8ih5kh3", 0,
           "mb2ic4ih5iw5oc8oh3ow3kh3kw3sh1sw1ph0pw0dh0dw0");
    expect("--mode=L --canonical=true --conv ic4oc8ih5kh3", 0, "--dir=FWD_B --dt=f32 ");
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
        expect(all, 0, options[i][2]);
    }
}

static void options_stay_until_they_are_set_again(void **state)
{
    (void)state;
    struct run *r = run("--mode=L --conv --stag=axb ic4oc8ih5kh3 --stag= ic4oc8ih5kh3 "
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
    struct run *r = run("--mode=L --conv --dir=FWD_D,FWD_I --attr-post-ops=,relu ic4oc8ih5kh3");
    assert_non_null(strstr(r->output, "tests:4 "));
    assert_non_null(strstr(r->output, "0:LISTED (0 ms) __REPRO: --mode=L --conv --dir=FWD_D ic4"));
    assert_non_null(
        strstr(r->output, "1:LISTED (0 ms) __REPRO: --mode=L --conv --dir=FWD_D --attr"));
    assert_non_null(strstr(r->output, "listed:4"));
}

static void mb_replaces_the_batch_of_a_descriptor(void **state)
{
    (void)state;
    expect("--mode=L --conv --mb=0,5 mb3ic4oc8ih5kh3", 0, "--conv mb3ic4");
    expect("--mode=L --conv --mb=0,5 mb3ic4oc8ih5kh3", 0, "--conv mb5ic4");
}

static void match_counts_only_the_problems_that_match(void **state)
{
    (void)state;
    expect("--mode=L --conv --match='.*axb.*oc8' --stag=axb,abx ic4oc8ih5kh3 ic4oc9ih5kh3", 0,
           "tests:1 ");
}

static void start_skips_the_first_problems(void **state)
{
    (void)state;
    expect("--start=1 --matmul 3x4:4x5 4x4:4x5", 0,
           "0:SKIPPED (Skip-start option hit) (0 ms) __REPRO: --matmul 3x4:4x5");
    expect("--start=1 --matmul 3x4:4x5 4x4:4x5", 0, "passed:1 skipped:1 ");
}

/* ---- wrong input ---- */

static const struct {
    const char *arguments;
    int status;
    const char *part;
} refusals[] = {
    {"", 1, "err: no arguments passed"},
    {"--pooling ic4", 1, "Error: can't parse the driver name '--pooling'."},
    {"--mode=L", 1, "--conv --matmul --reorder"},
    {"--mode=CP --conv ic4", 2, "Error: mode value is invalid."},
    {"--mode=X --conv ic4", 2, "Error: mode value is invalid."},
    {"--mode=F --max-ms-per-prb=20 --conv", 2, "can't be combined with mode F"},
    {"--conv --stagg=axb", 2, "Error: unknown option for 'conv' driver: '--stagg=axb'."},
    {"--conv --stagg=axb", 2, "The most similar option(s) is/are: '--stag'"},
    {"--conv --bia_mask=1 ic4", 2, "Error: unknown option for 'conv' driver"},
    {"--conv -stag=axb", 2, "ERROR: options should be passed with `--` prefix."},
    {"--conv --dt=f32:f32 ic4", 2, "`dt` option expects"},
    {"--conv --dt=f31 ic4", 2, "`dt` option expects"},
    {"--conv --stag=aab ic4", 2, "`aab` is not a value of option `--stag`"},
    {"--conv --dir=FORWARD ic4", 2, "option `--dir`"},
    {"--conv --attr-post-ops=relo ic4", 2, "option `--attr-post-ops`"},
    {"--conv --attr-post-ops=dw:k3 ic4", 2, "option `--attr-post-ops`"},
    {"--conv --attr-scales=src:somehow ic4", 2, "option `--attr-scales`"},
    {"--conv --attr-scratchpad=none ic4", 2, "option `--attr-scratchpad`"},
    {"--conv --strides=1x2 ic4", 2, "option `--strides`"},
    {"--conv --stag=axb --strides=1x2x3:: ic4oc4iw5kw1", 2, "strides and a tag"},
    {"--conv --batch=is_not_there", 1, "cannot open file is_not_there"},
    {"--conv --memory-kind=usm ic4", 2, "unknown option"},
    {"--conv --ctx-exe=0 ic4", 2, "option `--ctx-exe`"},
    {"--conv ic16oc", 2, "ERROR: No value found for `oc` setting"},
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
    {"--matmul 3x4:4xx5", 2, "Expected number of dims arguments is `2`"},
    {"--reorder 3x4:4x5", 2, "Unrecognized pattern"},
    {"--reorder --attr-scales=src:per_oc 3x4", 2, "per_oc"},
    {"--mode=P --fix-times-per-prb=1 --matmul --perf-template=%color% 3x4:4x5", 2,
     "Error: perf report option \"color\" is not supported"},
};

static void wrong_input_gets_a_sentence_and_a_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(refusals); i++)
        expect(refusals[i].arguments, refusals[i].status, refusals[i].part);
}

static void an_option_without_a_problem_is_worth_a_warning(void **state)
{
    (void)state;
    expect("--conv --stag=axb", 0, "conv driver: WARNING: No problem found for a given option!");
}

/* ---- batch files ---- */

static void batch_files_are_read_token_by_token(void **state)
{
    (void)state;
    temporary_put(folder, "tokens",
                  "# a comment --stag=none\n"
                  "--dir=FWD_I --stag=axb ic4oc8ih5kh3n\"a#b\" # another\n"
                  "--attr-post-ops=, \\\n   relu, \\\n  tanh\n ic4oc8ih5kh3\n");
    struct run *r = run("--mode=L --conv --batch=tokens");
    assert_non_null(strstr(r->output, "--dir=FWD_I --stag=axb ic4ih5oc8oh3kh3ph0n\"a#b\"\n"));
    assert_non_null(strstr(r->output, "--attr-post-ops=tanh ic4"));
    assert_non_null(strstr(r->output, "listed:4"));
}

static void options_of_nested_batch_files_stay(void **state)
{
    (void)state;
    temporary_put(folder, "outer", "--dir=FWD_D --batch=inner ic5oc8ih5kh3\n");
    temporary_put(folder, "inner", "ic4oc8ih5kh3 --stag=axb\n");
    struct run *r = run("--mode=L --conv --batch=outer ic6oc8ih5kh3");
    assert_non_null(strstr(r->output, "0:LISTED (0 ms) __REPRO: --mode=L --conv --dir=FWD_D ic4"));
    assert_non_null(strstr(r->output, "--conv --dir=FWD_D --stag=axb ic5"));
    assert_non_null(strstr(r->output, "--conv --dir=FWD_D --stag=axb ic6"));
}

static void batch_files_are_found_beside_those_before(void **state)
{
    (void)state;
    temporary_put(folder, "deep/first", "--batch=second\n");
    temporary_put(folder, "deep/second", "3x4:4x5\n");
    expect("--mode=L --matmul --batch=deep/first", 0, "listed:1");
}

static void our_own_files_are_found_by_name(void **state)
{
    (void)state;
    expect("--mode=L --conv --batch=test_conv_ci", 0, "failed:0");
    expect("--mode=L --matmul --batch=test_matmul_ci", 0, "failed:0");
    expect("--mode=L --reorder --batch=test_reorder_ci", 0, "failed:0");
}

static void batch_files_that_include_themselves_end(void **state)
{
    (void)state;
    temporary_put(folder, "circle", "--batch=circle\n");
    expect("--mode=L --conv --batch=circle", 1, "nested too deeply");
}

static void a_folder_is_no_batch_file(void **state)
{
    (void)state;
    expect("--mode=L --conv --batch=.", 1, "cannot open file .");
}

/* ---- states ---- */

static void right_results_pass(void **state)
{
    (void)state;
    expect("--conv --stag=axb,abx --dtag=axb g2ic6ih7oc8kh3ph1", 0, "passed:2 skipped:0 ");
    expect("--matmul --bia-dt=f32 --wtag=ab 2x33x17:1x17x19", 1, "INVALID_ARGUMENTS");
    expect("--matmul --bia-dt=f32 --wtag=abc,acb 2x33x17:1x17x19", 0, "passed:2 skipped:0 ");
    expect("--reorder --stag=abc --dtag=abc,acb,cab 3x5x7", 0, "passed:3 skipped:0 ");
}

static void both_references_agree(void **state)
{
    (void)state;
    expect("--fast-ref=false --conv --attr-post-ops=,sum:0.5+relu g2ic6ih7oc8kh3ph1sh2", 0,
           "passed:2 ");
    expect("--fast-ref=false --matmul 13x21:21x17", 0, "passed:1 ");
}

static void real_data_pass_within_their_bound(void **state)
{
    (void)state;
    expect("--fill=real --conv --attr-post-ops=,relu,sum:0.5+tanh ic16ih7oc8kh3ph1", 0,
           "passed:3 ");
    expect("--fill=real --fast-ref=false --matmul 13x210:210x17", 0, "passed:1 ");
}

static void what_is_out_of_scope_is_skipped_with_a_reason(void **state)
{
    (void)state;
    expect("--conv --dir=BWD_D,BWD_W,BWD_WB,BWD_DW ic4oc8ih5kh3", 0, "passed:0 skipped:4 ");
    expect("--conv --dir=BWD_D ic4oc8ih5kh3", 0, "SKIPPED (Case not supported)");
    expect("--matmul --dt=f8_e5m2,f8_e4m3,f4_e2m1,f64 3x4:4x5", 0, "passed:0 skipped:4 ");
    expect("--matmul --dt=f64 3x4:4x5", 0, "SKIPPED (Data type not supported)");
    expect("--matmul --encoding=csr:: 3x4:4x5", 0, "SKIPPED (Case not supported)");
    expect("--matmul --attr-dropout=0.5:1 3x4:4x5", 0, "SKIPPED (Case not supported)");
    expect("--conv --attr-post-ops=dw:k3s1p1 ic4oc8ih5kh1", 0, "SKIPPED (Case not supported)");
    expect("--conv --stag=aBcd8b ic8oc8ih5kh1", 0, "SKIPPED (Case not supported)");
    expect("--engine=gpu --matmul 3x4:4x5", 0, "SKIPPED (Case not supported)");
}

static void implementations_can_be_chosen_and_skipped(void **state)
{
    (void)state;
    expect("--matmul --skip-impl=e,o 3x4:4x5", 0, "SKIPPED (Skip-impl option hit)");
    expect("--matmul --impl='\"ref\"' 3x4:4x5", 0, "passed:1 ");
    expect("--global-impl=nobody --matmul 3x4:4x5", 0, "SKIPPED (Skip-impl option hit)");
    expect("--check-ref-impl=true --matmul --impl=ref 3x4:4x5", 1,
           "FAILED (Ref Impl Not Expected)");
    expect("--summary=impl --matmul --impl=ref 3x4:4x5", 0, "= Implementation ref");
}

/* Which implementation serves a product with these attributes. */
static void implementation_of(const char *attributes, char *out, size_t size)
{
    char command[256];
    snprintf(command, sizeof command, "--summary=impl --matmul %s 1x64:64x64", attributes);
    struct run *r = run(command);
    const char *name = strstr(r->output, "= Implementation ");
    assert_non_null(name);
    snprintf(out, size, "%.80s", name);
}

static void attributes_that_change_the_implementation_are_a_failure(void **state)
{
    (void)state;
    static const char *const attributes[] = {"--attr-post-ops=relu", "--attr-post-ops=tanh",
                                             "--attr-post-ops=add:f32:3", "--attr-scratchpad=user"};
    char plain[256], with[256], command[256];
    implementation_of("", plain, sizeof plain);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        implementation_of(attributes[i], with, sizeof with);
        bool is_same = strcmp(plain, with) == 0;
        snprintf(command, sizeof command, "--attr-same-pd-check=true --matmul %s 1x64:64x64",
                 attributes[i]);
        expect(command, !is_same,
               is_same ? "passed:1 " : "FAILED (Attributes Changed The Implementation)");
    }
}

static void buffers_are_read_from_files(void **state)
{
    (void)state;
    float values[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    char path[256];
    snprintf(path, sizeof path, "%s/given.1.bin", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(values, sizeof *values, 12, file), 12);
    fclose(file);
    expect("-v2 --buffer-prefix=given --matmul 3x4:4x5", 0, "File 'given.1.bin' imported.");
    expect("-v2 --buffer-prefix=given --matmul 3x4:4x5", 0, "given.33.bin' not found");
    expect("--buffer-prefix=given --matmul --stag=ba 3x4:4x5", 0, "passed:1 ");
    expect("--buffer-prefix=given --matmul 3x5:5x5", 1, "does not have the 60 bytes of argument 1");
    expect("--buffer-prefix=given --matmul 2x4:4x5", 1, "does not have the 32 bytes of argument 1");
}

static void elements_may_lie_on_one_another(void **state)
{
    (void)state;
    expect("--matmul --strides=8x1:: 5x40:40x2", 0, "passed:1 ");
    expect("--matmul --strides=:1x1: 1x17:17x8", 0, "passed:1 ");
    expect("--matmul --strides=:0x1: 3x17:17x8", 0, "passed:1 ");
    expect("--matmul --attr-post-ops=add:f32:3::1x1 3x17:17x8", 0, "passed:1 ");
    expect("--matmul --strides=::1x1 5x40:40x2", 1, "INVALID_ARGUMENTS");
}

static void both_may_be_no_number(void **state)
{
    (void)state;
    expect("--matmul --attr-post-ops=sum:nan 3x4:4x5", 0, "passed:1 ");
    expect("--matmul --attr-post-ops=linear:1e30+linear:1e30+linear:1:-inf 3x4:4x5", 0,
           "passed:1 ");
}

static void contradicting_sizes_are_invalid_arguments(void **state)
{
    (void)state;
    expect("--matmul 3x4:5x5 3x4:4x5", 1, "0:INVALID_ARGUMENTS");
    expect("--matmul 3x4:5x5 3x4:4x5", 1,
           "passed:1 skipped:0 mistrusted:0 unimplemented:0 "
           "invalid_arguments:1 failed:1 listed:0");
}

static void failures_are_listed_at_the_end_unless_unwanted(void **state)
{
    (void)state;
    const char *title = "= Failed cases summary (--summary=no-failures to disable) =";
    expect("--matmul 3x4:5x5 3x4:4x5", 1, title);
    assert_null(strstr(run("--summary=no-failures --matmul 3x4:5x5")->output, title));
    struct run *r = run("--repeats-per-prb=12 --matmul 3x4:5x5");
    assert_non_null(strstr(r->output, "(... 2 more cases ...)"));
    assert_int_equal(count_parts(r->output, ":INVALID_ARGUMENTS ("), 22);
}

static void problems_that_do_not_fit_are_skipped(void **state)
{
    (void)state;
    expect("--matmul 1000000x1000000:1000000x1000000", 0, "SKIPPED (Not enough RAM)");
}

static void results_that_are_nearly_all_zero_are_mistrusted(void **state)
{
    (void)state;
    expect("--matmul --attr-post-ops=linear:0:0 13x21:21x17", 0, "mistrusted:1 ");
}

static void initialisation_and_execution_without_checks_pass(void **state)
{
    (void)state;
    expect("--mode=I --matmul 3x4:4x5", 0, "0:INITIALIZED (");
    expect("--mode=I --matmul 3x4:4x5", 0, "passed:1 ");
    expect("--mode=R --matmul 3x4:4x5", 0, "0:EXECUTED (");
    expect("--mode=B --matmul 13x4:4x5", 0, "0:PASSED (");
    expect("--mode=S --matmul 3x4:4x5", 0, "passed:1 ");
}

static void packed_layouts_survive_the_way_there_and_back(void **state)
{
    (void)state;
    expect(
        "--reorder --stag=ab,ba --dtag=packed_matmul 30x20 1x17 --stag=packed_matmul --dtag=ab,ba "
        "301x47",
        0, "passed:6 ");
    expect("--reorder --stag=abcd,acdb --dtag=packed_conv 17x19x3x3 --stag=packed_conv --dtag=acdb "
           "17x19x3x3 --stag=packed_group_conv --dtag=abcde 2x17x19x3x3",
           0, "passed:4 ");
}

static void memory_is_printed_for_each_problem(void **state)
{
    (void)state;
    struct run *r = run("--memory=true --matmul 130x70:70x90 13x7:7x9");
    assert_int_equal(r->status, 0);
    assert_int_equal(count_parts(r->output, "memory: scratchpad "), 2);
    assert_int_equal(count_parts(r->output, "memory: all "), 2);
}

static void verbose_names_the_steps(void **state)
{
    (void)state;
    expect("-v1 --matmul 3x4:4x5", 0, "create: --matmul 3x4:4x5");
    expect("--verbose=1 --matmul 3x4:4x5", 0, "run: --matmul 3x4:4x5");
}

/* ---- performance mode ---- */

static void performance_is_reported_by_template(void **state)
{
    (void)state;
    struct run *r = run("--mode=P --fix-times-per-prb=2 --matmul 13x21:21x17n\\\"a\\\" 3x4:4x5");
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->output, "Template entries: perf,%engine%,%impl%,%name%,%prb%,%Gops%,"
                                      "%+ctime%,%-time%,%-Gflops%,%0time%,%0Gflops%\n"
                                      "perf,engine,impl,name,prb,Gops,max_ctime,min_time,"
                                      "min_Gflops,avg_time,avg_Gflops\nperf,cpu,"));
    assert_non_null(strstr(r->output, ",\"a\",--mode=P --fix-times-per-prb=2 --matmul "
                                      "13x21:21x17n\"a\",9.282e-06,"));
    assert_int_equal(count_parts(r->output, "Template entries"), 1);
    assert_null(strstr(r->output, "EXECUTED"));
    assert_non_null(strstr(r->output, "total perf: min(ms):"));
}

static void custom_templates_print_their_tokens(void **state)
{
    (void)state;
    expect("--mode=P --fix-times-per-prb=1 --matmul --perf-template=%prb%,%Kops%,%driver%,%idx% "
           "10x10:10x10",
           0, "\n--mode=P --fix-times-per-prb=1 --matmul 10x10:10x10,2,matmul,0\n");
    expect("--mode=P --fix-times-per-prb=1 --conv --perf-template=csv --dir=FWD_I ic4oc8ih5kh3", 0,
           ",FWD_I,f32,undef,any,any,any,direct,,ic4ih5oc8oh3kh3ph0,");
}

static void convolutions_count_only_work_inside_of_the_image(void **state)
{
    (void)state;
    /* of the 3 x 3 taps of 3 x 3 outputs, 7 x 7 meet the image: 2 * 7 * 7 */
    expect("--mode=P --fix-times-per-prb=1 --conv --perf-template=ops=%ops% mb1ic1oc1ih3kh3ph1", 0,
           "ops=98\n");
}

static void caches_can_be_cold_and_creation_parallel(void **state)
{
    (void)state;
    expect("--mode=P --fix-times-per-prb=3 --cold-cache=all --matmul 513x256:256x513", 0,
           "passed:1 ");
    expect("--mode=P --mode-modifier=P --fix-times-per-prb=3 --matmul --stag=ab,ba 13x25:25x53", 0,
           "passed:2 ");
    expect("--mode=P --fix-times-per-prb=3 --num-streams=2 --matmul 13x25:25x53", 0, "passed:1 ");
}

static void a_peer_is_measured_beside_us(void **state)
{
    (void)state;
    setenv("NEO_EMULATED", "0", 1);
    expect("--peer=openblas --matmul 13x21:21x17", 0, "peer: geometric mean over 1 problems");
    setenv("NEO_EMULATED", "1", 1);
    expect("--peer=openblas --conv ic4oc8ih5kh3", 0, "peer_regions,");
    expect("--peer=openblas --conv ic4oc8ih5kh3", 0, "the processor is emulated");
    unsetenv("NEO_EMULATED");
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
        struct run *r = run(arguments);
        if (r->status < 0)
            fail_msg("benchdnn %s crashed:\n%s", arguments, r->output);
    }
}

/* Sizes whose products do not fit 64 bits, and less absurd ones that do not fit memory. */
static void absurd_sizes_end_with_a_verdict(void **state)
{
    (void)state;
    expect("--conv ic1073741824oc1073741824ih1073741824kh1 "
           "g1073741824ic1073741824oc1073741824ih5kh3",
           0, "skipped:2 ");
    expect("--conv ic1oc1ih1073741824kh1073741824dh1073741824ph1073741824sh1073741824", 2,
           "`oh` is 0");
    expect("--matmul 9223372036854775807x9223372036854775807:9223372036854775807x3 "
           "4294967296x2:2x4294967296 99999999999999999999x2:2x2",
           0, "skipped:3 ");
    expect("--matmul --strides=9223372036854775807x1:: 2x2:2x2", 0, "skipped:1 ");
    expect("--reorder 4294967296x4294967296x4294967296", 0, "skipped:1 ");
    expect("--mb=1 --conv", 1, "can't parse the driver name");
    expect("--conv --mb=9223372036854775807 ic1oc1ih1kh1", 0, "skipped:1 ");
    assert_true(run("--matmul --runtime_dims_masks=4095:4095 --bia-dt=f32 --bia_mask=9999999999 "
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
        temporary_put(folder, "garbage", text);
        assert_true(run("--mode=L --conv --batch=garbage")->status >= 0);
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
        cmocka_unit_test(wrong_input_gets_a_sentence_and_a_status),
        cmocka_unit_test(an_option_without_a_problem_is_worth_a_warning),
        cmocka_unit_test(batch_files_are_read_token_by_token),
        cmocka_unit_test(options_of_nested_batch_files_stay),
        cmocka_unit_test(batch_files_are_found_beside_those_before),
        cmocka_unit_test(our_own_files_are_found_by_name),
        cmocka_unit_test(batch_files_that_include_themselves_end),
        cmocka_unit_test(a_folder_is_no_batch_file),
        cmocka_unit_test(right_results_pass),
        cmocka_unit_test(both_references_agree),
        cmocka_unit_test(real_data_pass_within_their_bound),
        cmocka_unit_test(what_is_out_of_scope_is_skipped_with_a_reason),
        cmocka_unit_test(implementations_can_be_chosen_and_skipped),
        cmocka_unit_test(attributes_that_change_the_implementation_are_a_failure),
        cmocka_unit_test(buffers_are_read_from_files),
        cmocka_unit_test(elements_may_lie_on_one_another),
        cmocka_unit_test(both_may_be_no_number),
        cmocka_unit_test(contradicting_sizes_are_invalid_arguments),
        cmocka_unit_test(failures_are_listed_at_the_end_unless_unwanted),
        cmocka_unit_test(problems_that_do_not_fit_are_skipped),
        cmocka_unit_test(results_that_are_nearly_all_zero_are_mistrusted),
        cmocka_unit_test(initialisation_and_execution_without_checks_pass),
        cmocka_unit_test(packed_layouts_survive_the_way_there_and_back),
        cmocka_unit_test(memory_is_printed_for_each_problem),
        cmocka_unit_test(verbose_names_the_steps),
        cmocka_unit_test(performance_is_reported_by_template),
        cmocka_unit_test(custom_templates_print_their_tokens),
        cmocka_unit_test(convolutions_count_only_work_inside_of_the_image),
        cmocka_unit_test(caches_can_be_cold_and_creation_parallel),
        cmocka_unit_test(a_peer_is_measured_beside_us),
        cmocka_unit_test(no_garbage_crashes_it),
        cmocka_unit_test(absurd_sizes_end_with_a_verdict),
        cmocka_unit_test(no_garbage_in_batch_files_crashes_it),
    };
    return cmocka_run_group_tests(tests, find_program, NULL);
}
