# threads: single
# What `idlewise record` counts is what the kernel counts: on virtio whose queue is full at times, on SCSI that gives commands
# back and does them in parts, with a scheduler and without, on a disk with zones, below dm and md, beside a second
# recorder. And what it says where it cannot record. The counts are those of the recording's own tail, held against
# /sys/block/DISK/stat by this script. The disk vda comes from outside: scripts/kernel/record.sh. Each recording switches tracing on and
# off, which changes the kernel's code: processors of QEMU before 8.1 that run at once can stop there (docs/kernel.md, A storm).
#
# disks: sda a SCSI disk of 64 MiB with two partitions, vda virtio of 256 MiB, nullone and nullzoned memory.
null_folder=/sys/kernel/config/nullb

# What stat has of these disks, a line each: reads, merged, sectors; writes; discards; flushes.
stats() { for disk; do awk '{print $1, $2, $3, $5, $6, $7, $12, $13, $14, $16}' "/sys/block/$disk/stat"; done; }

# The same of the tail of a recording; and another of its numbers.
counts() {
    zcat "$1" | strings | awk '/^\[disks.counts\]/ {disk++}
        disk && NF == 3 && /^(reads|writes|discards)(_merged)? = |^(read|write|discard)_sectors = |^flushes = / {
            row[disk] = row[disk] (row[disk] == "" ? "" : " ") $3
        }
        END {for (i = 1; i <= disk; i++) print row[i]}'
}
told() { zcat "$1" | strings | sed -n "s/^$2 = //p" | tail -n 1; }

# begin NAME DEV…: records these disks, from when this returns.
begin() {
    name=$1
    shift
    idlewise record "$@" --output "/tmp/$name.rec.gz" --force >"/tmp/$name.out" 2>&1 &
    recorder=$!
    tries=0
    until grep -qs '^recording' "/tmp/$name.out" || [ $tries = 100 ]; do tries=$((tries + 1)); sleep 0.1; done
    grep -q '^recording' "/tmp/$name.out" || bad "$name: $(cat "/tmp/$name.out")"
}
# end [SIGNAL]: stops the recorder. Its exit status is in `status`.
end() {
    sync
    sleep 0.2
    kill "-${1:-INT}" "$recorder"
    status=0
    wait "$recorder" || status=$?
}
# agrees NAME DISK…: the recording counts what the kernel does of each disk since /tmp/before was written; nothing was
# lost; and as a trace it has no request that the disk never did.
agrees() {
    name=$1 recording=/tmp/$1.rec.gz
    shift
    stats "$@" >/tmp/after
    paste -d ' ' /tmp/before /tmp/after |
        awk '{for (i = 1; i <= 10; i++) printf "%d%s", $(i + 10) - $i, i < 10 ? " " : "\n"}' >/tmp/kernel
    counts "$recording" >/tmp/own
    idlewise trace info --json "$recording" >/tmp/info 2>&1
    bytes=$(sed -n 's/^  "bytes": \([0-9]*\).*/\1/p' /tmp/info)
    phantoms=$(sed -n 's/.*"without_completion": \([0-9]*\).*/\1/p' /tmp/info)
    want=$(awk '{sum += $3 + $6 + $9} END {printf "%d", sum * 512}' /tmp/kernel)
    if [ "$status" != 0 ]; then bad "$name: exit status $status: $(cat "/tmp/$name.out")"
    elif [ "$(told "$recording" lost)" != 0 ]; then bad "$name: $(told "$recording" lost) events are lost"
    elif ! cmp -s /tmp/kernel /tmp/own; then bad "$name: the kernel counts $(cat /tmp/kernel), the recording $(cat /tmp/own)"
    elif [ "$bytes" != "$want" ] || [ "$phantoms" != 0 ]; then
        bad "$name: the trace has $bytes bytes, not $want, and $phantoms requests without end"
    else good "$name: $(tr '\n' ';' </tmp/kernel) requeues $(told "$recording" requeues)"; fi
}
# requeued NAME: the driver gave requests back, so that the test means something.
requeued() { [ "$(told "/tmp/$1.rec.gz" requeues)" -gt 10 ] || bad "$1: $(told "/tmp/$1.rec.gz" requeues) requests were given back"; }
# refused STATUS WORDS ARGUMENT…: the program ends with this status and says this.
refused() {
    want=$1 words=$2
    shift 2
    status=0
    idlewise record "$@" >/tmp/out 2>&1 || status=$?
    [ "$status" = "$want" ] && grep -q "$words" /tmp/out && good "exit $status: $(tail -n 1 /tmp/out)" ||
        bad "record $*: exit $status, not $want with '$words': $(cat /tmp/out)"
}
# direct DISK OPTION…: requests of many segments, many at a time.
direct() {
    disk=$1
    shift
    fio --output=/tmp/fio --name=load --filename="/dev/$disk" --ioengine=libaio --direct=1 --iodepth=32 --bs=4k-64k \
        --rw=randrw --size=48m --number_ios=1200 "$@" >/tmp/fio.out 2>&1 || bad "fio on $disk: $(cat /tmp/fio.out)"
}

[ -b /dev/vda ] || { bad "there is no disk vda: scripts/kernel/record.sh gives one"; finish; }
insmod /modules/null_blk.ko nr_devices=0
scsi_device ndelay=20000 max_queue=16 num_parts=2 lbpu=1

# tracefs is not mounted: the program uses a mount of its own.
refused 2 'there is no such device' nonesuch
refused 2 'not a block device' /dev/null
mkdir -p /etc
echo 'nobody:x:65534:65534::/tmp:/bin/sh' >/etc/passwd
chmod 1777 /tmp
status=0
su -s /bin/sh -c 'idlewise record sda --output /tmp/nobody.rec.gz' nobody >/tmp/out 2>&1 || status=$?
[ "$status" = 2 ] && grep -q sudo /tmp/out && [ ! -e /tmp/nobody.rec.gz ] && good "exit 2: $(cat /tmp/out)" ||
    bad "nobody may record: exit $status: $(cat /tmp/out)"

# Root that may not mount; a kernel that has tracing and no block tracepoints.
status=0
/bin/setpriv --bounding-set=-sys_admin idlewise record sda --output /tmp/less.rec.gz >/tmp/out 2>&1 || status=$?
[ "$status" = 2 ] && grep -q 'root has less here' /tmp/out && [ ! -e /tmp/less.rec.gz ] && good "exit 2: $(cat /tmp/out)" ||
    bad "root without CAP_SYS_ADMIN may record: exit $status: $(cat /tmp/out)"
mount -t tmpfs none /sys/kernel/tracing
mkdir /sys/kernel/tracing/events
refused 1 'no block tracepoints' sda --output /tmp/less.rec.gz
umount /sys/kernel/tracing

# virtio: a request takes a place in the ring for each of its segments, so that the ring is full before the tags are.
virtio() {
    set_queue vda scheduler "$1"
    stats vda >/tmp/before
    begin "virtio-$1" vda
    mkfs.ext4 -q -F -E lazy_itable_init=0 /dev/vda >/tmp/mkfs 2>&1 || bad "mkfs.ext4: $(cat /tmp/mkfs)"
    mount -t ext4 -o discard /dev/vda /mnt || bad "no ext4"
    fio --output=/tmp/fio --thread --directory=/mnt --size=16m --bs=4k-64k --rw=randrw --number_ios=400 \
        --name=buffered --ioengine=psync --fsync=16 --name=direct --ioengine=libaio --direct=1 --iodepth=32 \
        >/tmp/fio.out 2>&1 || bad "fio on ext4: $(cat /tmp/fio.out)"
    rm /mnt/*.0
    sync
    umount /mnt
    direct vda
    end
    agrees "virtio-$1" vda
    requeued "virtio-$1"
}
virtio none
virtio mq-deadline

# SCSI that is busy, asks to be tried again, or does half: every seventh command.
scsi() {
    set_queue sda scheduler "$3"
    stats sda >/tmp/before
    begin "scsi-$1-$3" sda
    echo "$2" >/sys/bus/pseudo/drivers/scsi_debug/opts
    echo 7 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
    direct sda --fsync=100
    echo 0 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
    echo 0 >/sys/bus/pseudo/drivers/scsi_debug/opts
    blkdiscard -o 4194304 -l 8388608 /dev/sda || bad "no discard"
    end
    agrees "scsi-$1-$3" sda
}
scsi busy 0x8000 none && requeued scsi-busy-none
scsi busy 0x8000 mq-deadline && requeued scsi-busy-mq-deadline
scsi again 0x10 mq-deadline && requeued scsi-again-mq-deadline
scsi half 0x100 none

# What is named is not what takes the requests.
both() {
    end
    agrees "$name" vda sda
    grep -q "^note: $1" "/tmp/$name.out" || bad "$name: $(cat "/tmp/$name.out")"
}
stats sda >/tmp/before
begin partition sda2
direct sda2 --size=24m
direct sda1 --size=24m --number_ios=100
end
agrees partition sda
grep -q 'sda2 is a partition: its disk sda is recorded' /tmp/partition.out || bad "a partition: $(cat /tmp/partition.out)"

printf '0 65536 linear /dev/sda 2048\n65536 65536 linear /dev/vda 0\n' | dmsetup create --noudevsync --noudevrules both ||
    bad "no dm device"
stats vda sda >/tmp/before
begin dm /dev/dm-0
direct dm-0
both 'dm-0 is made of vda, sda: recorded instead'
dmsetup remove --noudevsync --noudevrules both

echo md_both >/sys/module/md_mod/parameters/new_array
cd /sys/block/md_both/md || bad "no md device"
echo raid0 >level
echo 2 >raid_disks
echo 65536 >chunk_size
for member in sda vda; do cat "/sys/block/$member/dev" >new_dev; done
for member in sda vda; do
    echo 32768 >"dev-$member/size"
    [ $member = sda ] && echo 0 >"dev-$member/slot" || echo 1 >"dev-$member/slot"
done
echo active >array_state || bad "no md device: $(cat array_state)"
cd /
stats vda sda >/tmp/before
begin md md_both
direct md_both
both 'md_both is made of vda, sda: recorded instead'
echo clear >/sys/block/md_both/md/array_state

# Zones: written one after the other, and reset.
mkdir $null_folder/nullzoned
for setting in size=64 memory_backed=1 zoned=1 zone_size=4 max_sectors=128 power=1; do
    echo "${setting#*=}" >"$null_folder/nullzoned/${setting%=*}" || bad "nullzoned takes no $setting"
done
set_queue nullzoned scheduler mq-deadline
stats nullzoned >/tmp/before
begin zoned nullzoned
direct nullzoned --rw=write --zonemode=zbd --max_open_zones=2 --iodepth=1
direct nullzoned --rw=randread --zonemode=zbd --number_ios=200
blkzone reset /dev/nullzoned || bad "no reset of zones"
end
agrees zoned nullzoned

# Two recorders at a time.
null_device nullone 2
stats nullone >/tmp/before
begin first nullone
first=$recorder
begin second nullone
fio --output=/tmp/fio --name=load --filename=/dev/nullone --ioengine=libaio --direct=1 --iodepth=32 --bs=4k --rw=randrw --size=24m \
    --numjobs=2 --offset_increment=24m --number_ios=8000 >/tmp/fio.out 2>&1 || bad "fio on nullone"
end
agrees second nullone
recorder=$first
end TERM
agrees first nullone

# One that was killed leaves its buffer, and the next removes it. One that could not read in time says what it lost.
mount -t tracefs tracefs /sys/kernel/tracing
instances() { ls /sys/kernel/tracing/instances | wc -l; }
[ "$(instances)" = 0 ] || bad "recorders leave $(ls /sys/kernel/tracing/instances)"
begin twice nullone
kill -INT "$recorder"
kill -TERM "$recorder"
wait "$recorder" || bad "a recorder that is stopped twice: $(cat /tmp/twice.out)"
[ "$(instances)" = 0 ] || bad "a recorder that is stopped twice leaves $(ls /sys/kernel/tracing/instances)"
begin killed nullone
kill -KILL "$recorder"
wait "$recorder"
[ "$(instances)" = 1 ] || bad "a killed recorder has $(instances) buffers"
begin stopped nullone
kill -STOP "$recorder"
for buffer in /sys/kernel/tracing/instances/*; do echo 512 >"$buffer/buffer_size_kb"; done
fio --output=/tmp/fio --name=load --filename=/dev/nullone --ioengine=libaio --direct=1 --iodepth=32 --bs=512 --rw=randread --size=60m \
    --number_ios=15000 --gtod_reduce=1 >/tmp/fio.out 2>&1 || bad "fio on nullone"
[ "$(instances)" = 1 ] || bad "the buffer of a killed recorder stays"
kill -CONT "$recorder"
end
lost=$(told /tmp/stopped.rec.gz lost)
[ "$status" = 0 ] && [ "$lost" -gt 0 ] && grep -q "$(echo "$lost" | sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta') lost" /tmp/stopped.out &&
    good "a recorder that was stopped: $(grep lost /tmp/stopped.out)" || bad "a stopped recorder, exit $status: $(cat /tmp/stopped.out)"
idlewise trace info /tmp/stopped.rec.gz 2>&1 | grep -q 'the recorder lost' || bad "trace info does not say what was lost"

# A device that takes no requests, and a file system that is full.
refused 2 'takes no requests' zram0
refused 2 'the file is there' nullone --output /tmp/first.rec.gz
mkdir /tmp/small
mount -t tmpfs -o size=64k small /tmp/small
# One request at a time and a pause after each: null_blk completes at once, and who submits without pause leaves an emulated
# processor to nobody.
fio --output=/tmp/fio --name=load --filename=/dev/nullone --ioengine=psync --direct=1 --bs=4k --rw=randread --size=60m \
    --thinktime=1ms --time_based --runtime=120 >/tmp/fio.out 2>&1 &
load=$!
refused 1 'No space left on device' nullone --for 100s --output /tmp/small/full.rec.gz
kept=$(sed -n 's/.*holds the \([0-9]*\) events.*/\1/p' /tmp/out)
idlewise trace info --json /tmp/small/full.rec.gz >/tmp/out 2>&1 && grep -q "\"rows\": $kept,*$" /tmp/out ||
    bad "the file on a full disk holds not $kept events: $(grep rows /tmp/out)"
kill $load
wait $load
[ "$(instances)" = 0 ] || bad "recorders leave $(ls /sys/kernel/tracing/instances)"
clean_log record

# A disk that goes away: alone, and beside one that stays.
stats nullone >/tmp/before
begin one-stays sda nullone
one=$recorder
begin gone sda
direct nullone --number_ios=200
direct sda --number_ios=50
echo 1 >/sys/block/sda/device/delete
status=0
wait "$recorder" || status=$?
[ "$status" = 1 ] && grep -q 'sda is gone' /tmp/gone.out && idlewise trace info /tmp/gone.rec.gz >/tmp/out 2>&1 &&
    good "exit 1: $(tail -n 1 /tmp/gone.out)" || bad "a disk that goes away, exit $status: $(cat /tmp/gone.out /tmp/out)"
recorder=$one
end
[ "$status" = 0 ] && grep -q 'sda.*the disk is gone' /tmp/one-stays.out && good "$(grep '^sda' /tmp/one-stays.out)" ||
    bad "one of two disks goes away, exit $status: $(cat /tmp/one-stays.out)"

# A kernel that is locked down, until it is booted again.
mount -t securityfs security /sys/kernel/security
echo confidentiality >/sys/kernel/security/lockdown || bad "no lockdown"
refused 1 'locked down' nullone --output /tmp/locked.rec.gz
[ ! -e /tmp/locked.rec.gz ] || bad "a recording that cannot begin leaves a file"
