# processors: 2
# Disks that are pulled out under load and come again, under each elevator: every submitter comes back, with an error or without;
# files of the elevator that somebody holds open say that the disk is gone; another disk is verified all the while.
# iw.only="NAME …": only these elevators. iw.rounds=N pulls each disk N times under each.
. /tests/parts.sh
insmod /modules/idlewise.ko test_hooks=1 || bad "the module does not load"
insmod /modules/null_blk.ko nr_devices=0
null_device nullone 1
null_device other 2
# Requests wait in the elevator when the disk goes.
scsi_device ndelay=2000000 max_queue=4
# What is pulled out has errors, of which the log tells.
expected='I/O error'

beside other

served() { [ "$(awk '{ print $1 + $5 }' "/sys/block/$1/stat")" -ge 50 ]; }
broken() { [ "$(queue "$1" iosched/broken)" = 1 ]; }
# within COMMAND…: it succeeds within 300 rounds of a tenth of a second.
within() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || return 1
        sleep 0.1
    done
}
appear() {
    case $1 in
        nullone) null_device nullone 1 ;;
        sda) echo "- - -" >/sys/class/scsi_host/host0/scan ;;
    esac
    within [ -b "/dev/$1" ] || bad "$1 does not come again"
}
pull() {
    case $1 in
        nullone) rmdir /sys/kernel/config/nullb/nullone ;;
        sda) echo 1 >/sys/block/sda/device/delete ;;
    esac
}
# Buffered and direct, reads and writes, alone and many at a time, until an error. What is buffered meets one when it is flushed.
use() {
    fio --output="/tmp/use-$1" --ioengine=libaio --direct=1 --thread --filename="/dev/$1" --allow_file_create=0 --size=8m --bs=8k \
        --time_based --runtime=600 --name=many --rw=randrw --iodepth=32 --name=stream --rw=read --iodepth=1 --ioengine=psync \
        --name=buffered --rw=randwrite --direct=0 --ioengine=psync --fsync=16 >/dev/null 2>&1
    : >"/tmp/used-$1"
}
# change DISK: sets what can be set, again and again, until the disk is away.
change() {
    folder=/sys/block/$1/queue
    while [ -e "$folder" ]; do
        for policy in cas cfq mq-deadline; do echo $policy >"$folder/iosched/policy"; done
        echo 16 >"$folder/nr_requests"
        for name in idlewise none idlewise; do echo $name >"$folder/scheduler"; done
        cat "$folder"/iosched/*
    done >/dev/null 2>&1
    : >"/tmp/changed-$1"
}
# gone FILE WHAT: the background job that leaves this file has ended.
gone() { within [ -e "$1" ] && rm "$1" || bad "$2 does not end"; }
# round ELEVATOR [changing | PANIC]: both disks are used, pulled out, and come again.
round() {
    for disk in $disks; do
        set_queue $disk scheduler "$1" || bad "$disk does not take $1"
        use $disk &
        case ${2:-} in
            "") ;;
            changing) change $disk & ;;
            *) echo "$2 $disk" >/sys/module/idlewise/parameters/provoke ;;
        esac
    done
    for disk in $disks; do
        case ${2:-} in
            "" | changing) within served $disk || bad "$disk is hardly used under $*" ;;
            *) within broken $disk || bad "the core did not panic at $2" ;;
        esac
    done
    sleep "0.$(random 10)"
    for disk in $disks; do
        [ "${2:-}" = changing ] || exec 3<"/sys/block/$disk/queue/iosched/inserted"
        pull $disk
        # The submitters still have it open; the name is free once they are through.
        gone "/tmp/used-$disk" "who uses $disk under $*"
        [ "${2:-}" != changing ] || gone "/tmp/changed-$disk" "who changes $disk"
        [ ! -e "/sys/block/$disk" ] || bad "$disk is still there under $*"
        [ "${2:-}" = changing ] || ! cat <&3 >/dev/null 2>&1 || bad "$disk is gone and its counters are not, under $*"
        appear $disk
    done
    count=$((count + 1))
}
disks="nullone sda" count=0
chosen=$(argument only | tr , ' ')
rounds=$(argument rounds)
for elevator in ${chosen:-$(elevators sda)}; do
    number=0
    while [ $number -lt "${rounds:-1}" ]; do number=$((number + 1)); round "$elevator"; done
done
good "$count times pulled out under load, under $(echo ${chosen:-$(elevators sda)} | wc -w) elevators"
round idlewise changing
disks=sda
for place in dispatch insert complete; do round idlewise iw_$place; done
good "pulled out while being switched, and after panics"

beside_ends
devices="nullone sda"
for device in $devices; do set_queue "$device" scheduler cfq; done
job "afterwards" && balanced "afterwards"
for device in $devices other; do set_queue "$device" scheduler none; done
rmmod idlewise && good "the module goes" || bad "the module stays"
clean_log hotplug
