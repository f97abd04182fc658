#!/bin/sh
# tests/musl.sh ROOT: makes musl for arm64 in ROOT, and ROOT/musl-gcc.specs, with which a cross compiler uses it: those of
# this machine's own musl-gcc, for the other processor and for where the packages were unpacked. Says so where that cannot be.
set -u
cd "$(dirname "$0")/.."
own=$(ls /usr/lib/*-linux-musl/musl-gcc.specs 2>/dev/null | head -n 1)
[ -n "$own" ] || { echo 'musl: skipped: there is no musl-gcc (musl-tools)'; exit 1; }
compat/unpack.sh "$1" musl-dev || { echo "musl: skipped: Debian's packages for arm64 cannot be had"; exit 1; }
machine=$(basename "$(dirname "$own")" -linux-musl)
sed -e "s|$machine|aarch64|g" -e "s|/usr/|$(pwd)/$1/usr/|g" "$own" >"$1/musl-gcc.specs"
