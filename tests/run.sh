#!/bin/sh
# Runs cmocka programs, as many at a time as there are processors, and counts their tests.
#   EMULATOR='qemu-aarch64 -cpu max' JOBS=1 tests/run.sh PROGRAM[,ARGUMENT…]…
# A program's output is shown only when it fails (or with VERBOSE=1). The last line counts all tests.
# With COUNTS=FILE a line "passed failed skipped" is appended to FILE too.
# --plain: the programs are no cmocka programs; each counts as one test, passed if its exit status is 0.
set -u

plain=
[ "${1:-}" = --plain ] && plain=--plain && shift
if [ "${1:-}" != --one ]; then
    counts=$(mktemp)
    trap 'rm -f "$counts"' EXIT
    [ $# -eq 0 ] || printf '%s\0' "$@" | xargs -0 -r -n 1 -P "${JOBS:-$(nproc)}" "$0" $plain --one "$counts"
    total=$(awk '{p += $1; f += $2; s += $3} END {print p + 0, f + 0, s + 0}' "$counts")
    # A script that was killed has counted nothing.
    missing=$(($# - $(wc -l <"$counts")))
    set -- $total
    set -- "$1" "$(($2 + missing))" "$3"
    [ -n "${COUNTS:-}" ] && echo "$*" >>"$COUNTS"
    echo "$1 passed, $2 failed, $3 skipped"
    [ "$2" -eq 0 ]
    exit
fi

counts=$2 program=$3
log=$(mktemp)
trap 'rm -f "$log" "$log.times" "$log.shown"' EXIT
timeout "${TEST_TIMEOUT:-900}" ${EMULATOR:-} $(echo "$program" | tr , ' ') >"$log" 2>&1
status=$?
# Processor time, which others on the machine do not change. The second line is about children: user's code, system's.
times >"$log.times"
seconds=$(awk 'NR == 2 {gsub("[ms]", " "); print $1 * 60 + $2 + $3 * 60 + $4}' "$log.times")
ok=$(grep -cE '^\[ +OK \]' "$log")
bad=$(grep -cE '^\[  (FAILED|ERROR) +\] [A-Za-z_0-9]+(: [A-Za-z_0-9 ]+)?$' "$log")
skip=$(grep -cE '^\[ +SKIPPED \] [A-Za-z_0-9]+(: [A-Za-z_0-9 ]+)?$' "$log")
# cmocka lists failed and skipped tests once as they happen and once in the summary
bad=$(((bad + 1) / 2)) skip=$(((skip + 1) / 2))
[ -n "$plain" ] && [ $status -eq 0 ] && ok=1
[ $status -ne 0 ] && [ $bad -eq 0 ] && bad=1
[ $status -eq 0 ] && [ "$((ok + skip))" -eq 0 ] && bad=1 && echo "$program ran no test" >>"$log"
echo "$ok $bad $skip" >>"$counts"
{
    printf '  %-44s %4d passed %3d failed %3d skipped %6.1fs\n' \
        "${program##*/tests/}" "$ok" "$bad" "$skip" "$seconds"
    if [ $bad -ne 0 ] || [ -n "${VERBOSE:-}" ]; then
        [ $status -ge 124 ] && echo "  (exit status $status)"
        tail -n 60 "$log" | sed 's/^/    /'
    fi
} >"$log.shown"
cat "$log.shown" # at once, between the lines of others
