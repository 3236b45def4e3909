# The parts that the tests are made of. Read after common.sh.

# plant FOLDER SEED COUNT: a tree of small files. Sizes are log-normal with a median of 6 KB and a mean of 12 KB.
plant() {
    mkdir "$1"
    mawk -v n="$3" -v seed="$2" 'BEGIN {
        srand(seed)
        for (i = 0; i < n; i++) {
            size = 6144 * exp(1.177 * sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()))
            print int(i / 16), i, int(size) + 1
        }
    }' | while read -r folder file size; do
        [ -d "$1/$folder" ] || mkdir "$1/$folder"
        head -c "$size" /dev/urandom >"$1/$folder/$file"
    done
}

# each_elevator [NAMES]: data written and read back under each, counters that balance.
each_elevator() {
    start=$(seconds) count=0
    for elevator in ${1:-$(elevators sda)}; do
        for device in $devices; do
            set_queue "$device" scheduler "$elevator" || bad "$device does not take $elevator"
        done
        begun=$(seconds)
        job "$elevator" && balanced "$elevator"
        [ $(($(seconds) - begun)) -lt 6 ] || say "$elevator took $(($(seconds) - begun)) s"
        count=$((count + 1))
    done
    good "$count elevators on $(echo $devices | wc -w) devices, all data verified, $(($(seconds) - start)) s"
}

# beside DEVICE: until beside_ends data is written to another disk, and verified.
beside() {
    echo go >/tmp/running
    set_queue "$1" scheduler cas
    (
        devices=$1 output=/tmp/other
        while [ -e /tmp/running ]; do job "the other disk" --size=512k || break; done
        balanced "the other disk"
        echo over >/tmp/over
    ) &
}
beside_ends() {
    rm /tmp/running
    while [ ! -e /tmp/over ]; do sleep 0.1; done
}

# A slow disk that takes one command at a time: requests wait, and neighbours join at both ends.
merging() {
    rmmod scsi_debug
    scsi_device ndelay=20000000 max_queue=1
    all="$devices"
    devices=sda
    for elevator in noop iw-deadline cfq idlewise; do
        for rw in write write:-8k; do
            set_queue sda scheduler none
            set_queue sda scheduler "$elevator"
            # Unplugged: each write meets those that wait.
            job "merging under $elevator" --rw="$rw" --verify_backlog=0 --iodepth_batch_submit=1 --size=512k --numjobs=1 --offset=32m
            merged=$(queue sda iosched/merged)
            [ "$merged" -gt 10 ] || bad "$elevator merges $merged of 128 writes ($rw)"
            balanced "merging under $elevator" any
        done
    done
    devices="$all"
    rmmod scsi_debug
    scsi_device ndelay=20000 max_queue=16
    good "merging at both ends"
}

# The block layer splits a large read: all parts but the last say that more follows, and nothing else does.
splitting() {
    for elevator in noop antic-sptf; do
        set_queue sda scheduler none
        set_queue sda max_sectors_kb 128
        set_queue sda scheduler "$elevator" || bad "sda does not take $elevator"
        for size in 1m 64k; do
            fio --name=split --filename=/dev/sda --rw=read --direct=1 --bs=$size --size=4m >/tmp/fio.out 2>&1 || bad "fio fails at $size"
        done
        [ "$(queue sda iosched/split)" = 28 ] || bad "$elevator: $(queue sda iosched/split) requests said that more follows, not 28"
    done
    set_queue sda scheduler none
    set_queue sda max_sectors_kb "$(queue sda max_hw_sectors_kb)"
    good "parts of what the block layer splits say that more follows"
}

# A disk that transfers only half of what every seventh read wants: the rest comes back and goes first.
requeueing() {
    rmmod scsi_debug
    scsi_device ndelay=20000 max_queue=16
    echo 0x100 >/sys/bus/pseudo/drivers/scsi_debug/opts
    echo 7 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
    all="$devices"
    devices=sda
    for elevator in noop cfq idlewise; do
        set_queue sda scheduler none
        set_queue sda scheduler "$elevator"
        job "requeueing under $elevator" --bs=8k
        requeued=$(queue sda iosched/requeued)
        [ "$requeued" -gt 5 ] || bad "$elevator: $requeued requests came back"
        balanced "requeueing under $elevator" any
    done
    devices="$all"
    rmmod scsi_debug
    scsi_device ndelay=20000 max_queue=16
    good "what a device gives back goes to it again"
}

# refused FILE VALUE: writing it is an error and changes nothing.
refused() {
    before=$(cat "$1")
    if echo "$2" 2>/dev/null >"$1"; then bad "$1 takes $2"; fi
    [ "$(cat "$1")" = "$before" ] || bad "$1 was $before, is $(cat "$1") after a write that failed"
}

tunables() {
    set_queue sda scheduler iw-deadline
    folder=/sys/block/sda/queue/iosched
    [ "$(cat $folder/read_expire)" = 500 ] || bad "read_expire is $(cat $folder/read_expire), not 500"
    echo 250 >$folder/read_expire && [ "$(cat $folder/read_expire)" = 250 ] || bad "read_expire does not take 250"
    refused $folder/read_expire 99999999999
    refused $folder/read_expire fast
    refused $folder/read_expire -1
    refused $folder/inserted 5
    # Each tunable of each elevator takes what it shows.
    for elevator in $(elevators sda); do
        set_queue sda scheduler "$elevator"
        for file in $(find "$folder" -type f -perm -200); do
            case $file in */policy | */settings | */matrix) continue ;; esac
            read -r shown <"$file"
            echo "$shown" >"$file" && read -r again <"$file" && [ "$again" = "$shown" ] ||
                bad "$elevator: ${file##*/} does not take its own $shown"
        done
    done
    set_queue sda scheduler none
    set_queue sda rotational 1
    set_queue sda scheduler idlewise
    echo cfq >$folder/policy
    grep -q '\[cfq\]' $folder/policy || bad "policy does not say cfq"
    echo "slice_idle 3" >$folder/settings && grep -q '^slice_idle 3$' $folder/settings || bad "settings does not take slice_idle 3"
    refused $folder/policy nonsense
    echo "auto goal=lowest period=5000" >$folder/policy || bad "policy does not take auto"
    grep -q '\[noop\].* \[auto-matrix\] ' $folder/policy || bad "auto shows $(cat $folder/policy)"
    refused $folder/policy "auto goal=best"
    refused $folder/policy "auto period"
    echo cfq >$folder/policy
    grep -q '\[cfq\].* auto-matrix ' $folder/policy && [ -z "$(cat $folder/auto)" ] || bad "a choice by hand leaves auto on"
    refused $folder/settings "slice_idle 99999999999"
    refused $folder/settings "nonsense 1"
    good "tunables"
}

# A process that read and is gone, is noticed.
noticing() {
    set_queue sda scheduler none
    set_queue sda scheduler cas
    number=0
    while [ $number -lt 5 ]; do
        echo 3 >/proc/sys/vm/drop_caches
        dd if=/dev/sda of=/dev/null bs=4k count=4 skip=$((number * 100)) 2>/dev/null
        number=$((number + 1))
    done
    [ "$(queue sda iosched/exits)" -ge 5 ] && good "exits of processes are noticed" || bad "of 5 exits, $(queue sda iosched/exits) were noticed"
    # Two that live at a time, with numbers that end alike in binary.
    set_queue sda scheduler none
    set_queue sda scheduler cas
    # Nobody reads what they write.
    mkfifo /tmp/full
    exec 4<>/tmp/full
    for number in 12345 28729; do
        echo $((number - 1)) >/proc/sys/kernel/ns_last_pid
        dd if=/dev/sda of=/tmp/full bs=128k iflag=direct 2>/dev/null &
        [ $! = $number ] || bad "a process that should be $number is $!"
        sleep 0.5
    done
    kill 12345
    sleep 0.2
    kill 28729
    wait 12345 28729
    exec 4>&-
    [ "$(queue sda iosched/exits)" = 2 ] && good "exits of numbers that end alike are noticed" ||
        bad "of 2 numbers that end alike, the exits of $(queue sda iosched/exits) were noticed"
    # Two threads of one process are two issuers, or one.
    for kind in thread process; do
        set_queue sda iosched/issuer $kind || bad "$kind is no issuer"
        fio --output=/tmp/fio --thread --filename=/dev/sda --direct=1 --rw=read --bs=4k --numjobs=2 --runtime=3 --time_based --name=two &
        sleep 2
        count=$(queue sda iosched/issuers)
        [ "$kind $count" = "thread 2" ] || [ "$kind $count" = "process 1" ] && good "two threads are $count issuers by $kind" ||
            bad "two threads are $count issuers by $kind"
        wait $!
        [ "$(queue sda iosched/issuers)" = 0 ] || bad "$(queue sda iosched/issuers) threads are left by $kind"
    done
    refused /sys/block/sda/queue/iosched/issuer nobody
    set_queue sda iosched/issuer thread
    # What a process writes when its files are closed for it, it does not write as an issuer who would never exit.
    (exec 3>/dev/sda; echo dirty >&3)
    sleep 0.5
    [ "$(queue sda iosched/issuers)" = 0 ] && good "no issuer is left" || bad "$(queue sda iosched/issuers) issuers are left that are gone"
}

# Each allocation fails once, of a scheduler for a device and of a policy: the write is an error, and the
# device goes on.
memory_runs_out() {
    parameter=/sys/module/idlewise/parameters/fail_allocation
    points=0
    for elevator in noop cas cfq antic-aged-sptf iw-bfq; do
        number=1
        while set_queue sda scheduler none; echo $number >$parameter; ! set_queue sda scheduler $elevator; do
            read -r chosen </sys/block/sda/queue/scheduler
            case $chosen in *"[none]"*) ;; *) bad "$elevator is there without memory" ;; esac
            number=$((number + 1))
        done
        [ $number -gt 4 ] || bad "$elevator was built with $number failures"
        points=$((points + number - 1))
    done
    echo 0 >$parameter
    turned 1
    folder=/sys/block/sda/queue/iosched
    for policy in cas auto; do
        echo 0 >$parameter
        echo noop >$folder/policy
        number=1
        while echo $number >$parameter; ! echo $policy 2>/dev/null >$folder/policy; do
            read -r chosen <$folder/policy
            case $chosen in *"[noop]"*" auto-matrix "*) ;; *) bad "the policy changed without memory for $policy" ;; esac
            number=$((number + 1))
        done
        points=$((points + number - 1))
    done
    echo 0 >$parameter
    job "after memory ran out" && balanced "after memory ran out" any
    good "memory ran out at $points places, each an error to the writer"
}

# One number from 0 to $1 - 1, anew each time.
random() { echo $((($(hexdump -n 4 -e '"%u"' /dev/urandom) % $1 + $1) % $1)); }
one_of() { shift "$(random $#)"; echo "$1"; }

# switching N: under load, N switches of the elevator, N of the policy, N changes of nr_requests.
switching() {
    start=$(seconds)
    names="$(elevators sda) mq-deadline none"
    for device in $devices; do set_queue "$device" scheduler idlewise; done
    for device in $devices; do policies=$(every_policy "$device"); done
    for kind in policy nr_requests scheduler; do
        echo go >/tmp/running
        (while [ -e /tmp/running ]; do job "load while $kind changes" --size=512k || break; done; echo over >/tmp/over) &
        number=0
        while [ $number -lt "$1" ]; do
            for device in $devices; do
                case $kind in
                    policy) set_queue "$device" iosched/policy "$(one_of $policies)" || bad "policy on $device" ;;
                    nr_requests) set_queue "$device" nr_requests "$(one_of 4 16 31 64 200 256)" || bad "nr_requests on $device" ;;
                    scheduler) set_queue "$device" scheduler "$(one_of $names)" || bad "scheduler on $device" ;;
                esac
            done
            number=$((number + 1))
        done
        rm /tmp/running
        while [ ! -e /tmp/over ]; do sleep 0.1; done
        rm /tmp/over
        [ $kind = scheduler ] || balanced "switching $kind" any
        good "$((number * $(echo $devices | wc -w))) changes of $kind under load, $(($(seconds) - start)) s"
    done
    for device in $devices; do set_queue "$device" nr_requests 64; done
}

# A module in use stays.
busy() {
    set_queue sda scheduler cas
    if rmmod idlewise 2>/dev/null; then bad "the module went away while used"; else good "rmmod is refused while used"; fi
    for device in $devices; do set_queue "$device" scheduler none; done
}

# loading N: unload and load, with the elevator used in between.
loading() {
    number=0
    while [ $number -lt "$1" ]; do
        rmmod idlewise || { bad "unloading, time $number"; return; }
        insmod /modules/idlewise.ko test_hooks=1 || { bad "loading, time $number"; return; }
        for device in $devices; do set_queue "$device" scheduler cfq; done
        job "after loading" --size=64k
        for device in $devices; do set_queue "$device" scheduler none; done
        number=$((number + 1))
    done
    good "$number times unloaded and loaded"
}
