#!/bin/sh
# tests/benchdnn.sh BENCHDNN [ci|long]: the batches for continuous integration, or those with every file of shapes;
# each problem is compared with the reference.
#   EMULATOR='qemu-aarch64 -cpu max' tests/benchdnn.sh build/aarch64-gcc/benchdnn/benchdnn
set -u
batch=${2:-ci}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0

drivers='conv matmul reorder'
# these are as long as they are short
[ $batch = long ] || drivers="$drivers eltwise binary softmax pool lnorm bnorm gnorm concat sum reduction prelu shuffle resampling lrn ip deconv"
for driver in $drivers; do
    ${EMULATOR:-} "$1" --$driver --mode=C --batch=test_${driver}_$batch >"$log" 2>&1
    status=$?
    # tests:N passed:N skipped:N mistrusted:N unimplemented:N invalid_arguments:N failed:N listed:N
    counts=$(grep '^tests:' "$log" | tr ' ' '\n' | awk -F: '
        {of[$1] = $2} END {print of["passed"] + 0, of["failed"] + of["mistrusted"] + of["invalid_arguments"],
                                 of["skipped"] + of["unimplemented"]}')
    set -- "$1" $counts
    if [ "$3" -eq 0 ] && { [ $status -ne 0 ] || [ "$2" -eq 0 ]; }; then
        tail -n 5 "$log"
        set -- "$1" "$2" 1 "$4"
    fi
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
    printf '  benchdnn --%-33s %4d passed %3d failed %3d skipped\n' $driver "$2" "$3" "$4"
    [ "$3" -eq 0 ] || grep -E '^[0-9]+:(FAILED|MISTRUSTED|INVALID)' "$log" | head -20
done
[ -n "${COUNTS:-}" ] && echo "$passed $failed $skipped" >>"$COUNTS"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
