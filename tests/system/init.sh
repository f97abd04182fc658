#!/bin/busybox sh
# What a machine of tests/system/run.sh starts with: it runs /neoprene/programs and turns itself off.
/bin/busybox mkdir -p /proc /sys /dev /tmp /usr/bin /sbin /etc
/bin/busybox --install -s /bin
export PATH=/bin:/sbin HOME=/tmp
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm
mount -t tmpfs none /dev/shm
mount -t tmpfs none /tmp
mount -t cgroup2 none /sys/fs/cgroup
ln -sf /proc/self/fd /dev/fd
cd /neoprene || exit 1
page=$(($(awk '/^KernelPageSize/ {print $2; exit}' /proc/self/smaps)))
echo "  pages of $page KiB, cores $(cat /sys/devices/system/cpu/online), nodes $(cat /sys/devices/system/node/online)," \
    "capacities $(cat /sys/devices/system/cpu/cpu*/cpu_capacity 2>/dev/null | tr '\n' ' ')"
NEOPRENE_SHORT=1 JOBS=4 EMULATOR= tests/run.sh $(cat programs)
poweroff -f
