#!/bin/sh
# tests/hardening.sh READELF NM OBJDUMP SHARED ARCHIVE [1]: what protects a program that loads the library is there.
set -u
# 1: PAC everywhere, too.
readelf=$1 nm=$2 objdump=$3 shared=$4 archive=$5 everywhere=${6:-}
failed=0
expect() { # what, 0 or 1 for yes
    [ "$2" = 0 ] || { echo "hardening: $shared: $1"; failed=1; }
}
has() {
    printf '%s\n' "$1" | grep -qE "$2"
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
    for name in neo_weights_file_provider_create neo_weights_file_list neo_threadpool_create; do
        has "$("$objdump" -d --disassemble=$name "$shared")" 'paciasp|pacibsp'
        expect "$name does not sign its return address (no PAC)" $?
    done
    # The static library is all objects in one, and says what all of them have. The shared one says it too where the
    # compiler's own start files do, which are not ours.
    properties=$("$readelf" -nW "$archive")
    has "$properties" 'BTI'; expect 'an object does not say where calls by address may go (no BTI)' $?
    [ "$everywhere" != 1 ] || has "$properties" 'BTI, PAC'; expect 'an object does not sign return addresses (no PAC)' $?
fi
[ $failed = 0 ] && echo 'hardening: full RELRO, no executable stack, stack protector, fortified calls, secure_getenv'"$arm"
exit $failed
