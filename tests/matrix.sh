#!/bin/sh
# Everything `make test` promises; the last line counts all tests. docs/testing.md says what each configuration is for.
#   tests/matrix.sh [whole]     whole: all programs in every configuration, with all of their rounds
# Steps of one build folder follow each other. Lanes of such steps run beside each other, so no processor is idle while a
# step links, or waits for the last of its programs; what a step prints is shown when it has ended.
set -u
cd "$(dirname "$0")/.."

whole=${1:-} lane=${2:-}
jobs=$(nproc)

if [ -z "$lane" ]; then
    LANES=$(mktemp -d)
    export LANES COUNTS="$LANES/counts"
    trap 'rm -rf "$LANES"' EXIT
    printf '%s\n' aarch64 sanitizers portable | xargs -P 3 -I '{}' tests/matrix.sh "$whole" '{}' ||
        echo '[a lane]' >>"$LANES/broken"
    broken=$(cat "$LANES/broken" 2>/dev/null)
    [ -z "$broken" ] || echo "failed: $broken"
    awk '{s += $1} END {printf "%d s of processor time\n", s}' "$LANES/seconds"
    awk -v broken="$broken" '{p += $1; f += $2; s += $3}
        END {if (broken != "" && !f) f = 1; printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f != 0}' "$COUNTS"
    exit
fi

counts=$COUNTS shown=$LANES/$lane

processor_seconds() { # of all that has ended so far; not in a subshell, which counts anew
    times >"$shown.times"
    spent=$(awk 'NR == 2 {gsub("[ms]", " "); printf "%d", $1 * 60 + $2 + $3 * 60 + $4}' "$shown.times")
}
step() { # TITLE, then a command; a failure is remembered and the rest still runs
    title=$1
    shift
    processor_seconds
    before=$spent
    [ ! -t 2 ] || echo "   begins: $title" >&2
    echo "== $title" >"$shown.log"
    "$@" >>"$shown.log" 2>&1 || echo "[$*]" >>"$LANES/broken"
    processor_seconds
    echo "$((spent - before))" >>"$LANES/seconds"
    echo "   $((spent - before)) s of processor time: $title" >>"$shown.log"
    flock "$LANES" cat "$shown.log"
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
short() { # what follows has fewer rounds and variants
    [ -n "$whole" ] || export NEOPRENE_SHORT=1
}
# What does not compute is the same on every tier.
tierless='api|benchdnn|compat|core|memory|packed|primitive|threading|tools'
# Of that, what takes long and has no other branch on AArch64: planning, interleavings, files that are cut or damaged.
emulatorless='memory/block_interleavings memory/plan packed/crash packed/damage'
[ -z "$whole" ] || emulatorless=
# Instructions that only some processors have multiply types other than f32, so f32 differs by the class of the core alone;
# and tests of kernels and of the blocked product go over all that the processor has, whatever the core.
typed='kernels/convert kernels/depthwise_taps kernels/gemm_blocks kernels/gemm_s4 kernels/gemm_types kernels/pack_panel
    matmul/block_import matmul/blocks matmul/dynamic matmul/rounding matmul/types convolution/depthwise convolution/types
    inner_product deconvolution quantization reorder'
chosen="matmul/choices matmul/random convolution/cost convolution/random kernels/dwconv_f32_choice api/random network/network network/primitives"
aarch64() {
    if [ "$(uname -m)" = x86_64 ]; then
        check 'AArch64, all instructions' "$(echo "$tierless" | tr '|' ' ')" EMULATED_CPU=max WITHOUT="$emulatorless"
        poisoned 'AArch64, all instructions' "$(folders_without "$tierless")" EMULATED_CPU=max
    else
        check 'AArch64' ''
        poisoned 'AArch64' "$operations"
    fi
    step 'benchdnn, AArch64' make --no-print-directory -j"$jobs" check-benchdnn
    # The recorded counts are those of the default compiler's programs in the emulator.
    case "$(uname -m) ${CC:-gcc}" in
    *clang*) ;;
    x86_64*)
        step 'instruction and line counts' expected_counts make --no-print-directory -j"$jobs" perf-check
        step "calls of oneDNN's programs" make --no-print-directory -j"$jobs" compat-calls
        ;;
    esac
    for structure in layers circles spills symbols; do
        step $structure make --no-print-directory $structure
    done
    step 'performance tools' python_tests make --no-print-directory perf-test
    step 'programs of others' clients
    step 'examples, AArch64' make --no-print-directory -j"$jobs" check-examples ${whole:+'EXAMPLES_RUN=$(EXAMPLES)'}
    if [ "$(uname -m)" = x86_64 ]; then
        short
        check "AArch64, cortex-a53" "$typed $chosen convolution matmul network" EMULATED_CPU=cortex-a53
        check 'AArch64, neoverse-n1' "$typed $chosen" EMULATED_CPU=neoverse-n1
    fi
}

# The address sanitizer sees all programs, with all rounds.
sanitizers() {
    check 'portable, address and undefined-behaviour sanitizers' '' TARGET=portable SAN=address,undefined
    short
    check 'portable, thread sanitizer' 'memory network packed primitive threading api/memory api/misuse api/scratchpad
        compat/blas compat/onednn_lives core/slab gemm/gemm' TARGET=portable SAN=thread \
        WITHOUT="$threadless"
    # The library's own pool has all operations in threading/operations and threading/results already.
    networks='network/network network/primitives'
    pooled="matmul/matmul convolution/convolution $networks"
    step 'a hostile pool, thread sanitizer' make --no-print-directory check-pools TARGET=portable SAN=thread \
        POOLS='hostile,7' POOL_PROGRAMS="$pooled"
    step 'the own pool, thread sanitizer' make --no-print-directory check-pools TARGET=portable SAN=thread \
        POOLS='built-in,3' POOL_PROGRAMS="$([ -n "$whole" ] && echo "$pooled" || echo "$networks")"
}

portable() {
    # What the address sanitizer keeps from something: limits, forks, sandboxes.
    check 'portable' 'memory/allocation memory/kinds memory/limits packed/limit packed/memory packed/packed_memory packed/space
        primitive/warm threading/cpu threading/fork threading/place threading/topology' TARGET=portable
    poisoned 'portable' "$operations" TARGET=portable
    step 'benchdnn, portable' make --no-print-directory -j"$jobs" check-benchdnn TARGET=portable
    step 'examples, portable' make --no-print-directory -j"$jobs" check-examples TARGET=portable
    step 'installation' make --no-print-directory -j"$jobs" check-install
    short
    step 'every pool, portable' make --no-print-directory check-pools TARGET=portable
}
"$lane"
