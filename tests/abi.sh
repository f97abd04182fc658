#!/bin/sh
# tests/abi.sh SHARED [--record FILE]: is what a released library offered still there, unchanged? tests/abi has descriptions of
# these, NAME-TARGET.abi, which --record writes.
set -u
shared=$1 target=$2 folder=tests/abi
if ! command -v abidiff >/dev/null || ! command -v abidw >/dev/null; then
    echo 'abi: not compared with released libraries: abidiff is not installed (abigail-tools)'
    exit 0
fi
describe() { # FILE
    abidw --headers-dir include/neoprene --drop-private-types --no-show-locs --no-corpus-path --no-comp-dir-path \
        --drop-undefined-syms --out-file "$1" "$shared"
}
if [ "${3:-}" = --record ]; then
    mkdir -p "$folder" && describe "$4" && echo "abi: $4"
    exit
fi
compared=0
for released in "$folder"/*-"$target".abi; do
    [ -f "$released" ] || continue
    # Bit 2 (value 4) is a change, bit 3 (8) one that breaks programs; functions may be added.
    report=$(abidiff --headers-dir2 include/neoprene --drop-private-types --no-added-syms "$released" "$shared") || {
        printf '%s\n' "$report"
        echo "abi: not as in $released: programs linked with it would break (docs/abi.md)"
        exit 1
    }
    compared=$((compared + 1))
done
[ $compared -gt 0 ] || { echo "abi: not compared: no library for $target has been released"; exit 0; }
echo "abi: as in $compared released libraries"
