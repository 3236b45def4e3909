# machine: exact
# The papers' experiments with real programs on a real file system, on a disk that is a model. Each line is
# `result: EXPERIMENT SCHEDULER NUMBER`; scripts/kernel/papers.sh makes a table of them.
. /tests/parts.sh
insmod /modules/idlewise-disk.ko disks=deskstar-34gxp || bad "the disk cannot be had"
insmod /modules/idlewise.ko || bad "the schedulers cannot be had"
result() { echo "result: $*"; }

# Two partitions of 1 GB, as far apart as the files in the simulator. Each is mapped from its beginning: fio's mmap
# engine forgets an offset.
entry() { printf '\0\0\0\0\203\0\0\0'; for shift in 0 8 16 24; do printf "\\$(printf %o $(($1 >> shift & 255)))"; done; printf '\0\0\040\0'; }
{ entry 2048; entry $((2048 + 2374 * 2048)); } | dd of=/dev/iwdisk0 bs=1 seek=446 conv=notrunc 2>/dev/null
printf '\125\252' | dd of=/dev/iwdisk0 bs=1 seek=510 conv=notrunc 2>/dev/null
blockdev --rereadpt /dev/iwdisk0
[ -b /dev/iwdisk0p2 ] || bad "no partitions"

# readers SCHEDULER ENGINE SIZE: two synchronous readers, each of a file of its own (SOSP'01 §4.1); KB/s of both.
readers() {
    set_queue iwdisk0 scheduler none
    set_queue iwdisk0 scheduler "$1" || bad "iwdisk0 does not take $1"
    fio --minimal --ioengine="$2" $3 --rw=read --time_based --runtime="$(argument seconds)" --size=1g --invalidate=1 \
        --group_reporting --name=a --filename=/dev/iwdisk0p1 --name=b --filename=/dev/iwdisk0p2 >/tmp/terse 2>/dev/null
    cut -d ';' -f 7 /tmp/terse
}
for scheduler in $(argument readers | tr , ' '); do
    result "readers $scheduler $(readers "$scheduler" psync "--direct=1 --bs=64k")"
done
# By mmap, without read-ahead, a page fault reads a page. What a fault costs besides: that of a device that takes no
# time, in nanoseconds.
if [ -n "$(argument mapped)" ]; then
    insmod /modules/null_blk.ko nr_devices=1 submit_queues=1 queue_mode=2 irqmode=0 gb=1
    set_queue nullb0 read_ahead_kb 0
    fio --minimal --ioengine=mmap --bs=4k --rw=read --time_based --runtime=1 --size=1g --invalidate=1 \
        --filename=/dev/nullb0 --name=fault >/tmp/terse 2>/dev/null
    result "fault null $((4000000000 / $(cut -d ';' -f 7 /tmp/terse)))"
fi
ahead=$(queue iwdisk0 read_ahead_kb)
set_queue iwdisk0 read_ahead_kb 0
for scheduler in $(argument mapped | tr , ' '); do
    result "mapped $scheduler $(readers "$scheduler" mmap "--bs=4k")"
done
set_queue iwdisk0 read_ahead_kb "$ahead"
# Two readers of scattered blocks at the priority levels 0 and 4, whose weights are as 2 to 1 (SOSP'01 §4.7): hundredths
# of what the second got that the first got. BFQ's raising of whoever is new would hide them.
for scheduler in $(argument shares | tr , ' '); do
    set_queue iwdisk0 scheduler none
    set_queue iwdisk0 scheduler "$scheduler" || bad "iwdisk0 does not take $scheduler"
    case $scheduler in *bfq) set_queue iwdisk0 iosched/low_latency 0 ;; esac
    fio --minimal --ioengine=psync --direct=1 --bs=64k --rw=randread --norandommap --time_based --runtime="$(argument seconds)" \
        --size=1g --prioclass=2 --name=a --filename=/dev/iwdisk0p1 --prio=0 --name=b --filename=/dev/iwdisk0p2 --prio=4 \
        2>/dev/null | cut -d ';' -f 6 >/tmp/terse
    read -r first </tmp/terse
    result "shares $scheduler $((first * 100 / $(tail -n 1 /tmp/terse)))"
done
dd if=/dev/zero of=/dev/iwdisk0 bs=512 count=1 2>/dev/null
blockdev --rereadpt /dev/iwdisk0

# A tree of small files and a large one, on ext4.
set_queue iwdisk0 scheduler none
# Where its folders lie follows from the seed of its hash.
seed=$(printf '%08d-0000-4000-8000-000000000000' "$(argument seed)")
mkfs.ext4 -q -U "$seed" -E hash_seed="$seed",lazy_itable_init=0,nodiscard -J size=16 /dev/iwdisk0 4g >/tmp/mkfs 2>&1 || { bad "mkfs.ext4: $(cat /tmp/mkfs)"; finish; }
# As the papers' kernels had it, and the simulator's streams have it: Linux 7 reads 2560 KB ahead.
set_queue iwdisk0 read_ahead_kb 128
set_queue iwdisk0 max_sectors_kb 128
mount -t ext4 -o noatime /dev/iwdisk0 /mnt || bad "no ext4"
files=$(argument files)
plant /mnt/one 1 "$files"
dd if=/dev/zero of=/mnt/large bs=1M count="$(argument large)" 2>/dev/null
plant /mnt/two 2 "$files"
sync
[ "$(find /mnt/one /mnt/two -type f | wc -l)" = $((2 * files)) ] || bad "the trees are not complete"

cold() { # SCHEDULER
    # Without a scheduler a read may wait behind a stream for longer than the guest allows: that is the kernel's doing.
    case $1 in none) patience=0 ;; *) patience=30 ;; esac
    echo $patience 2>/dev/null >/proc/sys/kernel/hung_task_timeout_secs
    sync
    echo 3 >/proc/sys/vm/drop_caches
    set_queue iwdisk0 scheduler none
    set_queue iwdisk0 scheduler "$1" || bad "iwdisk0 does not take $1"
}
hundredths() { awk '{printf "%d\n", $1 * 100}' /proc/uptime; }
stream() { while [ -e /tmp/streaming ]; do cat /mnt/large; done >/dev/null; }

# chain SCHEDULER: `cat` of the large file without end beside `find -exec cat` (OLS'05 §5.5); hundredths of a second.
chain() {
    cold "$1"
    : >/tmp/streaming
    stream &
    sleep 2
    begun=$(hundredths)
    find /mnt/one -type f -exec cat {} \; >/dev/null
    ended=$(hundredths)
    rm /tmp/streaming
    kill $! 2>/dev/null
    for one in $(pidof cat); do kill "$one"; done
    wait
    echo $((ended - begun))
}
# chains SCHEDULER: `find -exec cat` over two trees at once (OLS'05 §5.6).
chains() {
    cold "$1"
    begun=$(hundredths)
    find /mnt/one -type f -exec cat {} \; >/dev/null &
    find /mnt/two -type f -exec cat {} \; >/dev/null
    wait
    echo $(($(hundredths) - begun))
}
# writing SCHEDULER: `dd` writes a stream while `dd` reads one (OLS'05 §5.4); KB/s that the reader gets.
writing() {
    cold "$1"
    dd if=/dev/zero of=/mnt/written bs=1M count=1000 2>/dev/null &
    writer=$!
    sleep 2
    begun=$(hundredths)
    dd if=/mnt/large of=/dev/null bs=1M count=32 2>/dev/null
    echo $((32 * 1024 * 100 / ($(hundredths) - begun)))
    kill $writer
    wait
    rm /mnt/written
}
for scheduler in $(argument chain | tr , ' '); do result "chain $scheduler $(chain "$scheduler")"; done
for scheduler in $(argument chains | tr , ' '); do result "chains $scheduler $(chains "$scheduler")"; done
for scheduler in $(argument writing | tr , ' '); do result "writing $scheduler $(writing "$scheduler")"; done
umount /mnt || bad "the file system stays"
clean_log papers
