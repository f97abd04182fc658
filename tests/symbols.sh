#!/bin/sh
# tests/symbols.sh NM STATIC SHARED: only neo_* may be visible outside either library.
set -u
nm=$1 static=$2 shared=$3
foreign=$( ("$nm" -g --defined-only "$static"; "$nm" -D --defined-only "$shared") 2>/dev/null |
    awk 'NF == 3 && $3 !~ /^neo_/ && $3 !~ /^(__asan|__odr_asan|__tsan|__ubsan)/ {print $3}' | sort -u)
[ -z "$foreign" ] && echo 'symbols: only neo_* leaves the libraries' && exit 0
echo "symbols that are not neo_*: $foreign"
exit 1
