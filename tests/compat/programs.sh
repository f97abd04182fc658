#!/bin/sh
# Programs of oneDNN's, compiled against the header that the unpacked clients have:
#   tests/compat/programs.sh ROOT CXX FRONT        with the distribution's library and with ours of FRONT, for AArch64
#   tests/compat/programs.sh ROOT CXX FRONT SAN    tutorial.cc with ours alone, natively, under sanitizers
# tutorial.cc has what ours serves. fallback.cc has what it does not: the distribution's library computes that where
# NEOPRENE_ONEDNN_FALLBACK names it, else each case is refused. Values may differ by 1e-5 of the largest.
set -eu
root=$1 cxx=$2 front=$(cd "$3" && pwd) san=${4:-}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 # sanitizers cannot see how OpenMP's threads meet; the tutorial has threads of its own

build() { # NAME LIBRARY, options: the library is found where it is run
    name=$1 library=$2
    shift 2
    $cxx -std=c++17 -O1 -g -Wall -Wextra -Werror -isystem "$root/usr/include" "$@" "$here/$name.cc" -o "$work/$name" \
        "$library" -pthread -Wl,--allow-shlib-undefined
}
if [ -n "$san" ]; then
    build tutorial "$front"/libdnnl.so.* "-fsanitize=$san"
    LD_LIBRARY_PATH=$front "$work/tutorial" >"$work/values"
    echo "PASS tutorial natively, sanitizers $san: $(wc -l <"$work/values") values"
    exit
fi

theirs=$(cd "$root" && pwd)/usr/lib/aarch64-linux-gnu/libdnnl.so.3.6
run() { # NAME
    "$here/../../compat/run-client.sh" "$root" "$work/$1" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
}
compare() { # NAME: of $work/expected and $work/values; names of cases are the same lines
    paste "$work/expected" "$work/values" | awk -v name="$1" '
        NF != 2 {broken = 1}
        /^[a-z_]*\t/ {broken = broken || $1 != $2; next}
        {size = $1 < 0 ? -$1 : $1; off = $1 < $2 ? $2 - $1 : $1 - $2}
        size > largest {largest = size}
        !(off <= worst) {worst = off}
        END {
            good = !broken && largest > 0 && worst <= 1e-5 * largest
            printf "%s %s: %.1e of the largest of %d values\n", good ? "PASS" : "FAIL", name, worst / largest, NR
            exit !good
        }'
}
check() { # SENTENCE, a command
    sentence=$1
    shift
    "$@" || { echo "FAIL $sentence"; exit 1; }
    echo "PASS $sentence"
}

build tutorial "$theirs"
run tutorial >"$work/expected"
FRONT=$front run tutorial >"$work/values"
compare tutorial

build fallback "$theirs"
run fallback >"$work/expected"
FRONT=$front NEOPRENE_ONEDNN_FALLBACK=$theirs ONEDNN_VERBOSE=1 run fallback >"$work/all"
grep -v '^onednn_verbose' "$work/all" >"$work/values"
compare "fallback, with the distribution's library behind"
check 'fallback: a convolution before its backward pass is ours' \
    grep -q 'exec,cpu,convolution,neoprene:.*,forward_training' "$work/all"
check 'fallback: a pooling that leaves a workspace is of the library that reads it' \
    sh -c "! grep -q 'exec,cpu,pooling,neoprene:' '$work/all'"
FRONT=$front ONEDNN_VERBOSE=1 run fallback >"$work/all"
cases=$(grep -c '^[a-z_]*$' "$work/all")
check "fallback, without it: $cases cases are refused" [ "$(grep -c 'refused with status 3:' "$work/all")" = "$cases" ]
check "fallback, without it: $cases lines in the log" [ "$(grep -c 'neoprene: not served: ' "$work/all")" = "$cases" ]
