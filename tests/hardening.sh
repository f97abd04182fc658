#!/bin/sh
# tests/hardening.sh READELF NM SHARED ARCHIVE [1]: what protects a program that loads the library is there.
set -u
# 1: also BTI and PAC, on AArch64.
readelf=$1 nm=$2 shared=$3 archive=$4 branches=${5:-}
failed=0
expect() { # what, 0 or 1 for yes
    [ "$2" = 0 ] || { echo "hardening: $shared: $1"; failed=1; }
}
has() {
    printf '%s\n' "$1" | grep -qE "$2"
}
segments=$("$readelf" -lW "$shared") dynamic=$("$readelf" -dW "$shared")
notes=$("$readelf" -nW "$shared") wanted=$("$nm" -D --undefined-only "$shared")
has "$segments" 'GNU_RELRO'; expect 'its tables of addresses stay writable (no RELRO)' $?
has "$dynamic" 'BIND_NOW|FLAGS.* NOW'; expect 'addresses are bound late, so RELRO is partial' $?
has "$segments" 'GNU_STACK.* RW '; expect 'its stack is executable' $?
has "$dynamic" 'TEXTREL' && expect 'it has relocations of code' 1
has "$wanted" '__stack_chk_fail'; expect 'no function checks its stack' $?
has "$wanted" '__[a-z]+_chk(@|$)'; expect 'no call of the C library is fortified' $?
has "$wanted" ' getenv(@|$)' && expect 'it believes the environment of set-uid programs (getenv)' 1
if [ "$branches" = 1 ] && has "$("$readelf" -h "$shared")" 'AArch64'; then
    has "$notes" 'BTI'; expect 'an object accepts branches to anywhere (no BTI)' $?
    has "$notes" 'PAC'; expect 'an object does not sign return addresses (no PAC)' $?
    bare=$("$readelf" -nW "$archive" | grep -c 'BTI, PAC')
    [ "$bare" -ge 1 ]; expect 'the static library has no BTI and PAC' $?
fi
[ $failed = 0 ] && echo 'hardening: full RELRO, no executable stack, stack protector, fortified calls, secure_getenv'
exit $failed
