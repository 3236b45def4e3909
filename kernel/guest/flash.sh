# machine: exact
# What elevators do where nothing turns: null_blk, which completes at once, or modelled flash disks, in virtual time in
# which each instruction takes a nanosecond; beside disks that are `slower` times as slow, the `slower`th part of one.
# `disks`, `loads` and `only` name disks, loads and elevators (all of them unless named), `ms` says how long each load
# runs. A line for each:
#
#   result: DISK LOAD ELEVATOR REQUESTS_A_SECOND P99_NS
insmod /modules/idlewise.ko || bad "the module does not load"

# load NAME: fio's options. The last two were held out: no change was made for what they show.
load() {
    case $1 in
        random) echo --bs=4k --rw=randread --iodepth=32 ;;
        batches) echo --bs=4k --rw=randread --iodepth=32 --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 ;;
        readers) echo --bs=4k --rw=read --numjobs=4 --offset_increment=200m ;;
        writers) echo --bs=4k --rw=write --numjobs=4 --offset_increment=200m ;;
        writes) echo --bs=4k --rw=randwrite --iodepth=32 ;;
        mixed) echo --bs=4k --rw=randrw --rwmixread=70 --iodepth=8 --numjobs=4 ;;
        blocks) echo --bs=64k --rw=randread --iodepth=4 --numjobs=4 ;;
    esac
}
# measure DEVICE LOAD: requests a second, and the 99th percentile of their latency: of reads, if it reads.
measure() {
    fio --minimal --name=load --filename="/dev/$1" --ioengine=libaio --direct=1 --norandommap --time_based \
        --runtime="$(argument ms)ms" --size=200m --group_reporting $(load "$2") >/tmp/fio 2>/dev/null
    awk -F ';' '{
        for (field = 1; field <= NF; field++) if ($field ~ /^99.000000%=/) { sub(/.*=/, "", $field); late[++n] = $field }
        print $8 + $49, ($8 > 0 ? late[1] : late[2]) * 1000
    }' /tmp/fio
}
# Each elevator has the disk as it is when new: what flash has to collect hangs on what was written.
new_disk() {
    case $1 in
        null) device=nullb0 && insmod /modules/null_blk.ko nr_devices=1 submit_queues=1 queue_mode=2 irqmode=0 gb=1 hw_queue_depth=64 ;;
        *) device=iwdisk0 && insmod /modules/idlewise-disk.ko disks="$1" slower="$(argument slower)" ;;
    esac || bad "the disk $1 cannot be had"
}
drop_disk() {
    set_queue $device scheduler none
    rmmod null_blk 2>/dev/null || rmmod idlewise_disk || bad "$device stays"
}

for disk in $(argument disks | tr ';' ' '); do
    names=$(argument only | tr , ' ')
    if [ -z "$names" ]; then
        new_disk "$disk"
        names=$(elevators $device)
        drop_disk
    fi
    for name in none mq-deadline kyber bfq $names; do
        new_disk "$disk"
        set_queue $device scheduler "$name" || bad "$device does not take $name"
        for load in $(argument loads | tr , ' '); do
            echo "result: $disk $load $name $(measure $device "$load")"
        done
        drop_disk
    done
done
clean_log flash
