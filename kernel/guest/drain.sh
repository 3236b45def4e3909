# machine: exact
# What a switch costs those who submit: the longest stall of a submission while a slow disk is kept busy,
# without a switch, at switches of the policy inside `idlewise`, and at the kernel's own switch.
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
policy() { set_queue sda iosched/policy "$(echo cas cfq deadline antic-sptf noop | cut -d ' ' -f $(($1 % 5 + 1)))"; }
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
clean_log drain
