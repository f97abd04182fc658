/* What benchdnn says of problems: verdicts, reports of time and memory. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/benchdnn.h"

/* ---- states ---- */

static void right_results_pass(void **state)
{
    (void)state;
    benchdnn_expect("--conv --stag=axb,abx --dtag=axb g2ic6ih7oc8kh3ph1", 0, "passed:2 skipped:0 ");
    benchdnn_expect("--matmul --bia-dt=f32 --wtag=ab 2x33x17:1x17x19", 1, "INVALID_ARGUMENTS");
    benchdnn_expect("--matmul --bia-dt=f32 --wtag=abc,acb 2x33x17:1x17x19", 0,
                    "passed:2 skipped:0 ");
    benchdnn_expect("--reorder --stag=abc --dtag=abc,acb,cab 3x5x7", 0, "passed:3 skipped:0 ");
}

static void both_references_agree(void **state)
{
    (void)state;
    benchdnn_expect("--fast-ref=false --conv --attr-post-ops=,sum:0.5+relu g2ic6ih7oc8kh3ph1sh2", 0,
                    "passed:2 ");
    benchdnn_expect("--fast-ref=false --matmul 13x21:21x17", 0, "passed:1 ");
}

static void real_data_pass_within_their_bound(void **state)
{
    (void)state;
    benchdnn_expect("--fill=real --conv --attr-post-ops=,relu,sum:0.5+tanh ic16ih7oc8kh3ph1", 0,
                    "passed:3 ");
    benchdnn_expect("--fill=real --fast-ref=false --matmul 13x210:210x17", 0, "passed:1 ");
}

static void what_is_out_of_scope_is_skipped_with_a_reason(void **state)
{
    (void)state;
    benchdnn_expect("--conv --dir=BWD_D,BWD_W,BWD_WB,BWD_DW ic4oc8ih5kh3", 0,
                    "passed:0 skipped:4 ");
    benchdnn_expect("--conv --dir=BWD_D ic4oc8ih5kh3", 0, "SKIPPED (Case not supported)");
    benchdnn_expect("--matmul --dt=f8_e5m2,f8_e4m3,f4_e2m1,f64 3x4:4x5", 0, "passed:0 skipped:4 ");
    benchdnn_expect("--matmul --dt=f64 3x4:4x5", 0, "SKIPPED (Data type not supported)");
    benchdnn_expect("--matmul --encoding=csr:: 3x4:4x5", 0, "SKIPPED (Case not supported)");
    benchdnn_expect("--matmul --attr-dropout=0.5:1 3x4:4x5", 0, "SKIPPED (Case not supported)");
    benchdnn_expect("--conv --attr-post-ops=dw:k3s1p1:f64 ic4oc8ih5kh1", 0,
                    "SKIPPED (Data type not supported)");
    benchdnn_expect("--matmul --attr-post-ops=dw:k3s1p1 3x4:4x5", 0,
                    "SKIPPED (Case not supported)");
    benchdnn_expect("--conv --stag=aBcd8b ic8oc8ih5kh1", 0, "SKIPPED (Case not supported)");
    benchdnn_expect("--engine=gpu --matmul 3x4:4x5", 0, "SKIPPED (Case not supported)");
}

static void implementations_can_be_chosen_and_skipped(void **state)
{
    (void)state;
    benchdnn_expect("--matmul --skip-impl=e,o 3x4:4x5", 0, "SKIPPED (Skip-impl option hit)");
    benchdnn_expect("--matmul --impl='\"ref\"' 3x4:4x5", 0, "passed:1 ");
    benchdnn_expect("--global-impl=nobody --matmul 3x4:4x5", 0, "SKIPPED (Skip-impl option hit)");
    benchdnn_expect("--check-ref-impl=true --matmul --impl=ref 3x4:4x5", 1,
                    "FAILED (Ref Impl Not Expected)");
    benchdnn_expect("--summary=impl --matmul --impl=ref 3x4:4x5", 0, "= Implementation ref");
}

/* Which implementation serves a product with these attributes. */
static void implementation_of(const char *attributes, char *out, size_t size)
{
    char command[256];
    snprintf(command, sizeof command, "--summary=impl --matmul %s 1x64:64x64", attributes);
    struct benchdnn_run *r = benchdnn_run(command);
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
        benchdnn_expect(command, !is_same,
                        is_same ? "passed:1 " : "FAILED (Attributes Changed The Implementation)");
    }
}

static void buffers_are_read_from_files(void **state)
{
    (void)state;
    float values[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    char path[256];
    snprintf(path, sizeof path, "%s/given.1.bin", benchdnn_folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(values, sizeof *values, 12, file), 12);
    fclose(file);
    benchdnn_expect("-v2 --buffer-prefix=given --matmul 3x4:4x5", 0,
                    "File 'given.1.bin' imported.");
    benchdnn_expect("-v2 --buffer-prefix=given --matmul 3x4:4x5", 0, "given.33.bin' not found");
    benchdnn_expect("--buffer-prefix=given --matmul --stag=ba 3x4:4x5", 0, "passed:1 ");
    benchdnn_expect("--buffer-prefix=given --matmul 3x5:5x5", 1,
                    "does not have the 60 bytes of argument 1");
    benchdnn_expect("--buffer-prefix=given --matmul 2x4:4x5", 1,
                    "does not have the 32 bytes of argument 1");
}

static void elements_may_lie_on_one_another(void **state)
{
    (void)state;
    benchdnn_expect("--matmul --strides=8x1:: 5x40:40x2", 0, "passed:1 ");
    benchdnn_expect("--matmul --strides=:1x1: 1x17:17x8", 0, "passed:1 ");
    benchdnn_expect("--matmul --strides=:0x1: 3x17:17x8", 0, "passed:1 ");
    benchdnn_expect("--matmul --attr-post-ops=add:f32:3::1x1 3x17:17x8", 0, "passed:1 ");
    benchdnn_expect("--matmul --strides=::1x1 5x40:40x2", 1, "INVALID_ARGUMENTS");
}

static void both_may_be_no_number(void **state)
{
    (void)state;
    benchdnn_expect("--matmul --attr-post-ops=sum:nan 3x4:4x5", 0, "passed:1 ");
    benchdnn_expect("--matmul --attr-post-ops=linear:1e30+linear:1e30+linear:1:-inf 3x4:4x5", 0,
                    "passed:1 ");
}

static void contradicting_sizes_are_invalid_arguments(void **state)
{
    (void)state;
    benchdnn_expect("--matmul 3x4:5x5 3x4:4x5", 1, "0:INVALID_ARGUMENTS");
    benchdnn_expect("--matmul 3x4:5x5 3x4:4x5", 1,
                    "passed:1 skipped:0 mistrusted:0 unimplemented:0 "
                    "invalid_arguments:1 failed:1 listed:0");
}

static void failures_are_listed_at_the_end_unless_unwanted(void **state)
{
    (void)state;
    const char *title = "= Failed cases summary (--summary=no-failures to disable) =";
    benchdnn_expect("--matmul 3x4:5x5 3x4:4x5", 1, title);
    assert_null(strstr(benchdnn_run("--summary=no-failures --matmul 3x4:5x5")->output, title));
    struct benchdnn_run *r = benchdnn_run("--repeats-per-prb=12 --matmul 3x4:5x5");
    assert_non_null(strstr(r->output, "(... 2 more cases ...)"));
    assert_int_equal(benchdnn_count(r->output, ":INVALID_ARGUMENTS ("), 22);
}

static void problems_that_do_not_fit_are_skipped(void **state)
{
    (void)state;
    benchdnn_expect("--matmul 1000000x1000000:1000000x1000000", 0, "SKIPPED (Not enough RAM)");
}

/* Around 0 nearly all results would be below 0, which u8 does not hold. */
static void elements_lie_around_a_given_zero_point(void **state)
{
    (void)state;
    benchdnn_expect("--conv --dt=u8:s8:u8 "
                    "--attr-zero-points=src:common:2+wei:common:2:s8+dst:common:1 ic40ih6oc8oh4kh3",
                    0, "passed:1 ");
}

static void results_that_are_nearly_all_zero_are_mistrusted(void **state)
{
    (void)state;
    benchdnn_expect("--matmul --attr-post-ops=linear:0:0 13x21:21x17", 0, "mistrusted:1 ");
}

static void initialisation_and_execution_without_checks_pass(void **state)
{
    (void)state;
    benchdnn_expect("--mode=I --matmul 3x4:4x5", 0, "0:INITIALIZED (");
    benchdnn_expect("--mode=I --matmul 3x4:4x5", 0, "passed:1 ");
    benchdnn_expect("--mode=R --matmul 3x4:4x5", 0, "0:EXECUTED (");
    benchdnn_expect("--mode=B --matmul 13x4:4x5", 0, "0:PASSED (");
    benchdnn_expect("--mode=S --matmul 3x4:4x5", 0, "passed:1 ");
}

static void packed_layouts_survive_the_way_there_and_back(void **state)
{
    (void)state;
    benchdnn_expect(
        "--reorder --stag=ab,ba --dtag=packed_matmul 30x20 1x17 --stag=packed_matmul --dtag=ab,ba "
        "301x47",
        0, "passed:6 ");
    benchdnn_expect(
        "--reorder --stag=abcd,acdb --dtag=packed_conv 17x19x3x3 --stag=packed_conv --dtag=acdb "
        "17x19x3x3 --stag=packed_group_conv --dtag=abcde 2x17x19x3x3",
        0, "passed:4 ");
}

static void memory_is_printed_for_each_problem(void **state)
{
    (void)state;
    struct benchdnn_run *r = benchdnn_run("--memory=true --matmul 130x70:70x90 13x7:7x9");
    assert_int_equal(r->status, 0);
    assert_int_equal(benchdnn_count(r->output, "memory: scratchpad "), 2);
    assert_int_equal(benchdnn_count(r->output, "memory: all "), 2);
}

static void verbose_names_the_steps(void **state)
{
    (void)state;
    benchdnn_expect("-v1 --matmul 3x4:4x5", 0, "create: --matmul 3x4:4x5");
    benchdnn_expect("--verbose=1 --matmul 3x4:4x5", 0, "run: --matmul 3x4:4x5");
}

/* ---- performance mode ---- */

static void performance_is_reported_by_template(void **state)
{
    (void)state;
    struct benchdnn_run *r =
        benchdnn_run("--mode=P --fix-times-per-prb=2 --matmul 13x21:21x17n\\\"a\\\" 3x4:4x5");
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->output, "Template entries: perf,%engine%,%impl%,%name%,%prb%,%Gops%,"
                                      "%+ctime%,%-time%,%-Gflops%,%0time%,%0Gflops%\n"
                                      "perf,engine,impl,name,prb,Gops,max_ctime,min_time,"
                                      "min_Gflops,avg_time,avg_Gflops\nperf,cpu,"));
    assert_non_null(strstr(r->output, ",\"a\",--mode=P --fix-times-per-prb=2 --matmul "
                                      "13x21:21x17n\"a\",9.282e-06,"));
    assert_int_equal(benchdnn_count(r->output, "Template entries"), 1);
    assert_null(strstr(r->output, "EXECUTED"));
    assert_non_null(strstr(r->output, "total perf: min(ms):"));
}

static void custom_templates_print_their_tokens(void **state)
{
    (void)state;
    benchdnn_expect(
        "--mode=P --fix-times-per-prb=1 --matmul --perf-template=%prb%,%Kops%,%driver%,%idx% "
        "10x10:10x10",
        0, "\n--mode=P --fix-times-per-prb=1 --matmul 10x10:10x10,2,matmul,0\n");
    benchdnn_expect(
        "--mode=P --fix-times-per-prb=1 --conv --perf-template=csv --dir=FWD_I ic4oc8ih5kh3", 0,
        ",FWD_I,f32,undef,any,any,any,direct,,ic4ih5oc8oh3kh3ph0,");
}

static void convolutions_count_only_work_inside_of_the_image(void **state)
{
    (void)state;
    /* of the 3 x 3 taps of 3 x 3 outputs, 7 x 7 meet the image: 2 * 7 * 7 */
    benchdnn_expect(
        "--mode=P --fix-times-per-prb=1 --conv --perf-template=ops=%ops% mb1ic1oc1ih3kh3ph1", 0,
        "ops=98\n");
}

static void caches_can_be_cold_and_creation_parallel(void **state)
{
    (void)state;
    benchdnn_expect("--mode=P --fix-times-per-prb=3 --cold-cache=all --matmul 513x256:256x513", 0,
                    "passed:1 ");
    benchdnn_expect(
        "--mode=P --mode-modifier=P --fix-times-per-prb=3 --matmul --stag=ab,ba 13x25:25x53", 0,
        "passed:2 ");
    benchdnn_expect("--mode=P --fix-times-per-prb=3 --num-streams=2 --matmul 13x25:25x53", 0,
                    "passed:1 ");
}

static void a_peer_is_measured_beside_us(void **state)
{
    (void)state;
    setenv("NEOPRENE_EMULATED", "0", 1);
    benchdnn_expect("--peer=openblas --matmul 13x21:21x17", 0,
                    "peer: geometric mean over 1 problems");
    setenv("NEOPRENE_EMULATED", "1", 1);
    benchdnn_expect("--peer=openblas --conv ic4oc8ih5kh3", 0, "peer_regions,");
    benchdnn_expect("--peer=openblas --conv ic4oc8ih5kh3", 0, "the processor is emulated");
    unsetenv("NEOPRENE_EMULATED");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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
        cmocka_unit_test(elements_lie_around_a_given_zero_point),
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
    };
    return cmocka_run_group_tests_name("benchdnn_results", tests, benchdnn_find, NULL);
}
