#!/bin/sh
# Prints the path of a libpthreadpool.so.0 that this machine can load, or nothing.
#   tests/bench/peer-pool.sh FOLDER
# Debian's package cannot be installed for two architectures at once, and on an x86 development
# machine the arm64 one has the place: then it is unpacked into FOLDER, without being installed.
set -u
folder=$1
library=$folder/libpthreadpool.so.0
arch=$(dpkg --print-architecture 2>/dev/null) || exit 0
for file in /usr/lib/"$(uname -m)"-linux-gnu/libpthreadpool.so.0 "$library"; do
    [ -e "$file" ] && echo "$file" && exit 0
done
mkdir -p "$folder" && cd "$folder" || exit 0
apt-get download -qq "libpthreadpool0:$arch" >/dev/null 2>&1 || exit 0
dpkg -x libpthreadpool0_*.deb unpacked && cp unpacked/usr/lib/*/libpthreadpool.so.0 . && echo "$PWD/libpthreadpool.so.0"
