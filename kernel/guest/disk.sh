# machine: exact
# The disk that is a model: data comes back, commands take the model's time, wrong names are told.
. /tests/parts.sh

# measure DEVICE OPTION…: reads for 2 s by one process; sets iops, kb_s and latency_us.
measure() {
    device=$1
    shift
    fio --minimal --name=m --filename="/dev/$device" --direct=1 --ioengine=psync --bs=4k --time_based --runtime=2 \
        --randrepeat=1 --norandommap "$@" 2>/dev/null | tail -n 1 >/tmp/terse
    kb_s=$(cut -d ';' -f 7 /tmp/terse) iops=$(cut -d ';' -f 8 /tmp/terse)
    latency_us=$(cut -d ';' -f 40 /tmp/terse | cut -d . -f 1)
}

between() { # WHAT VALUE LOW HIGH
    if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then good "$1: $2"; else bad "$1: $2, not $3 to $4"; fi
}

insmod /modules/idlewise-disk.ko disks="floppy" 2>/dev/null && bad "there is a floppy"
dmesg | grep -q 'no disk profile is called floppy; there are cheetah9lp' || bad "a wrong name is not told"
insmod /modules/idlewise-disk.ko disks="fixed:depth=0" 2>/dev/null && bad "a depth of 0 is taken"
dmesg | grep -q 'depth takes 1 to 65536' || bad "a wrong option is not told"
insmod /modules/idlewise-disk.ko disks="" 2>/dev/null && bad "no disk is a disk"
dmesg | grep -q 'disks= names no disk' || bad "it is not told that no disk is named"
insmod /modules/idlewise-disk.ko slower=0 2>/dev/null && bad "disks take no time at all"
dmesg | grep -q 'slower= takes 1 to 1000' || bad "a wrong factor is not told"

insmod /modules/idlewise-disk.ko disks="deskstar-34gxp;fixed:latency=5000;nvme-ssd:depth=8;deskstar-34gxp:cache=off" ||
    bad "the disks cannot be had"
insmod /modules/idlewise.ko || bad "the schedulers cannot be had"
for device in iwdisk0 iwdisk1 iwdisk2 iwdisk3; do
    say "$device: $(cat /sys/block/$device/model/profile), $(cat /sys/block/$device/size) sectors, rotational $(queue $device rotational), $(queue $device write_cache), nr_requests $(queue $device nr_requests)"
done
[ "$(queue iwdisk0 rotational)$(queue iwdisk2 rotational)" = 10 ] || bad "which disks turn is wrong"
[ "$(queue iwdisk0 write_cache)" = "write back" ] || bad "iwdisk0 has no write cache"

# Data, under each elevator on a disk that turns; the other two under one.
devices=iwdisk0
job "a disk under none"
for elevator in $(elevators iwdisk0); do
    set_queue iwdisk0 scheduler "$elevator" || bad "iwdisk0 does not take $elevator"
    job "a disk under $elevator" && balanced "a disk under $elevator" any
done
good "data verified on iwdisk0 under $(elevators iwdisk0 | wc -w) elevators"
devices="iwdisk2 iwdisk3"
for device in $devices; do set_queue $device scheduler cas || bad "$device does not take cas"; done
job "other disks under cas" && balanced "other disks under cas"
good "data verified on: $devices"
# left: bytes of the first 64 KiB that are not zero.
left() { dd if=/dev/iwdisk1 bs=64k count=1 iflag=direct 2>/dev/null | tr -d '\000' | wc -c; }
tr '\000' x </dev/zero | dd of=/dev/iwdisk1 bs=64k count=1 iflag=fullblock oflag=direct 2>/dev/null
[ "$(left)" = 65536 ] || bad "of what was written $(left) bytes are there"
blkdiscard -o 4608 -l 56320 /dev/iwdisk1 || bad "the disk does not discard"
[ "$(left)" = 9216 ] && good "what is discarded reads as zeroes" || bad "after discarding $(left) bytes are left, not 9216"

# A terabyte, most of which was never written to.
begun=$(seconds)
blkdiscard /dev/iwdisk2 || bad "a large disk does not discard"
between "seconds to discard a large disk" $(($(seconds) - begun)) 0 5

# Time. A command of 5 ms takes that and what the processor adds.
set_queue iwdisk1 scheduler none
measure iwdisk1 --rw=randread
between "5 ms, us" "$latency_us" 5000 5100
between "5 ms, a second" "$iops" 190 200
for device in iwdisk0 iwdisk3; do
    set_queue $device scheduler noop
    measure $device --rw=read --bs=64k
    say "$device reads in sequence: $kb_s KB/s"
    before="$(cat /sys/block/$device/model/commands) $(cat /sys/block/$device/model/seek_ns) $(cat /sys/block/$device/model/rotation_ns)"
    measure $device --rw=randread
    set -- $before
    commands=$(($(cat /sys/block/$device/model/commands) - $1))
    seek=$((($(cat /sys/block/$device/model/seek_ns) - $2) / commands / 1000))
    rotation=$((($(cat /sys/block/$device/model/rotation_ns) - $3) / commands / 1000))
    say "$device reads at random: $latency_us us, of which seek $seek, rotation $rotation"
    # Half a revolution at 7200 a minute is 4167 us.
    between "rotation, us" "$rotation" 3700 4600
    between "seek, us" "$seek" 8000 11000
done

# In use it stays; then it goes.
mkdir -p /mnt
exec 9</dev/iwdisk0
rmmod idlewise_disk 2>/dev/null && bad "the disks went away while used"
exec 9<&-
for device in iwdisk0 iwdisk1 iwdisk2 iwdisk3; do set_queue $device scheduler none; done
number=0
while [ $number -lt 5 ]; do
    rmmod idlewise_disk || bad "unloading, time $number"
    insmod /modules/idlewise-disk.ko disks="deskstar-34gxp;sata-ssd" || bad "loading, time $number"
    devices="iwdisk0 iwdisk1"
    job "after loading" --size=64k
    number=$((number + 1))
done
good "$number times unloaded and loaded"

rmmod idlewise_disk
insmod /modules/idlewise-disk.ko disks=fixed:latency=5000 slower=4 || bad "a slower disk cannot be had"
measure iwdisk0 --rw=randread
between "5 ms, four times as slow, us" "$latency_us" 20000 20100
clean_log disk
