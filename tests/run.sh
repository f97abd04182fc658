#!/bin/sh
# Runs cmocka programs one after another and counts their tests.
#   EMULATOR='qemu-aarch64 -cpu max' tests/run.sh PROGRAM…
# A program's output is shown only when it fails (or with VERBOSE=1). The last line counts all tests.
# With COUNTS=FILE a line "passed failed skipped" is appended to FILE instead of being fatal.
# --plain: the programs are no cmocka programs; each counts as one test, passed if its exit status is 0.
set -u

plain=
[ "${1:-}" = --plain ] && plain=yes && shift
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT


for program in "$@"; do
    start=$(date +%s)
    timeout "${TEST_TIMEOUT:-900}" ${EMULATOR:-} "$program" >"$log" 2>&1
    status=$?
    ok=$(grep -cE '^\[ +OK \]' "$log")
    bad=$(grep -cE '^\[  (FAILED|ERROR) +\] [A-Za-z_0-9]+(: [A-Za-z_0-9 ]+)?$' "$log")
    skip=$(grep -cE '^\[ +SKIPPED \] [A-Za-z_0-9]+(: [A-Za-z_0-9 ]+)?$' "$log")
    # cmocka lists failed and skipped tests once as they happen and once in the summary
    bad=$(((bad + 1) / 2)) skip=$(((skip + 1) / 2))
    [ -n "$plain" ] && [ $status -eq 0 ] && ok=1
    [ $status -ne 0 ] && [ $bad -eq 0 ] && bad=1
    [ $status -eq 0 ] && [ "$((ok + skip))" -eq 0 ] && bad=1 && echo "$program ran no test" >>"$log"
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
    printf '  %-44s %4d passed %3d failed %3d skipped  %4ds\n' \
        "$(basename "$program")" "$ok" "$bad" "$skip" "$(($(date +%s) - start))"
    if [ $bad -ne 0 ] || [ -n "${VERBOSE:-}" ]; then
        [ $status -ge 124 ] && echo "  (exit status $status)"
        tail -n 60 "$log" | sed 's/^/    /'
    fi
done
[ -n "${COUNTS:-}" ] && echo "$passed $failed $skipped" >>"$COUNTS"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
