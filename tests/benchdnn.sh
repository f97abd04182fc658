#!/bin/sh
# tests/benchdnn.sh BENCHDNN [ci|long]: the batches for continuous integration, or those with every file of shapes,
# and random problems (some hundred, or ten thousand); each problem is compared with the reference.
#   EMULATOR='qemu-aarch64 -cpu max' tests/benchdnn.sh build/aarch64-gcc/benchdnn/benchdnn
# NEOPRENE_SEED chooses other random problems.
set -u
benchdnn=$1
batch=${2:-ci}
log=$(mktemp)
problems=$(mktemp)
trap 'rm -f "$log" "$problems"' EXIT
passed=0 failed=0 skipped=0

# The number of problems in a state: tests:N passed:N skipped:N mistrusted:N unimplemented:N …
count() {
    grep '^tests:' "$log" | tr ' ' '\n' | awk -F: -v state="$1" '$1 == state {n = $2} END {print n + 0}'
}

# NAME WHAT-COUNTS-AS-FAILED DRIVER ARGUMENTS…
check() {
    name=$1 states=$2
    shift 2
    ${EMULATOR:-} "$benchdnn" --mode=C "$@" >"$log" 2>&1
    status=$?
    good=$(count passed) bad=0 left=$(($(count skipped) + $(count unimplemented)))
    for state in $states; do bad=$((bad + $(count $state))); done
    if [ $bad -eq 0 ] && { [ $status -ne 0 ] || [ $good -eq 0 ]; }; then
        tail -n 5 "$log"
        bad=1
    fi
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left))
    printf '  benchdnn %-35s %5d passed %3d failed %3d skipped\n' "$name" $good $bad $left
    [ $bad -eq 0 ] || grep -E '^[0-9]+:(FAILED|MISTRUSTED|INVALID|UNIMPLEMENTED)' "$log" | head -20
}

drivers='conv matmul reorder'
# these are as long as they are short
[ $batch = long ] || drivers="$drivers eltwise binary softmax pool lnorm bnorm gnorm concat sum reduction prelu shuffle resampling lrn ip deconv"
for driver in $drivers; do
    check --$driver 'failed mistrusted' --$driver --batch=test_${driver}_$batch
done

# A random result may well be nearly all zero; what is not computed at all is a failure.
each=120
[ $batch = long ] && each=3400
for driver in conv matmul reorder; do
    "$(dirname "$0")/fuzz/problems.py" $driver $each "${NEOPRENE_SEED:-1}" >"$problems"
    check "--$driver, random" failed --$driver --fast-ref=false --batch="$problems"
done
[ -n "${COUNTS:-}" ] && echo "$passed $failed $skipped" >>"$COUNTS"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
