# machine: exact
# What `idlewise record` costs, in virtual time that counts instructions, one a nanosecond: a machine of one processor, as slow
# as those of 2005. At the highest rate that null_blk reaches beside the recorder no event is lost. At 20 000 requests a
# second, the time that the processor is busy is compared with a run without the recorder: the difference is the
# recorder's share and the kernel's for it, and may be 12 %, which is 5 % of a processor that does 2.4 instructions a
# nanosecond.
#
# iw.seconds=N: how long the highest rate is held. iw.requests=N: how many requests the cost is taken of.
insmod /modules/null_blk.ko nr_devices=1 submit_queues=1 queue_mode=2 irqmode=0 gb=1 hw_queue_depth=128
set_queue nullb0 nomerges 2
seconds_held=$(argument seconds) requests=$(argument requests)
seconds_held=${seconds_held:-2} requests=${requests:-240000}

# load OPTION…: reads of 4 KiB, 128 at a time, in the way that costs least: what the processor does not do for the load, the
# recorder has.
load() {
    fio --minimal --name=load --filename=/dev/nullb0 --ioengine=io_uring --fixedbufs --registerfiles --direct=1 --rw=randread --bs=4k --iodepth=128 \
        --iodepth_batch_submit=64 --iodepth_batch_complete_min=64 --gtod_reduce=1 --norandommap --size=900m "$@" >/tmp/fio 2>/dev/null ||
        bad "fio: $(cat /tmp/fio)"
}
begin() {
    idlewise record nullb0 --output /tmp/cost.rec.gz --force >/tmp/record 2>&1 &
    recorder=$!
    until grep -qs '^recording' /tmp/record || ! kill -0 $recorder; do sleep 0.1; done
}
end() {
    sleep 0.2
    kill -INT "$recorder"
    wait "$recorder" || bad "the recorder: $(cat /tmp/record)"
    say "$(sed -n 's/^stopped: //p' /tmp/record)"
}
told() { zcat /tmp/cost.rec.gz | strings | sed -n "s/^$1 = //p" | tail -n 1; }
reads() { awk '{print $1}' /sys/block/nullb0/stat; }
# Hundredths of a second that the processor was busy since the machine began.
busy() { awk '{printf "%d", ($1 - $2) * 100 + 0.5}' /proc/uptime; }

# highest SCHEDULER RATE: none is lost, and the rate is at least that.
highest() {
    scheduler=$1
    set_queue nullb0 scheduler $scheduler
    load --time_based --runtime=1
    alone=$(cut -d ';' -f 8 /tmp/fio)
    before=$(reads)
    begin
    load --time_based --runtime="$seconds_held"
    end
    rate=$(cut -d ';' -f 8 /tmp/fio)
    say "$scheduler: $alone requests a second alone, $rate while recorded; $((1000000000 / rate - 1000000000 / alone)) instructions more a request"
    counted=$(told reads) done=$(($(reads) - before)) lost=$(told lost)
    [ "$lost" = 0 ] && [ "$counted" = "$done" ] && [ "$rate" -ge "$2" ] &&
        good "$scheduler: $rate requests a second, none of $done lost" ||
        bad "$scheduler: $rate requests a second; of $done reads $counted are counted, $lost events are lost"
}
highest none 100000
highest mq-deadline 80000

# cost: hundredths of a second that the processor is busy with these requests, 500 every 25 ms. (fio does not sleep for
# what is shorter than the longest of ten sleeps that it tries, but spins.)
cost() {
    from=$(busy) since=$(cut -d ' ' -f 1 /proc/uptime)
    load --number_ios="$requests" --thinktime=22500 --thinktime_blocks=500
    spent=$(($(busy) - from))
    pace=$(echo "$since $(cut -d ' ' -f 1 /proc/uptime) $requests" | awk '{printf "%d", $3 / ($2 - $1)}')
}
set_queue nullb0 scheduler mq-deadline
cost
alone=$spent
begin
cost
end
# Of a core, in hundredths of a percent: what is spent beyond the load itself, for 20 000 requests.
share=$(((spent - alone) * 100 * 20000 / requests))
say "$pace requests a second: $((alone * 10)) ms busy alone, $((spent * 10)) ms recorded"
[ $share -le 1200 ] && good "recording takes $((share / 100)).$(printf %02d $((share % 100))) % of the processor at 20 000 requests a second" ||
    bad "recording takes $((share / 100)).$(printf %02d $((share % 100))) % of the processor at 20 000 requests a second"
clean_log record-cost
