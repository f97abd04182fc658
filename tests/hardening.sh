#!/bin/sh
# tests/hardening.sh READELF NM OBJDUMP SHARED ARCHIVE [OBJECT…]: what protects a program that loads the library is there.
# Functions of these objects need not sign their return addresses.
set -u
readelf=$1 nm=$2 objdump=$3 shared=$4 archive=$5
shift 5
failed=0
expect() { # what, 0 or 1 for yes
    [ "$2" = 0 ] || { echo "hardening: $shared: $1"; failed=1; }
}
has() {
    printf '%s\n' "$1" | grep -qE "$2"
}
# Functions of the library that save their return address and do not sign it; the compiler's own start files are not ours.
unsigned_functions() {
    { "$nm" --defined-only "$@" /dev/null 2>/dev/null | awk 'NF == 3 {print "may", $3}'
      "$objdump" -d --no-show-raw-insn "$shared"; } | awk '
        $1 == "may" {may[$2] = 1}
        /^[0-9a-f]+ </ {name = substr($2, 2, length($2) - 3); signed = 0}
        /pac[ib]asp/ {signed = 1}
        /stp\tx29, x30, \[sp/ && !signed && !(name in may) && name !~ /^_|^init_have_lse_atomics$/ {print name}' | sort -u
}
segments=$("$readelf" -lW "$shared") dynamic=$("$readelf" -dW "$shared")
wanted=$("$nm" -D --undefined-only "$shared")
has "$segments" 'GNU_RELRO'; expect 'its tables of addresses stay writable (no RELRO)' $?
has "$dynamic" 'BIND_NOW|FLAGS.* NOW'; expect 'addresses are bound late, so RELRO is partial' $?
has "$segments" 'GNU_STACK.* RW '; expect 'its stack is executable' $?
has "$dynamic" 'TEXTREL' && expect 'it has relocations of code' 1
has "$wanted" '__stack_chk_fail'; expect 'no function checks its stack' $?
has "$wanted" '__[a-z]+_chk(@|$)'; expect 'no call of the C library is fortified' $?
has "$wanted" ' getenv(@|$)' && expect 'it believes the environment of set-uid programs (getenv)' 1
arm=
if has "$("$readelf" -h "$shared")" 'AArch64'; then
    arm=', marked branches, signed return addresses'
    unsigned=$(unsigned_functions "$@")
    [ -z "$unsigned" ]; expect "return addresses are not signed (no PAC) by $(echo $unsigned)" $?
    # The static library is all objects in one, and says what all of them have. The shared one says it too where the
    # compiler's own start files do, which are not ours.
    properties=$("$readelf" -nW "$archive")
    has "$properties" 'BTI'; expect 'an object does not say where calls by address may go (no BTI)' $?
fi
[ $failed = 0 ] && echo 'hardening: full RELRO, no executable stack, stack protector, fortified calls, secure_getenv'"$arm"
exit $failed
