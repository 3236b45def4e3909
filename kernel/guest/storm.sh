# processors: 4
# threads: single
# A storm: processes that read a little and exit, without pause, four rows of them, while a module is loaded, its
# scheduler chosen for the disks and left again, and the module unloaded. iw.runs=N runs of iw.loads=N loads each.
#
# For comparison, without our module: iw.module=trace turns the tracing of exits on and off instead, which changes the kernel's code
# for exits as ours does when loaded and unloaded.
#
# The processors take turns. QEMU before 8.1 has a race where they run at once: one that translates code while another changes it
# may keep the old code for good, and then each processor that comes by stands still at a breakpoint that is long gone.
. /tests/parts.sh
module=$(argument module)
case ${module:=idlewise} in
    idlewise) schedulers="cas idlewise cfq" ;;
    trace)
        schedulers="none none none"
        mount -t tracefs trace /sys/kernel/tracing || bad "this kernel does not trace"
        tracing=/sys/kernel/tracing/events/sched/sched_process_exit/enable
        ;;
esac
insmod /modules/null_blk.ko nr_devices=0
null_device nullone 1
null_device nulltwo 2
devices="nullone nulltwo"

# Exits for the most part, every fourth of a process that has read.
row() {
    count=0
    while [ -e /tmp/running ]; do
        busybox true
        busybox true
        (true)
        dd if=/dev/nullone of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
        dd if=/dev/nulltwo of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
        count=$((count + 5))
    done
    echo $count >"/tmp/over-$1"
}
# one_load SCHEDULER: there and away again. Right after a use the module may be held for a moment more.
one_load() {
    if [ $module = trace ]; then
        echo 1 >$tracing
        echo 0 >$tracing
        return
    fi
    insmod /modules/idlewise.ko || bad "the module cannot be loaded"
    for device in $devices; do set_queue $device scheduler "$1" || bad "$device does not take $1"; done
    sleep 0.05
    for device in $devices; do set_queue $device scheduler none || bad "$device does not take none"; done
    tries=0
    while ! rmmod idlewise 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 50 ] || { bad "the module cannot be unloaded"; return; }
        sleep 0.1
    done
}
ticks() { tr -d . </proc/uptime | cut -d ' ' -f 1; }

run=0 all=0 began=$(seconds)
while [ $run -lt "$(argument runs)" ]; do
    run=$((run + 1)) load=0 longest=0
    echo go >/tmp/running
    for number in 1 2 3 4; do row $number & done
    while [ $load -lt "$(argument loads)" ]; do
        for scheduler in $schedulers; do
            at=$(ticks)
            one_load $scheduler
            took=$(($(ticks) - at))
            [ $took -le $longest ] || longest=$took
            load=$((load + 1))
        done
    done
    rm /tmp/running
    exits=0
    for number in 1 2 3 4; do
        while [ ! -s /tmp/over-$number ]; do sleep 0.1; done
        exits=$((exits + $(cat /tmp/over-$number)))
        rm /tmp/over-$number
    done
    all=$((all + exits))
    say "run $run: $load loads of $module, the longest took $((longest * 10)) ms; $exits exits"
    if dmesg | grep -qE 'soft lockup|WARNING:|BUG:|Oops|rcu.*stall|blocked for more than'; then bad "run $run: the kernel complains"; break; fi
done
good "$run runs of $load loads of $module, $all exits, $(($(seconds) - began)) s"
clean_log storm
