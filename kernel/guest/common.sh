# Functions that all tests in the guest use. Each check that fails prints a line `not ok: …`; the last line says
# how many did. Read by busybox's shell.

# Counted in a file, since parts of a test run in the background.
: >/tmp/failures
failures() { wc -l </tmp/failures; }
say() { echo "# $*"; }
bad() { echo "not ok: $*"; echo "$*" >>/tmp/failures; }
good() { echo "ok: $*"; }
argument() { tr ' ' '\n' </proc/cmdline | sed -n "s/^iw\.$1=//p"; }
seconds() { cut -d . -f 1 /proc/uptime; }

# The kernel's log has none of what a broken elevator leaves there, but what the test names in $expected.
clean_log() {
    if dmesg | grep -vE "${expected:-^$}" | grep -E 'WARNING:|BUG:|kernel BUG|Oops|blocked for more than|soft lockup|I/O error|rcu.*stall|KASAN|possible circular|sleeping function' >/tmp/complaints; then
        bad "$1: the kernel complains: $(head -n 1 /tmp/complaints)"
        dmesg | grep -A 30 -E 'WARNING:|BUG:|kernel BUG|Oops|blocked for' | head -n 60
    else
        good "$1: the kernel's log is clean"
    fi
}

finish() {
    echo "done: $(failures) failures, $(seconds) s"
    sync
    reboot -f
    while :; do sleep 1; done
}

# null_device NAME QUEUES: memory behind blk-mq, completed in softirq.
null_device() {
    folder=/sys/kernel/config/nullb/$1
    mkdir "$folder"
    echo 64 >"$folder/size"
    echo 1 >"$folder/memory_backed"
    echo "$2" >"$folder/submit_queues"
    echo 512 >"$folder/blocksize"
    echo 1 >"$folder/irqmode"
    echo 1 >"$folder/power"
}

scsi_device() {
    insmod /modules/scsi_debug.ko dev_size_mb=64 "$@"
    while [ ! -b /dev/sda ]; do sleep 0.1; done
}

all_devices() {
    insmod /modules/null_blk.ko nr_devices=0
    null_device nullone 1
    null_device nulltwo 2
    scsi_device ndelay=20000 max_queue=16
    insmod /modules/idlewise-disk.ko disks=sata-ssd
    devices="$(ls /sys/block | grep -E '^(null|sda|iwdisk)' | tr '\n' ' ')"
    say "devices: $devices"
}

queue() { cat "/sys/block/$1/queue/$2"; }
set_queue() { echo "$3" 2>/dev/null >"/sys/block/$1/queue/$2"; }

# The elevators that the module has registered.
elevators() {
    queue "$1" scheduler | tr -d '[]' | tr ' ' '\n' | grep -vxE 'none|mq-deadline|kyber|bfq|'
}

# job LABEL OPTION…: fio on all devices, two processes each, all data verified by crc32c. What fio says goes to $output.
output=/tmp/fio
job() {
    label=$1
    shift
    jobs=
    for device in $devices; do jobs="$jobs --name=$device --filename=/dev/$device"; done
    if ! fio --output="$output" --ioengine=libaio --direct=1 --thread --randrepeat=1 --numjobs=2 --offset_increment=24m \
        --verify=crc32c --verify_fatal=1 --iodepth=16 --bs=4k --size=256k --rw=randwrite --verify_backlog=64 \
        --group_reporting "$@" $jobs >"$output.out" 2>&1; then
        bad "$label: fio fails"
        cat "$output.out" "$output" 2>&1 | grep -v 'no version information' | head -n 20
        return 1
    fi
    grep -q 'err= *[1-9]' "$output" && bad "$label: fio saw errors"
    return 0
}

# All requests that went in came out: inserted = absorbed + dispatched, dispatched = completed, nothing is left.
balanced() {
    local in_flight waiting inserted absorbed dispatched completed
    for device in $devices; do
        folder=/sys/block/$device/queue/iosched
        [ -e "$folder/inserted" ] || { bad "$1: $device has no counters"; continue; }
        tries=0
        while read -r in_flight <$folder/in_flight; read -r waiting <$folder/waiting; [ "$in_flight$waiting" != 00 ] && [ $tries -lt 50 ]; do
            tries=$((tries + 1))
            sleep 0.1
        done
        for counter in inserted absorbed dispatched completed; do read -r "$counter" <$folder/$counter; done
        left="$waiting wait, $in_flight in flight"
        if [ $((inserted - absorbed)) != "$dispatched" ] || [ "$dispatched" != "$completed" ] || [ "$left" != "0 wait, 0 in flight" ]; then
            bad "$1 on $device: inserted $inserted, absorbed $absorbed, dispatched $dispatched, completed $completed; $left"
        fi
        [ "${2:-}" = any ] || [ "$completed" -gt 100 ] || bad "$1 on $device: only $completed requests"
    done
}
