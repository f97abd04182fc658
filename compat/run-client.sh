#!/bin/sh
# Runs a program of the unpacked packages: directly where they are for this machine, elsewhere by the emulator.
#   compat/run-client.sh ROOT PROGRAM [ARGUMENT…]       PROGRAM: usr/bin/python3 of ROOT, or a path
#   FRONT=DIRECTORY   libraries that are found before ROOT's;  PRELOAD=FILE   a library loaded before all
#   PLUGIN=FILE[,OPTION…]   one of the emulator's
#   EMULATED_CPU=neoverse-n1   not max: programs there take 512-bit SVE, and measure something else
set -eu
root=$(cd "$1" && pwd)
program=$2
shift 2
[ -x "$program" ] || program=$root/$program
[ -x "$program" ] || {
    echo "run-client: there is no $program; 'make clients' unpacks it" >&2
    exit 1
}
lib=$(echo "$root"/usr/lib/*-linux-gnu)
path=${FRONT:+$FRONT:}$lib:$root/usr/lib:$lib/openblas-pthread
export PYTHONHOME="$root/usr" PYTHONPATH="$root/usr/lib/python3/dist-packages" PYTHONNOUSERSITE=1 PYTHONDONTWRITEBYTECODE=

if [ "${lib##*/}" = "$(uname -m)-linux-gnu" ]; then
    exec "$(echo "$lib"/ld-linux-*.so.?)" --library-path "$path" ${PRELOAD:+--preload "$PRELOAD"} "$program" "$@"
fi
emulator=${QEMU:-qemu-aarch64}
command -v "$emulator" >/dev/null || {
    echo "run-client: $emulator is missing: install qemu-user" >&2
    exit 1
}
exec "$emulator" -L "$root" -cpu "${EMULATED_CPU:-neoverse-n1}" ${PLUGIN:+-plugin "$PLUGIN"} -E LD_LIBRARY_PATH="$path" \
    ${PRELOAD:+-E LD_PRELOAD="$PRELOAD"} "$program" "$@"
