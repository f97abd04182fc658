#!/bin/sh
# Everything `make test` promises, one configuration after another; the last line counts all tests.
set -u
cd "$(dirname "$0")/.."

jobs=$(nproc)
counts=$(mktemp)
broken=
trap 'rm -f "$counts"' EXIT
export COUNTS="$counts"

step() { # TITLE, then a command; a failure is remembered and the rest still runs
    echo "== $1"
    shift
    "$@" || broken="$broken [$*]"
}
check() { # TITLE, then make variables
    title=$1
    shift
    step "$title" make --no-print-directory -j"$jobs" check "$@"
}

tiers=max
[ "$(uname -m)" = x86_64 ] && tiers='cortex-a53 neoverse-n1 max'
for cpu in $tiers; do
    check "AArch64, $cpu" EMULATED_CPU="$cpu"
done
check 'portable' TARGET=portable
check 'portable, address and undefined-behaviour sanitizers' TARGET=portable SAN=address,undefined
check 'portable, thread sanitizer' TARGET=portable SAN=thread
# Scratchpads and fresh memory full of NaN: nothing reads what it did not write.
export NEOPRENE_MEMORY_POISON=255
for build in aarch64-gcc portable-gcc; do
    programs=
    for test in matmul convolution network primitive_nested; do
        programs="$programs build/$build/tests/test_$test"
    done
    check "$build, poisoned memory" TARGET="${build%-gcc}" TESTS="$programs"
done
unset NEOPRENE_MEMORY_POISON
step 'every pool, portable' make --no-print-directory check-pools TARGET=portable
step 'two pools, thread sanitizer' make --no-print-directory check-pools TARGET=portable SAN=thread \
    POOLS='built-in,3 hostile,7' POOL_PROGRAMS='matmul convolution network'
step 'examples, AArch64' make --no-print-directory -j"$jobs" check-examples
step 'examples, portable' make --no-print-directory -j"$jobs" check-examples TARGET=portable
step 'layers' make --no-print-directory layers
step 'spills' make --no-print-directory spills
step 'symbols' make --no-print-directory symbols

[ -z "$broken" ] || echo "failed:$broken"
awk -v broken="$broken" '{p += $1; f += $2; s += $3}
    END {if (broken != "" && !f) f = 1; printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f != 0}' "$counts"
