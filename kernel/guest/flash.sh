# machine: exact
# What elevators do where nothing turns: null_blk, which completes at once, or modelled flash disks, in virtual time in
# which each instruction takes a nanosecond. `disks` and `only` name disks and elevators, `ms` says how long each load
# runs. A line for each:
#
#   result: DISK LOAD ELEVATOR REQUESTS_A_SECOND P99_NS
insmod /modules/idlewise.ko || bad "the module does not load"

# load NAME: fio's options.
load() {
    case $1 in
        random) echo --rw=randread --iodepth=32 ;;
        batches) echo --rw=randread --iodepth=32 --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 ;;
        readers) echo --rw=read --numjobs=4 --offset_increment=200m ;;
        writers) echo --rw=write --numjobs=4 --offset_increment=200m ;;
        writes) echo --rw=randwrite --iodepth=32 ;;
        mixed) echo --rw=randrw --rwmixread=70 --iodepth=8 --numjobs=4 ;;
    esac
}
# measure DEVICE LOAD: requests a second, and the 99th percentile of their latency: of reads, if it reads.
measure() {
    fio --minimal --name=load --filename="/dev/$1" --ioengine=libaio --direct=1 --bs=4k --norandommap --time_based \
        --runtime="$(argument ms)ms" --size=200m --group_reporting $(load "$2") >/tmp/fio 2>/dev/null
    awk -F ';' '{
        for (field = 1; field <= NF; field++) if ($field ~ /^99.000000%=/) { sub(/.*=/, "", $field); late[++n] = $field }
        print $8 + $49, ($8 > 0 ? late[1] : late[2]) * 1000
    }' /tmp/fio
}

for disk in $(argument disks | tr ';' ' '); do
    case $disk in
        null) insmod /modules/null_blk.ko nr_devices=1 submit_queues=1 queue_mode=2 irqmode=0 gb=1 hw_queue_depth=64 ;;
        *) insmod /modules/idlewise-disk.ko disks="$disk" ;;
    esac || bad "the disk $disk cannot be had"
    [ "$disk" = null ] && device=nullb0 || device=iwdisk0
    only=$(argument only | tr , ' ')
    for name in none mq-deadline kyber bfq ${only:-$(elevators $device)}; do
        for load in random batches readers writers writes; do
            set_queue $device scheduler none
            set_queue $device scheduler "$name" || bad "$device does not take $name"
            echo "result: $disk $load $name $(measure $device $load)"
        done
    done
    set_queue $device scheduler none
    rmmod null_blk 2>/dev/null || rmmod idlewise_disk
done
clean_log flash
