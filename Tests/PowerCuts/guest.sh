#!/bin/sh
# Process 1 of a User Mode Linux whose root is the host's, read-only. It runs each job of $POWERCUT/jobs on a disk of its own,
# whose writes dm-log-writes records, and halts.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs run /run
mkdir -p "$POWERCUT"
mount -t hostfs -o "$POWERCUT" host "$POWERCUT"
exec > "$POWERCUT/guest.log" 2>&1 < /dev/null
ip link set lo up
modules=/usr/lib/uml/modules/$(uname -r)/kernel/drivers
for module in dax/dax md/dm-mod md/dm-log-writes; do  # dax is a part of some kernels
    test ! -e "$modules/$module.ko" || insmod "$modules/$module.ko"
done

# Says in the log of writes what has been acknowledged.
mark() { dmsetup message cut 0 mark "$1"; }

for job in "$POWERCUT"/jobs/*; do
    # The job says: disk, log (devices), type, options (of the file system).
    test -e "$job/names" && continue  # has been run
    . "$job/disk"
    dmsetup create cut --table "0 $(blockdev --getsz "$disk") log-writes $disk $log"
    dmsetup mknodes
    mount -t "$type" -o "$options" /dev/mapper/cut "$POWERCUT/disk" || continue
    mount -t tmpfs -o mode=700 tmp "$POWERCUT/tmp"
    . "$job/steps"
    umount "$POWERCUT/tmp" "$POWERCUT/disk"
    dmsetup remove cut
done
sync
echo o > /proc/sysrq-trigger
sleep 60
