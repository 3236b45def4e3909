# What the files of a disk and of the module take and refuse: selectors, their tables, the first policy. Read after parts.sh.

# told TEXT: the kernel's log has it, since the last call.
told() {
    dmesg -c >/tmp/told
    grep -qF "$1" /tmp/told || bad "the log does not say: $1"
    cat /tmp/told >>/tmp/log
}
# turned KIND: sda has moving heads (1), or not (0), and the elevator idlewise from then on.
turned() {
    set_queue sda scheduler none
    set_queue sda rotational "$1"
    set_queue sda scheduler idlewise || bad "sda does not take idlewise"
}
# every_policy DEVICE: the names of all that `policy` takes there. Selectors look up something that was measured.
every_policy() {
    echo "4096 c-look 65536 as" >"/sys/block/$1/queue/iosched/ranking"
    printf '1 noop noop noop as\n4 as as as as\n8 as cfq as as\n16 as as as deadline\n' >"/sys/block/$1/queue/iosched/matrix"
    queue "$1" iosched/policy | tr -d '[]'
}

choosing() {
    folder=/sys/block/sda/queue/iosched wrong=$(failures)
    turned 1
    # A matrix for a goal, of the paper's.
    [ "$(sed -n 2p $folder/matrix)" = "4 as-2.6.11 noop as-2.6.11 as-2.6.11" ] || bad "the matrix is $(cat $folder/matrix)"
    echo "auto-matrix goal=lowest" >$folder/policy || bad "policy does not take auto-matrix"
    grep -q ' \[auto-matrix\] ' $folder/policy || bad "policy shows $(cat $folder/policy)"
    [ "$(sed -n 2p $folder/matrix)" = "4 as-2.6.11 noop noop noop" ] || bad "the lowest goal's matrix is $(cat $folder/matrix)"
    echo "auto goal=lowest hints=off" >$folder/policy
    [ "$(sed -n 2p $folder/matrix)" = "4 as-2.6.11 as-2.6.11 as-2.6.11 as-2.6.11" ] || bad "without hints the matrix is $(cat $folder/matrix)"
    # One of its own, as `idlewise matrix build` writes it.
    cat >/tmp/matrix <<'END'
kind = "matrix"
disk = "a disk"
goal = "mean"

# processes = [sequential reads, sequential writes, random reads, random writes]
[cells]
1 = ["noop", "c-look", "noop", "deadline"]
4 = ["as", "noop", "as", "as"]
8 = ["as", "deadline", "as", "as"]
16 = ["as", "as", "as", "as:antic_expire=3;read_batch_expire=2000"]
END
    dmesg -c >>/tmp/log
    refused $folder/matrix "$(cat /tmp/matrix)"
    told "auto-matrix: goal chooses among the built-in matrices, and this device has its own"
    echo "auto period=5000" >$folder/policy
    cat /tmp/matrix >$folder/matrix || bad "matrix is not taken"
    [ "$(cat $folder/matrix)" = "$(sed -n '/^1/,$ { s/ = / /; s/[]["]//g; s/,//gp }' /tmp/matrix)" ] || bad "the matrix is $(cat $folder/matrix)"
    refused $folder/policy "auto goal=lowest"
    told "auto-matrix: goal chooses among the built-in matrices"
    refused $folder/matrix "$(sed 's/c-look/best/' /tmp/matrix)"
    told "what auto-matrix looks up: there is no scheduler best"
    refused $folder/matrix "$(sed 's/expire=3/expire=no/' /tmp/matrix)"
    told "what auto-matrix looks up: as:antic_expire=no;read_batch_expire=2000: "
    refused $folder/matrix "$(sed '/^8/d' /tmp/matrix)"
    told "what auto-matrix looks up: the row 8 is missing"
    refused $folder/matrix "4096 as"
    told "a row begins with 1, 4, 8 or 16, not with 4096"
    refused $folder/matrix ""
    echo built-in >$folder/matrix
    grep -q "^16 as-2.6.11" $folder/matrix || bad "the built-in matrix does not come back: $(cat $folder/matrix)"
    # The others.
    refused $folder/policy auto-ranking
    told "auto-ranking: write a ranking for this device to the file ranking first"
    refused $folder/ranking "c-look 4096"
    told "a size in bytes comes before each scheduler, not c-look"
    refused $folder/ranking "4096 as 4096 noop"
    printf 'kind = "ranking"\ndisk = "x"\n\n[[rank]]\nup_to_bytes = 4096\nscheduler = "c-look"\n' >$folder/ranking || bad "ranking is not taken"
    [ "$(cat $folder/ranking)" = "4096 c-look" ] || bad "the ranking is $(cat $folder/ranking)"
    echo auto-ranking >$folder/policy && grep -q ' \[auto-ranking\] ' $folder/policy || bad "policy does not take auto-ranking"
    refused $folder/ranking none
    echo "auto-explore seed=7 candidates=cfq,noop" >$folder/policy && grep -q ' \[auto-explore\] ' $folder/policy || bad "policy does not take auto-explore"
    grep -qx 'selector auto-explore' $folder/auto || bad "auto shows $(cat $folder/auto)"
    echo none >$folder/ranking
    dmesg -c >>/tmp/log
    refused $folder/policy "auto-explore candidates=noop,best"
    told "auto-explore: there is no scheduler best"
    refused $folder/policy "auto candidates=noop,as"
    told "auto-matrix: its candidates are those of its table"
    refused $folder/policy "auto-explore threshold=101"
    told "auto-explore: "
    refused $folder/policy auto-predict
    told "there is no scheduler or selector auto-predict"
    echo cfq >$folder/policy
    # The paper's matrices are for disks with heads.
    turned 0
    dmesg -c >>/tmp/log
    refused $folder/policy auto
    told "auto-matrix: the built-in matrices are of a disk whose heads move"
    cat /tmp/matrix >$folder/matrix
    echo auto >$folder/policy || bad "auto refuses a matrix of this device"
    refused $folder/matrix built-in
    turned 0
    echo auto-explore >$folder/policy || bad "auto-explore needs no heads"
    set_queue sda scheduler none
    [ "$(failures)" != "$wrong" ] || good "selectors, their tables and what they refuse"
}

# What a disk begins with, as the module's parameter says.
beginning() {
    parameter=/sys/module/idlewise/parameters/policy wrong=$(failures)
    echo cas >$parameter && turned 1
    grep -q '\[cas\]' /sys/block/sda/queue/iosched/policy || bad "with policy=cas: $(queue sda iosched/policy)"
    echo "auto goal=highest period=5000" >$parameter
    turned 1
    grep -q ' \[auto-matrix\]' /sys/block/sda/queue/iosched/policy || bad "with policy=auto: $(queue sda iosched/policy)"
    [ "$(sed -n 4p /sys/block/sda/queue/iosched/matrix)" = "16 as-2.6.11 as-2.6.11 deadline-2.6.11 deadline-2.6.11" ] || bad "policy=auto forgets its goal"
    dmesg -c >>/tmp/log
    turned 0
    grep -q '^\[noop\]' /sys/block/sda/queue/iosched/policy || bad "a disk without heads: $(queue sda iosched/policy)"
    told "sda begins with noop"
    refused $parameter nonsense
    told "policy=nonsense: there is no such scheduler or selector"
    refused $parameter "auto goal=best"
    told "policy=auto goal=best: auto-matrix: "
    refused $parameter "cas $(head -c 200 /dev/zero | tr '\0' ' ')"
    echo >$parameter
    turned 1
    grep -q '^\[noop\]' /sys/block/sda/queue/iosched/policy || bad "without a parameter: $(queue sda iosched/policy)"
    set_queue sda scheduler none
    rmmod idlewise
    insmod /modules/idlewise.ko policy=best 2>/dev/null && bad "the module loads with policy=best"
    insmod /modules/idlewise.ko test_hooks=1 policy=cfq
    turned 1
    grep -q '\[cfq\]' /sys/block/sda/queue/iosched/policy || bad "loaded with policy=cfq: $(queue sda iosched/policy)"
    echo >$parameter
    set_queue sda scheduler none
    [ "$(failures)" != "$wrong" ] || good "what a disk begins with"
}

weighing() {
    wrong=$(failures) root=/sys/fs/cgroup
    set_queue sda scheduler none
    set_queue sda scheduler antic-stride
    folder=/sys/block/sda/queue/iosched
    mkdir -p $root
    mount -t cgroup2 none $root && mkdir -p $root/backup/night
    [ "$(cat $folder/weights)" = none ] || bad "weights begins with $(cat $folder/weights)"
    for line in "1 300" "uid 1000 50" "cgroup /backup 10" "cgroup /backup/night 20" "1 200"; do
        echo "$line" >$folder/weights || bad "weights does not take $line"
    done
    [ "$(cat $folder/weights)" = "$(printf 'uid 1000 50\ncgroup /backup 10\ncgroup /backup/night 20\n1 200')" ] || bad "weights shows $(cat $folder/weights)"
    dmesg -c >>/tmp/log
    for line in "1 0" "1 10001" "1 -5" "1 fast" "1" "one 100" "uid 1000" "uid root 5" "cgroup /backup" "1 2 3" "cgroup /backup 5 5" ""; do
        refused $folder/weights "$line"
    done
    told "weights takes PID WEIGHT, uid NUMBER WEIGHT, cgroup PATH WEIGHT or none; a weight is 1 to 10000, or default"
    refused $folder/weights "4194303 100"
    told "weights: there is no thread or process 4194303"
    refused $folder/weights "cgroup /nowhere 100"
    told "weights: there is no control group /nowhere"
    echo "uid 1000 default" >$folder/weights
    echo "cgroup /backup default" >$folder/weights
    # A process that exits takes its weight along, since its number may become another's.
    sleep 100 &
    echo "$! 400" >$folder/weights
    grep -qx "$! 400" $folder/weights || bad "weights shows $(cat $folder/weights)"
    kill $!
    wait $!
    [ "$(cat $folder/weights)" = "$(printf 'cgroup /backup/night 20\n1 200')" ] || bad "weights shows $(cat $folder/weights)"
    rmdir $root/backup/night || bad "a weight keeps a control group"
    number=0
    while [ $number -lt 62 ]; do echo "uid $number 5" >$folder/weights || bad "weights does not take 64 lines"; number=$((number + 1)); done
    refused $folder/weights "uid 99 5"
    told "weights has 64 lines, and no room for more"
    echo none >$folder/weights
    [ "$(cat $folder/weights)" = none ] || bad "none leaves $(cat $folder/weights)"
    rmdir $root/backup
    umount $root
    set_queue sda scheduler none
    [ "$(failures)" != "$wrong" ] || good "weights, and what is no weight"
}

# What is known of a disk's positioning times, in plain elevators and in the one that hosts all.
knowing() {
    wrong=$(failures) folder=/sys/block/sda/queue/iosched
    for elevator in sptf idlewise; do
        turned 1
        set_queue sda scheduler $elevator
        [ "$(cat $folder/curve)" = learned ] || bad "$elevator: curve begins with $(cat $folder/curve)"
        printf '0 0us\n2048 1500us\n1000000 9ms\n' >$folder/curve || bad "$elevator: curve is not taken"
        [ "$(cat $folder/curve)" = "$(printf '0 0us\n2048 1500us\n1000000 9000us')" ] || bad "$elevator: curve shows $(cat $folder/curve)"
        dmesg -c >>/tmp/log
        for text in "0 5s" "0" "0 5" "far 5ms" "0 1ms 0 2ms" "-1 1ms" ""; do refused $folder/curve "$text"; done
        told "curve: a time, such as 1500us or 9ms, up to 4s, is not 5s"
    done
    # Settings stay, and what was known stays when the policy changes.
    echo cfq >$folder/policy
    echo "slice_idle 3" >$folder/settings
    switches=$(cat $folder/switches)
    echo "0 1ms" >$folder/curve || bad "curve is not taken"
    grep -q '^slice_idle 3$' $folder/settings || bad "a curve changes slice_idle to $(grep '^slice_idle ' $folder/settings)"
    echo sptf >$folder/policy
    [ "$(cat $folder/curve) $(cat $folder/switches)" = "0 1000us $((switches + 1))" ] || bad "after a switch: $(cat $folder/curve), $(cat $folder/switches) switches"
    echo learned >$folder/curve
    [ "$(cat $folder/curve)" = learned ] || bad "learned leaves $(cat $folder/curve)"
    # Under load.
    echo "0 1ms 100000 9ms" >$folder/curve
    (job "load while the curve changes" --size=1m; echo over >/tmp/over) &
    while [ ! -e /tmp/over ]; do for text in learned "0 0us 4096 8ms"; do echo "$text" >$folder/curve || bad "curve under load"; done; done
    rm /tmp/over
    set_queue sda scheduler none
    [ "$(failures)" != "$wrong" ] || good "what is known of positioning times, and what is no curve"
}
