# A panic in the core costs one disk its scheduler, and nothing else. At each place where the core is called it is made to
# panic, on a disk under load: all of the load's data comes back, the disk goes on, and takes another elevator.
# Another disk is written to and verified all the while.
. /tests/parts.sh
insmod /modules/idlewise.ko test_hooks=1 || bad "the module does not load"
insmod /modules/null_blk.ko nr_devices=0
null_device nullone 1
# Requests wait, and some of what is read comes back.
scsi_device ndelay=2000000 max_queue=32
echo 2 >/sys/block/sda/device/queue_depth
echo 0x100 >/sys/bus/pseudo/drivers/scsi_debug/opts
echo 7 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
folder=/sys/block/sda/queue/iosched devices=sda
# For a disk without heads `auto` has no matrix.
set_queue sda rotational 1

beside nullone

attempt() { "$@" 2>/dev/null >/dev/null; }
# at FUNCTION COMMAND…: under load the core panics in that function, in which the command ends up; the command, which
# may fail, must end. Without one the load itself does.
at() {
    place=$1
    shift
    count=$((count + 1))
    set_queue sda scheduler none
    set_queue sda scheduler idlewise || bad "$place: sda does not take idlewise"
    set_queue sda iosched/policy "$policy" || bad "$place: no policy $policy"
    # Neighbours in no order, each by itself: they merge at both ends, and with each other.
    (job "load at $place" --iodepth_batch_submit=1 --bs=8k --size=384k; echo over >/tmp/loaded) &
    sleep 0.3
    echo "$place sda" >/sys/module/idlewise/parameters/provoke || bad "$place cannot be provoked"
    [ $# = 0 ] || attempt "$@"
    tries=0
    while [ ! -e /tmp/loaded ] && [ $tries -lt 200 ]; do tries=$((tries + 1)); sleep 0.1; done
    rm /tmp/loaded || bad "$place: the load does not end"
    [ "$(cat $folder/broken)" = 1 ] || bad "$place: the core did not panic"
    balanced "$place" any
    refused $folder/policy cas
    said=$(dmesg | grep -c "scheduler's code panicked: index out of bounds.*(crates/core/src/[a-z_/]*.rs:[0-9]*)")
    [ "$said" = $count ] || bad "$place: of $count panics the log names $said"
}
# Every second block, and then those between: two that wait become one.
gaps() {
    fio --output=/tmp/gaps --thread --ioengine=libaio --direct=1 --iodepth=16 --iodepth_batch_submit=1 --bs=8k --rw=write:8k \
        --size=512k --filename=/dev/sda --name=even --offset=40m --name=odd --offset=40968k
}
count=0 policy=cas
for function in insert dispatch complete requeue may_merge grown; do at iw_$function; done
policy=noop
at iw_absorbed gaps
policy=mq-deadline
at iw_quota
policy=cfq
at iw_set_weight ionice -c 2 -n 0 dd if=/dev/sda of=/dev/null bs=4k count=1 iflag=direct
at iw_issuer_gone dd if=/dev/sda of=/dev/null bs=4k count=1 iflag=direct
at iw_queue_begin set_queue sda iosched/policy noop
at iw_queue_set_curve set_queue sda iosched/curve "0 1ms"
at iw_queue_carry set_queue sda iosched/policy noop
at iw_queue_set set_queue sda iosched/settings "slice_idle 3"
at iw_queue_get cat $folder/settings
at iw_front_merges set_queue sda iosched/policy noop
at iw_queue_set_selector set_queue sda iosched/policy auto
at iw_auto_show cat $folder/auto
at iw_auto_place set_queue sda iosched/policy "auto-explore candidates=noop"
policy="auto period=100"
at iw_auto_tick
dmesg | grep -q 'sda goes on without a scheduler.*echo mq-deadline >/sys/block/sda/queue/scheduler' || bad "the cure is not told"
dmesg | grep -q 'iw_queue_break.inside' || bad "the panic has no trace through our code"
# A mistake in freeing costs the memory.
set_queue sda scheduler cas
echo "iw_queue_free sda" >/sys/module/idlewise/parameters/provoke
for name in mq-deadline none cas; do
    set_queue sda scheduler $name || bad "sda does not take $name"
    job "$name afterwards"
done
balanced "afterwards"

beside_ends
good "$count panics, each cost one disk its scheduler"
clean_log panic

# What the core refuses, which leaves a warning, is served all the same.
for function in insert requeue; do
    set_queue sda scheduler none
    set_queue sda scheduler cas
    echo "iw_$function sda refuse" >/sys/module/idlewise/parameters/provoke
    job "a request that is refused at $function"
    balanced "a request that is refused at $function"
    [ "$(cat $folder/broken)" = 0 ] || bad "a request that is refused breaks the queue"
done
[ "$(dmesg | grep -c WARNING:)" = 2 ] && good "requests that the core refuses are served" || bad "the core refused $(dmesg | grep -c WARNING:) requests, not 2"
for device in sda nullone; do set_queue $device scheduler none; done
rmmod idlewise && good "the module goes" || bad "the module stays"
insmod /modules/idlewise.ko || bad "the module does not come again"
echo "iw_insert sda" 2>/dev/null >/sys/module/idlewise/parameters/provoke && bad "panics can be provoked without test_hooks"
echo 1 2>/dev/null >/sys/module/idlewise/parameters/fail_allocation && bad "allocations fail without test_hooks"
