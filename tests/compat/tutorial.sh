#!/bin/sh
# A program of oneDNN's (tests/compat/tutorial.cc), compiled against the header that the unpacked clients have:
#   tests/compat/tutorial.sh ROOT CXX FRONT        with the distribution's library and with ours of FRONT, for AArch64
#   tests/compat/tutorial.sh ROOT CXX FRONT SAN    with ours alone, natively, under sanitizers
# It passes where its values differ by at most 1e-5 of the largest.
set -eu
root=$1 cxx=$2 front=$(cd "$3" && pwd) san=${4:-}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 # sanitizers cannot see how OpenMP's threads meet; the program has threads of its own

build() { # LIBRARY, options: the library is found where it is run
    library=$1
    shift
    $cxx -std=c++17 -O1 -g -Wall -Wextra -Werror -isystem "$root/usr/include" "$@" "$here/tutorial.cc" -o "$work/tutorial" \
        "$library" -pthread -Wl,--allow-shlib-undefined
}
if [ -n "$san" ]; then
    build "$front"/libdnnl.so.* "-fsanitize=$san"
    LD_LIBRARY_PATH=$front "$work/tutorial" >"$work/values"
    echo "PASS tutorial natively, sanitizers $san: $(wc -l <"$work/values") values"
    exit
fi
build "$root"/usr/lib/aarch64-linux-gnu/libdnnl.so.3.6
run="$here/../../compat/run-client.sh"
"$run" "$root" "$work/tutorial" >"$work/expected" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
FRONT=$front "$run" "$root" "$work/tutorial" >"$work/values"
paste "$work/expected" "$work/values" | awk '
    NF != 2 {broken = 1}
    {size = $1 < 0 ? -$1 : $1; off = $1 < $2 ? $2 - $1 : $1 - $2}
    size > largest {largest = size}
    !(off <= worst) {worst = off}
    END {
        good = !broken && largest > 0 && worst <= 1e-5 * largest
        printf "%s tutorial: %.1e of the largest of %d values\n", good ? "PASS" : "FAIL", worst / largest, NR
        exit !good
    }'
