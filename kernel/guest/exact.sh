# machine: exact
# Tests that need exact time. The cost of a switch for processes that submit: the longest stall of a submission while a slow
# disk is kept busy, without a switch, at switches of the policy inside `idlewise`, and at the kernel's own
# switch; and how long a policy switch holds the queue's lock. And whether schedulers see who issues, and with which priority.
insmod /modules/idlewise.ko || bad "the module does not load"
# One command at a time, 5 ms each; 64 requests are under way throughout. The tags are those of 64 commands:
# of one, the kernel's switch would leave room for two requests.
scsi_device ndelay=5000000 max_queue=64
echo 1 >/sys/block/sda/device/queue_depth

# stall SWITCH: the longest submission in microseconds while SWITCH N is done ten times.
stall() {
    fio --minimal --name=load --filename=/dev/sda --ioengine=libaio --direct=1 --rw=randread --bs=4k --iodepth=64 \
        --time_based --runtime=8 --size=60m --iodepth_batch_submit=1 >/tmp/fio 2>/dev/null &
    sleep 2
    for number in 1 2 3 4 5 6 7 8 9 10; do
        "$1" $number || bad "$1 $number"
        sleep 0.4
    done
    wait
    [ "$(cut -d ';' -f 5 /tmp/fio)" = 0 ] || bad "fio failed while $1"
    cut -d ';' -f 11 /tmp/fio
}
nothing() { :; }
# Not those that search all requests for the nearest, which takes longer the more there are.
policy() { set_queue sda iosched/policy "$(echo cas cfq bfq antic-c-look noop | cut -d ' ' -f $(($1 % 5 + 1)))"; }
scheduler() { set_queue sda scheduler "$(echo mq-deadline bfq | cut -d ' ' -f $(($1 % 2 + 1)))"; }

set_queue sda scheduler idlewise
quiet=$(stall nothing)
ours=$(stall policy)
[ "$(queue sda iosched/switches)" = 10 ] || bad "the policy switched $(queue sda iosched/switches) times"
devices=sda
balanced policy
theirs=$(stall scheduler)
say "longest stall of a submission, microseconds: $quiet without a switch, $ours at a policy switch, $theirs at a scheduler switch"
# 63 requests of 5 ms are drained by the one, none by the other.
[ "$theirs" -gt 200000 ] || bad "the kernel's switch did not drain: $theirs us"
[ $((ours * 20)) -lt "$theirs" ] && good "a policy switch stalls $((theirs / (ours + 1))) times less" || bad "a policy switch stalls for $ours us"

# How long a policy switch holds the queue's lock at a time, and how long a submission takes, whatever waits. There is one
# processor, so the lock is free whenever somebody takes it. With more, a submission would wait for who has it: the sum counts.
traces=/sys/kernel/tracing
mount -t tracefs tracefs $traces
set_queue sda scheduler idlewise
set_queue sda nr_requests 2048
set_queue sda nomerges 2
echo 'iw_switch iw_switch_begin iw_switch_step iw_dispatch_request blk_mq_submit_bio' >$traces/set_ftrace_filter
echo 20000 >$traces/buffer_size_kb
# Interrupts that waited for the lock's release come before the function ends, and with them other processes: they are traced, too.
events='irq_vectors irq/softirq_entry irq/softirq_exit'
# longest FUNCTION [until]: in nanoseconds. A function with others inside ends with its name, too. With `until` what comes after
# an interrupt does not count.
longest() {
    awk -v name="$1" -v until="${2:-}" '
    until != "" && began && /\/\*/ { took = ($1 - began) * 1e9; began = 0; if (took > most) most = took }
    $0 !~ "[ */]" name "[ (]" { next }
    until != "" && /\{$/ { began = $1 }
    until != "" && /\}/ && !began { next }
    {
        for (i = 1; i < NF; i++) if ($(i + 1) == "us" && $i * 1000 > most) most = $i * 1000
        if (/\}/) began = 0
    }
    END { print int(most) }' /tmp/trace
}
for depth in 32 256 1900; do
    set_queue sda iosched/policy noop
    fio --minimal --name=load --filename=/dev/sda --ioengine=libaio --direct=1 --rw=randread --bs=4k --iodepth=$depth \
        --time_based --runtime=9 --size=60m --iodepth_batch_submit=1 >/tmp/fio 2>/dev/null &
    tries=0
    while waiting=$(queue sda iosched/waiting); [ "$waiting" -lt $((depth * 97 / 100)) ] && [ $tries -lt 80 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    echo function_graph >$traces/current_tracer
    echo funcgraph-tail >$traces/trace_options
    echo funcgraph-abstime >$traces/trace_options
    for event in $events; do echo 1 >$traces/events/$event/enable; done
    for number in 1 2 3 4 5 6 7 8 9 10; do
        policy $number
        sleep 0.3
    done
    cat $traces/trace >/tmp/trace
    echo nop >$traces/current_tracer
    for event in $events; do echo 0 >$traces/events/$event/enable; done
    wait
    balanced "policy with $waiting waiting"
    steps=$(($(grep -c iw_switch_step /tmp/trace) / 10))
    begin=$(longest iw_switch_begin until) step=$(longest iw_switch_step until) ask=$(longest iw_dispatch_request until) submit=$(longest blk_mq_submit_bio)
    say "$waiting wait: a switch takes up to $(longest iw_switch) ns, and the lock for $begin ns, then $steps times for at most $step ns; a dispatch takes $ask ns, a submission $submit ns"
    [ "$waiting" -ge $((depth * 97 / 100)) ] || bad "only $waiting requests wait, not $depth"
    [ "$begin" -gt 0 ] && [ "$submit" -gt 0 ] || bad "the tracer has timed nothing"
    for time in $begin $step $ask; do
        [ $((time + submit)) -le 50000 ] || bad "with $waiting waiting a submission of $submit ns may wait for $time ns"
    done
done
[ "$steps" -ge 50 ] && good "a policy switch is made in steps, and stalls no submission for 50 us" || bad "1900 requests moved in $steps steps"
set_queue sda nomerges 0
set_queue sda scheduler none

# scsi_debug calls itself a flash disk, for which cfq does not wait.
set_queue sda rotational 1

# shares SCHEDULER PRIORITY PRIORITY: requests that two readers of scattered blocks got, with these priorities.
shares() {
    set_queue sda scheduler none
    set_queue sda scheduler "$1"
    fio --minimal --ioengine=psync --direct=1 --rw=randread --bs=4k --time_based --runtime=6 --size=20m --filename=/dev/sda \
        --name=first --prioclass=2 --prio="$2" --name=second --offset=30m --prioclass=2 --prio="$3" >/tmp/fio 2>/dev/null
    [ "$(cut -d ';' -f 5 /tmp/fio | tr -d '\n')" = 00 ] || bad "fio failed under $1"
    # Kibibytes that each has read.
    cut -d ';' -f 6 /tmp/fio | tr '\n' ' '
}
# within SCHEDULER LEAST MOST FIRST SECOND: the first got LEAST to MOST hundredths of what the second got.
within() {
    say "$1: readers got $4 and $5 KiB"
    [ $(($4 * 100)) -ge $(($2 * $5)) ] && [ $(($4 * 100)) -le $(($3 * $5)) ] || bad "$1 shares $4 to $5"
}
# heavy LINE LEAST MOST: the same of two readers as processes of their own, of which LINE gives one a weight, NUMBER being
# its process. That one is also user 1000, and in the control group /heavy. That it gets LEAST to MOST hundredths of what
# the other one gets.
heavy() {
    set_queue sda scheduler none
    set_queue sda scheduler antic-stride
    for reader in first second; do
        [ $reader = first ] && own="--uid=1000 --invalidate=0" || own=--offset=30m
        (
            [ $reader = second ] || sh -c 'echo $PPID' >/sys/fs/cgroup/heavy/cgroup.procs
            # shellcheck disable=SC2086
            exec fio --minimal --name=$reader --ioengine=psync --direct=1 --rw=randread --bs=4k --time_based --runtime=8 --size=20m \
                --filename=/dev/sda --thread $own >/tmp/fio.$reader 2>/dev/null
        ) &
        [ $reader = second ] || echo $! >/tmp/pid
    done
    sleep 1
    set_queue sda iosched/weights "$(echo "$1" | sed "s/NUMBER/$(cat /tmp/pid)/")" || bad "weights does not take $1"
    wait
    [ "$(cut -d ';' -f 5 /tmp/fio.first /tmp/fio.second | tr -d '\n')" = 00 ] || bad "fio failed: $(head -c 300 /tmp/fio.first)"
    # shellcheck disable=SC2046
    within "antic-stride, weights: $1" "$2" "$3" $(cut -d ';' -f 6 /tmp/fio.first) $(cut -d ';' -f 6 /tmp/fio.second)
}
mkdir -p /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
mkdir /sys/fs/cgroup/heavy
chmod 666 /dev/sda
before=$(failures)
heavy none 90 110
heavy "NUMBER 400" 300 420
heavy "NUMBER 25" 20 35
heavy "uid 1000 300" 230 320
heavy "cgroup /heavy 300" 230 320
[ "$(failures)" != "$before" ] || good "weights count"
before=$(failures)
within "noop, levels 0 and 7" 90 110 $(shares noop 0 7)
within "cfq, levels 4 and 4" 70 143 $(shares cfq 4 4)
within "cfq, levels 0 and 7" 300 100000 $(shares cfq 0 7)
within "antic-stride, levels 0 and 4" 150 250 $(shares antic-stride 0 4)
[ "$(failures)" != "$before" ] || good "priorities count where they should"

# Requests other than synchronous reads have room for async_depth in the queue. most OPTION…: the most that were in it of
# a writer that keeps 64 under way.
most() {
    fio --output=/tmp/fio --name=load --filename=/dev/sda --ioengine=libaio --direct=1 --rw=randwrite --bs=4k --iodepth=64 \
        --time_based --runtime=4 --size=60m "$@" &
    held=0
    for sample in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.3
        now=$(($(queue sda iosched/inserted) - $(queue sda iosched/absorbed) - $(queue sda iosched/completed)))
        [ $now -le $held ] || held=$now
    done
    wait
    echo $held
}
set_queue sda scheduler iw-mq-deadline
all=$(most)
set_queue sda iosched/async_depth 16 || bad "iw-mq-deadline does not take async_depth"
some=$(most)
say "writes in the queue: $all, and $some with async_depth=16"
[ "$all" -ge 60 ] && [ "$some" -ge 8 ] && [ "$some" -le 16 ] && good "async_depth limits writes" || bad "async_depth does not limit writes"

# The same where nr_requests is less than a word of the tag map has bits.
set_queue sda nr_requests 16
set_queue sda iosched/async_depth 8 || bad "iw-mq-deadline does not take async_depth"
some=$(most)
say "writes in the queue: $some with nr_requests=16 and async_depth=8"
[ "$some" -ge 4 ] && [ "$some" -le 8 ] && good "async_depth limits writes among few tags" || bad "async_depth does not limit writes among few tags"

# Asynchronous requests, those of the kernel's own writing, have room for three in four. Newer kernels have a file for that.
set_queue sda scheduler noop
set_queue sda nr_requests 32
set_queue sda wbt_lat_usec 0
echo 1 >/proc/sys/vm/dirty_writeback_centisecs
echo 65536 >/proc/sys/vm/dirty_background_bytes
# Opened once more: with the last close what is left would be written, synchronously.
exec 9</dev/sda
buffered() { most --ioengine=psync --direct=0 --invalidate=0 --iodepth=1 --size=8m --rate_iops=2000; }
some=$(buffered)
say "asynchronous writes in the queue: $some with nr_requests=32"
[ "$some" -ge 16 ] && [ "$some" -le 24 ] && good "asynchronous requests leave room" || bad "asynchronous requests take $some of 32"
if [ -e /sys/block/sda/queue/async_depth ]; then
    set_queue sda async_depth 8 || bad "the queue does not take async_depth"
    some=$(buffered)
    [ "$some" -ge 4 ] && [ "$some" -le 8 ] && good "the queue's async_depth limits asynchronous requests" || bad "with async_depth=8 they take $some"
fi
exec 9<&-
set_queue sda nr_requests 128

# The scheduler refuses each merge, not the first only. One process's write waits. Another one's goes behind it, and
# then a third write behind that: these two may become one, but not with the first.
delays=/sys/bus/pseudo/drivers/scsi_debug/ndelay
delay=$(cat $delays)
set_queue sda scheduler none
set_queue sda scheduler cfq
echo 900000000 >$delays
# writes NAME OFFSET…: all at once, by a process of its own.
writes() {
    name=$1
    shift
    { echo "fio version 2 iolog"; echo "/dev/sda add"; echo "/dev/sda open"; for at in "$@"; do echo "/dev/sda write $at 4096"; done; echo "/dev/sda close"; } >/tmp/log.$name
    fio --output=/tmp/fio.$name --name=$name --read_iolog=/tmp/log.$name --replay_no_stall=1 --ioengine=libaio --direct=1 \
        --iodepth=8 --iodepth_batch_submit=$# >/tmp/fio.out 2>&1 || bad "fio fails: $(cat /tmp/fio.out)"
}
writes first 8388608 0 &
sleep 0.5
writes second 4096 16777216 8192 &
wait
echo "$delay" >$delays
say "of neighbours of two processes merged: $(queue sda iosched/merged), absorbed: $(queue sda iosched/absorbed)"
[ "$(queue sda iosched/merged) $(queue sda iosched/absorbed)" = "1 0" ] && good "each merge can be refused" ||
    bad "merged and absorbed are $(queue sda iosched/merged) and $(queue sda iosched/absorbed), not 1 and 0"

# A curve that its user has given decides. order: in which order the disk gets two reads that come at once, one 4 MB from
# the beginning and one 32 MB, under sptf, whose head is there.
order() {
    dd if=/dev/sda of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
    echo 1 >$traces/events/block/block_rq_issue/enable
    : >$traces/trace
    { echo "fio version 2 iolog"; echo "/dev/sda add"; echo "/dev/sda open"; for at in 0 4194304 33554432; do echo "/dev/sda read $at 4096"; done; echo "/dev/sda close"; } >/tmp/log.order
    fio --output=/tmp/fio --name=order --read_iolog=/tmp/log.order --replay_no_stall=1 --ioengine=libaio --direct=1 --iodepth=4 \
        --iodepth_batch_submit=3 >/tmp/fio.out 2>&1 || bad "fio fails: $(cat /tmp/fio.out)"
    echo 0 >$traces/events/block/block_rq_issue/enable
    sed -n 's/.*block_rq_issue: 8,0 R[A-Z]* 4096 () \([0-9]*\) + 8 .*/\1/p' $traces/trace | tail -n 3 | tr '\n' ' '
}
before=$(failures)
set_queue sda scheduler none
set_queue sda scheduler sptf
usual=$(order)
echo "0 9ms 8192 8ms 65536 1ms" >/sys/block/sda/queue/iosched/curve || bad "sptf takes no curve"
given=$(order)
echo learned >/sys/block/sda/queue/iosched/curve
again=$(order)
say "order of reads: $usual, with a curve by which far is near: $given, then $again"
[ "$usual" = "0 8192 65536 " ] && [ "$again" = "$usual" ] || bad "sptf reads $usual and $again"
[ "$given" = "65536 0 8192 " ] || [ "$given" = "0 65536 8192 " ] || bad "with a curve by which far is near: $given"
[ "$(failures)" != "$before" ] || good "a curve that its user has given decides"

# A selector inside follows a load that changes. phase KIND WANTED OPTION…: the load continues for some periods; then
# the selector must have seen KIND and have chosen WANTED.
phase() {
    kind=$1 wanted=$2
    shift 2
    fio --output=/tmp/fio --name=load --filename=/dev/sda --ioengine=psync --direct=1 --time_based --runtime=5 --size=7m \
        --offset_increment=7m "$@" >/dev/null 2>&1 &
    sleep 4.5
    state=$(cat /sys/block/sda/queue/iosched/auto)
    say "$kind: $(echo "$state" | sed -n 's/^reason //p')"
    echo "$state" | grep -qx "category $kind" || bad "the load is $kind, auto says: $state"
    grep -q "\[$wanted\].*\[auto-" /sys/block/sda/queue/iosched/policy || bad "for $kind: $(cat /sys/block/sda/queue/iosched/policy)"
    wait
}
before=$(failures)
set_queue sda scheduler none
set_queue sda scheduler idlewise
# Settings hold at once, not when the former ones have run out.
set_queue sda iosched/policy "auto period=3600000" || bad "policy does not take auto's settings"
set_queue sda iosched/policy auto || bad "policy does not take auto"
phase "8 sequential reads" as-2.6.11 --rw=read --bs=64k --numjobs=8
phase "8 sequential writes" deadline-2.6.11 --rw=write --bs=64k --numjobs=8
phase "1 sequential reads" noop --rw=read --bs=64k --numjobs=1
phase "4 random reads" as-2.6.11 --rw=randread --bs=4k --numjobs=4
# Small ones are pooled while they wait.
phase "1 sequential reads" noop --ioengine=libaio --iodepth=64 --rw=read --bs=4k --numjobs=1
balanced "auto" any
[ "$(queue sda iosched/switches)" -ge 4 ] || bad "auto switched $(queue sda iosched/switches) times"
[ "$(failures)" != "$before" ] || good "auto follows the load"

# The same with a matrix of the disk's own, a ranking by size, and at random when throughput drops.
before=$(failures)
printf '1 c-look noop noop noop\n4 noop noop cfq noop\n8 sstf noop noop noop\n16 noop noop noop noop\n' >/sys/block/sda/queue/iosched/matrix ||
    bad "the matrix is not taken"
phase "8 sequential reads" sstf --rw=read --bs=64k --numjobs=8
phase "4 random reads" cfq --rw=randread --bs=4k --numjobs=4
printf '4096 c-look\n12288 as:antic_expire=3\n65536 as\n' >/sys/block/sda/queue/iosched/ranking || bad "the ranking is not taken"
set_queue sda iosched/policy auto-ranking || bad "policy does not take auto-ranking"
phase "4 random reads" c-look --rw=randread --bs=4k --numjobs=4
phase "4 random reads" as --rw=randread --bs=8k --numjobs=4
grep -qx 'antic_expire 3' /sys/block/sda/queue/iosched/settings || bad "the ranking's as has $(grep antic_expire /sys/block/sda/queue/iosched/settings)"
phase "4 random reads" as --rw=randread --bs=16k --numjobs=4
grep -qx 'antic_expire 6' /sys/block/sda/queue/iosched/settings || bad "the ranking's usual as has $(grep antic_expire /sys/block/sda/queue/iosched/settings)"
# Four readers at once, then one that thinks: throughput drops, whoever is drawn.
set_queue sda iosched/policy "auto-explore candidates=noop,cfq,sstf fade=0" || bad "policy does not take auto-explore"
first=$(sed -n 's/^scheduler //p' /sys/block/sda/queue/iosched/auto)
phase "4 random reads" "$first" --rw=randread --bs=4k --numjobs=4
fio --output=/tmp/fio --name=slow --filename=/dev/sda --ioengine=psync --direct=1 --time_based --runtime=8 --size=7m --rw=randread \
    --bs=4k --thinktime=50000 >/dev/null 2>&1
state=$(cat /sys/block/sda/queue/iosched/auto)
say "throughput drops: $(echo "$state" | tr '\n' ';')"
[ "$(echo "$state" | sed -n 's/^switches //p')" -ge 1 ] || bad "throughput drops, and auto-explore stays: $state"
dd if=/sys/block/sda/queue/iosched/policy bs=4k 2>/dev/null | grep -q "\[$(echo "$state" | sed -n 's/^scheduler //p')\]" || bad "auto-explore draws, and the policy does not follow: $state"
balanced "selectors" any
[ "$(failures)" != "$before" ] || good "own matrices, rankings and draws are followed"
clean_log exact
