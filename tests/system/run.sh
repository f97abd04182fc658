#!/bin/sh
# tests/system/run.sh OBJCOPY BUILD PROGRAM…: test programs on whole machines, which qemu-system-aarch64 plays.
#
# A machine is a kernel of Debian 13, the programs with what they are linked to, and busybox, all in memory. It has two
# NUMA nodes of two cores each, of which those of the second are half as fast (as its device tree says), and huge pages;
# one has pages of 4 KiB, the other of 16 KiB. So kinds of memory, replicas, affinity, topology, files of weights, forks
# and seccomp are what they are on a machine, and not what an emulator of programs makes of them.
set -u
cd "$(dirname "$0")/../.."
objcopy=$1 build=$2
shift 2
programs=$*
there=build/system
seconds=${SYSTEM_SECONDS:-1200} # that one machine may take
kernels=${SYSTEM_KERNELS:-arm64 arm64-16k} # which Debian has
failed=0

skip() {
    echo "  check-system: skipped: $*"
    [ -z "${COUNTS:-}" ] || echo "0 0 1" >>"$COUNTS"
    exit 0
}

.ci/install-packages qemu-system-arm cpio device-tree-compiler || skip 'packages cannot be installed'
for tool in qemu-system-aarch64 cpio fdtput; do
    command -v $tool >/dev/null || skip "there is no $tool"
done
compat/unpack.sh $there/unpacked busybox-static libc6 libgomp1 libcmocka0 libnuma1 $(printf 'linux-image-%s ' $kernels) ||
    skip "Debian 13's kernels cannot be had"

# What a machine has in memory: the tree's names are kept, since tests look for libraries and tools beside themselves.
make_root() {
    rm -rf "$there/image"
    mkdir -p "$there/image/bin" "$there/image/lib" "$there/image/neoprene/tests"
    cp "$there/unpacked/usr/bin/busybox" "$there/image/bin/"
    libraries=$there/unpacked/usr/lib/aarch64-linux-gnu
    for name in libc.so.6 libm.so.6 libgcc_s.so.1 libgomp.so.1 libcmocka.so.0 libnuma.so.1 ld-linux-aarch64.so.1; do
        cp -L "$libraries/$name" "$there/image/lib/" || exit 1
    done
    cp tests/run.sh "$there/image/neoprene/tests/"
    cp tests/system/init.sh "$there/image/init"
    for file in $programs "$build"/libneoprene.so.*.* "$build/tools/neoprene-weights"; do
        mkdir -p "$there/image/neoprene/$(dirname "$file")"
        "$objcopy" --strip-debug "$file" "$there/image/neoprene/$file" || exit 1
    done
    printf '%s\n' $programs >"$there/image/neoprene/programs"
    (cd "$there/image" && find . | cpio --quiet -o -H newc) >"$there/image.cpio"
}

machine() { # further options: this is one machine, whatever runs on it
    timeout "$seconds" qemu-system-aarch64 -cpu max,pauth-impdef=on -smp 4,sockets=1,clusters=2,cores=2,threads=1 -m 2G -nic none \
        -object memory-backend-ram,id=near,size=1G -numa node,nodeid=0,cpus=0-1,memdev=near \
        -object memory-backend-ram,id=far,size=1G -numa node,nodeid=1,cpus=2-3,memdev=far -numa dist,src=0,dst=1,val=20 \
        -accel tcg,thread=multi -nographic -no-reboot "$@"
}

# Capacities are not qemu's to give; the description of the machine that the kernel reads has them.
describe_cores() {
    machine -machine virt,dumpdtb="$there/machine.dtb" >"$there/log" 2>&1 || { cat "$there/log"; return 1; }
    for core in 0 1; do
        fdtput -t i "$there/machine.dtb" /cpus/cpu@$core capacity-dmips-mhz 1024
        fdtput -t i "$there/machine.dtb" /cpus/cpu@$((core + 2)) capacity-dmips-mhz 512
    done
}

run_machine() { # KERNEL: the last line that the machine prints counts all tests
    image=$(ls "$there"/unpacked/boot/vmlinuz-*-"$1")
    echo "  a machine with $(basename "$image")"
    machine -machine virt -dtb "$there/machine.dtb" -kernel "$image" -initrd "$there/image.cpio" \
        -append 'console=ttyAMA0 quiet panic=-1 hugepagesz=2M hugepages=32' </dev/null 2>&1 | sed -u 's/\r$//' | tee "$there/log-$1"
}

make_root
describe_cores || exit 1
for kernel in $kernels; do
    run_machine "$kernel"
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$there/log-$kernel" | tail -n 1)
    [ -n "$counts" ] || echo "  the machine ended without a count"
    : "${counts:=0 1 0}"
    [ -z "${COUNTS:-}" ] || echo "$counts" >>"$COUNTS"
    set -- $counts
    [ "$2" -eq 0 ] || failed=1
done
exit $failed
