#!/bin/sh
# Everything `make test` promises, one configuration after another; the last line counts all tests. docs/testing.md says
# what each of them is for.
#   tests/matrix.sh [whole]     whole: all programs in every configuration, with all of their rounds
set -u
cd "$(dirname "$0")/.."

whole=${1:-}
jobs=$(nproc)
counts=$(mktemp)
broken=
trap 'rm -f "$counts" "$counts.times"' EXIT
export COUNTS="$counts"

processor_seconds() { # of all that has ended so far; not in a subshell, which counts anew
    times >"$counts.times"
    spent=$(awk 'NR == 2 {gsub("[ms]", " "); printf "%d", $1 * 60 + $2 + $3 * 60 + $4}' "$counts.times")
}
step() { # TITLE, then a command; a failure is remembered and the rest still runs
    echo "== $1"
    title=$1
    shift
    processor_seconds
    before=$spent
    "$@" || broken="$broken [$*]"
    processor_seconds
    echo "   $((spent - before)) s of processor time: $title"
}
folders_without() { # folders of tests, but for those of a pattern, and for those that have no programs
    find tests/*/ -maxdepth 1 -name '*.c' -printf '%h\n' | sed 's|.*/||' | sort -u | grep -vxE "bench|fuzz|perf|support|sweep|$1" | tr '\n' ' '
}
check() { # TITLE, programs (none: all), then make variables
    title=$1 programs=$2
    shift 2
    [ -z "$whole" ] || programs=
    step "$title" make --no-print-directory -j"$jobs" check TOGETHER=1 ${programs:+"TESTS=$programs"} "$@"
}
poisoned() { # as check; scratchpads and fresh memory are full of NaN: nothing reads what it did not write
    export NEOPRENE_MEMORY_POISON=255
    title="$1, poisoned memory"
    shift
    check "$title" "$@"
    unset NEOPRENE_MEMORY_POISON
}

python_tests() { # a command that runs unittest: its tests are counted as the others are
    log=$(mktemp)
    "$@" >"$log" 2>&1
    status=$?
    tail -n 20 "$log"
    ran=$(sed -n 's/^Ran \([0-9]*\) tests\{0,1\} in .*/\1/p' "$log")
    bad=$(sed -n 's/^FAILED (//p' "$log" | tr -dc '0-9,' | awk -F, '{for (i = 1; i <= NF; i++) n += $i} END {print n + 0}')
    [ $status -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    echo "$((${ran:-$bad} - bad)) $bad 0" >>"$counts"
    rm -f "$log"
    return $status
}

expected_counts() { # a command that ends as `make perf-check` does: each count is a test
    log=$(mktemp)
    "$@" >"$log" 2>&1
    status=$?
    tail -n 20 "$log"
    awk '/^[0-9]+ (instruction|line) counts: / {seen = 1; all += $1; bad += $7 + $14}
        END {print seen ? all - bad " " bad " 0" : "0 1 0"}' "$log" >>"$counts"
    rm -f "$log"
    return $status
}

clients() { # lines PASS and FAIL of programs that exist; unpacking them is a quarter of a gigabyte, which nobody asked for
    if [ ! -e build/clients/.unpacked/complete ]; then
        echo "  skipped: programs that use oneDNN and BLAS are not unpacked ('make clients')"
        echo "0 0 1" >>"$counts"
        return
    fi
    log=$(mktemp)
    make --no-print-directory -j"$jobs" check-clients-quick >"$log" 2>&1
    status=$?
    grep -E '^(PASS|FAIL)' "$log" || tail -n 20 "$log"
    awk -v status=$status '{n[$1]++} END {print n["PASS"] + 0, n["FAIL"] + (status && !n["FAIL"]), 0}' "$log" >>"$counts"
    rm -f "$log"
    return $status
}

operations='matmul/matmul convolution/convolution network/network network/memory network/primitives primitive/nested'
# Of folders with threads, the programs of one, or of one at a time, and those that every pool is tried on.
threadless='memory/block_interleavings memory/plan packed/crash packed/damage packed/refusals primitive/warm network/network network/primitives'
[ -z "$whole" ] || threadless=
# What does not compute is the same on every tier.
tierless='api|benchdnn|compat|core|memory|packed|primitive|threading|tools'
# Instructions that only some processors have multiply types other than f32, so f32 differs by the class of the core alone;
# and tests of kernels and of the blocked product go over all that the processor has, whatever the core.
typed='kernels/convert kernels/depthwise_taps kernels/gemm_blocks kernels/gemm_s4 kernels/gemm_types kernels/pack_panel
    matmul/block_import matmul/blocks matmul/dynamic matmul/rounding matmul/types convolution/depthwise convolution/types
    inner_product deconvolution quantization reorder'
chosen="matmul/choices matmul/random convolution/cost convolution/random kernels/dwconv_f32_choice api/random network/network network/primitives"
if [ "$(uname -m)" = x86_64 ]; then
    check 'AArch64, all instructions' "$(echo "$tierless" | tr '|' ' ')" EMULATED_CPU=max
    poisoned 'AArch64, all instructions' "$(folders_without "$tierless")" EMULATED_CPU=max
    [ -n "$whole" ] || export NEOPRENE_SHORT=1
    check "AArch64, cortex-a53" "$typed $chosen convolution matmul network" EMULATED_CPU=cortex-a53
    check 'AArch64, neoverse-n1' "$typed $chosen" EMULATED_CPU=neoverse-n1
    unset NEOPRENE_SHORT
else
    check 'AArch64' ''
    poisoned 'AArch64' "$operations"
fi
# The address sanitizer sees all programs; without it those run that it keeps from something: limits, forks, sandboxes.
check 'portable, address and undefined-behaviour sanitizers' '' TARGET=portable SAN=address,undefined
check 'portable' 'memory/allocation memory/kinds memory/limits packed/limit packed/memory packed/packed_memory packed/space
    primitive/warm threading/cpu threading/fork threading/place threading/topology' TARGET=portable
check 'portable, thread sanitizer' 'memory network packed primitive threading api/memory api/misuse api/scratchpad
    compat/blas compat/onednn_lives core/slab gemm/gemm' TARGET=portable SAN=thread \
    WITHOUT="$threadless"
poisoned 'portable' "$operations" TARGET=portable
step 'every pool, portable' make --no-print-directory check-pools TARGET=portable
# The library's own pool has all operations in threading/operations and threading/results already.
networks='network/network network/primitives'
pooled="matmul/matmul convolution/convolution $networks"
[ -n "$whole" ] || export NEOPRENE_SHORT=1
step 'a hostile pool, thread sanitizer' make --no-print-directory check-pools TARGET=portable SAN=thread \
    POOLS='hostile,7' POOL_PROGRAMS="$pooled"
step 'the own pool, thread sanitizer' make --no-print-directory check-pools TARGET=portable SAN=thread \
    POOLS='built-in,3' POOL_PROGRAMS="$([ -n "$whole" ] && echo "$pooled" || echo "$networks")"
unset NEOPRENE_SHORT
step 'examples, AArch64' make --no-print-directory -j"$jobs" check-examples ${whole:+'EXAMPLES_RUN=$(EXAMPLES)'}
step 'examples, portable' make --no-print-directory -j"$jobs" check-examples TARGET=portable
step 'benchdnn, AArch64' make --no-print-directory -j"$jobs" check-benchdnn
step 'benchdnn, portable' make --no-print-directory -j"$jobs" check-benchdnn TARGET=portable
step 'programs of others' clients
step 'performance tools' python_tests make --no-print-directory perf-test
# The recorded counts are those of the default compiler's programs in the emulator.
case "$(uname -m) ${CC:-gcc}" in
*clang*) ;;
x86_64*)
    step 'instruction and line counts' expected_counts make --no-print-directory -j"$jobs" perf-check
    step "calls of oneDNN's programs" make --no-print-directory -j"$jobs" compat-calls
    ;;
esac
step 'installation' make --no-print-directory -j"$jobs" check-install
step 'layers' make --no-print-directory layers
step 'circles' make --no-print-directory circles
step 'spills' make --no-print-directory spills
step 'symbols' make --no-print-directory symbols

[ -z "$broken" ] || echo "failed:$broken"
awk -v broken="$broken" '{p += $1; f += $2; s += $3}
    END {if (broken != "" && !f) f = 1; printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f != 0}' "$counts"
