# machine: exact
# The cost of a request: 4 KiB random reads at depth 32 on null_blk, one queue, in virtual time that counts
# instructions. Ours against the kernel's own, each in requests a second. Submitted one by one a request finds an
# empty queue, for null_blk completes at once; with batch=32 that many come together and wait together.
insmod /modules/idlewise.ko || bad "the module does not load"
insmod /modules/null_blk.ko nr_devices=1 submit_queues=1 queue_mode=2 irqmode=0 gb=1 hw_queue_depth=64

batch=$(argument batch)
[ -z "$batch" ] || batch="--iodepth_batch_submit=$batch --iodepth_batch_complete_min=$batch"
iops() {
    set_queue nullb0 scheduler none
    set_queue nullb0 scheduler "$1" || bad "nullb0 does not take $1"
    fio --minimal --name=load --filename=/dev/nullb0 --ioengine=libaio --direct=1 --rw=randread --bs=4k --iodepth=32 $batch \
        --gtod_reduce=1 --norandommap --time_based --runtime=2 --size=900m >/tmp/fio 2>/dev/null
    cut -d ';' -f 8 /tmp/fio
}

for name in none mq-deadline kyber bfq $(argument only | tr , ' '); do
    rate=$(iops "$name")
    eval "rate_$(echo "$name" | tr -c 'a-z0-9\n' _)=$rate"
    say "$name $rate"
done
# atleast NAME HUNDREDTHS OTHER: that many hundredths of the other's rate.
atleast() {
    eval "own=\$rate_$(echo "$1" | tr -c 'a-z0-9\n' _) other=\$rate_$(echo "$3" | tr -c 'a-z0-9\n' _)"
    [ -n "$own" ] || return 0
    share=$((own * 100 / other))
    [ $share -ge "$2" ] && good "$1 has $share % of $3's rate" || bad "$1 has $share % of $3's rate, not $2"
}
atleast iw-deadline 100 mq-deadline
for name in cfq cas as; do atleast $name 110 bfq; done
clean_log iops
