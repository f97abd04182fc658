#!/bin/sh
# tests/symbols.sh NM STATIC SHARED MAP: only neo_* may be visible outside either library, both have the same, the shared
# one's have the versions of the map, and it needs nothing but the C library.
set -u
nm=$1 static=$2 shared=$3 map=$4
failed=0
names() { awk 'NF == 3 && $2 != "A" && $3 !~ /^(__asan|__odr_asan|__tsan|__ubsan)/ {print $3}' | sort -u; }
fail() {
    echo "symbols: $1" && failed=1
}
of_static=$("$nm" -g --defined-only "$static" 2>/dev/null | names)
of_shared=$("$nm" -D --defined-only --with-symbol-versions "$shared" | names)
of_map=$(awk '$2 == "{" {version = $1} $1 ~ /^neo_[a-z0-9_]+;$/ {sub(";", ""); print $1 "@@" version}' "$map" | sort -u)
foreign=$(printf '%s\n%s\n' "$of_static" "$of_shared" | grep -v '^neo_')
[ -z "$foreign" ] || fail "these are not neo_*: $foreign"
missing=$(printf '%s\n' "$of_shared" | sed 's/@.*//' | sort -u | comm -3 - /dev/fd/3 3<<END
$of_static
END
)
[ -z "$missing" ] || fail "not both libraries have: $missing ($map lists what the shared one has)"
[ "$of_shared" = "$of_map" ] || fail "versions are not those of $map: $(printf '%s\n%s\n' "$of_shared" "$of_map" | sort | uniq -u)"
# Its functions have versions; those of others that a process may or may not have are weak.
needed=$("$nm" -D --undefined-only --with-symbol-versions "$shared" | grep ' U ' | grep -vE '@GLIBC|__(asan|ubsan|tsan)')
[ -z "$needed" ] || fail "it needs more than the C library: $needed"
[ $failed = 0 ] && echo "symbols: only neo_* leaves the libraries, $(printf '%s\n' "$of_map" | wc -l) functions with versions"
exit $failed
