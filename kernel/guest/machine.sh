# machine: exact
# Real programs on ext4, on a disk that is a model: the simulator's machine is held against them (scripts/kernel/machine.sh).
# A program begins with cold caches; each scheduler has a new file system. Each line is
#
#   result: PROGRAM SCHEDULER MS READS READ_SECTORS WRITES WRITE_SECTORS FLUSHES COMMITS
#
# of each of its runs, with how long the program took, and what the kernel counted on the disk until the program ended. A flush that is no part of a
# commit is among the writes, too. `cost` lines have what calls cost without a disk, in nanoseconds. The recordings of the first scheduler leave the guest on a second disk, as a
# tar file.
. /tests/parts.sh
disk=$(argument disk)
insmod /modules/idlewise-disk.ko disks="$disk" || bad "the disk $disk cannot be had"
insmod /modules/idlewise.ko || bad "the schedulers cannot be had"

# As much may be dirty as on a machine whose programs and cache have so much memory, in MiB (Debian: 10 and 20 percent of it).
# The disk is kept in memory, too: without this the limits would fall from run to run.
memory=$(argument memory)
echo $((memory * 1048576 / 10)) >/proc/sys/vm/dirty_background_bytes
echo $((memory * 1048576 / 5)) >/proc/sys/vm/dirty_bytes

seed=$(printf '%08d-0000-4000-8000-000000000000' "$(argument seed)")
# Cold caches: what was changed lately stays in memory until the file system is left.
fresh_mount() {
    # What the kernel would do on its own beside the programs: fill the inode tables, and read all bitmaps.
    mount -t ext4 -o noatime,noinit_itable,no_prefetch_block_bitmaps /dev/iwdisk0 /mnt || { bad "no ext4"; finish; }
}
format() {
    mkfs.ext4 -q -F -U "$seed" -E hash_seed="$seed",nodiscard /dev/iwdisk0 >/tmp/mkfs 2>&1 || { bad "mkfs.ext4: $(cat /tmp/mkfs)"; finish; }
    fresh_mount
    plant /mnt/tree "$(argument seed)" "$files"
    # Small files share runs of blocks: those of the tree are to be the first.
    sync
    dd if=/dev/zero of=/mnt/large bs=1M count="$large" 2>/dev/null
    # ext4 puts small files behind the last ones that this processor wrote, wherever those lie, until the file system is left.
    umount /mnt || bad "the file system stays"
    fresh_mount
    sqlite3 /mnt/base.sqlite "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)" || bad "no sqlite"
    sync
}
# How often dd_cat runs: what it does hangs on the moment at which the reader begins.
repeats=$(argument repeats)
files=$(argument files) large=$(argument large) written=$(argument written) inserts=$(argument inserts)
# With a path, or busybox's own would run.
program_find() { /bin/find /mnt/tree -type f -exec /bin/cat {} \; >/dev/null; }
program_cp() { /bin/cp -r /mnt/tree /mnt/copy; }
program_dd_cat() { /bin/cat /mnt/large >/dev/null; }
# The writer has been writing for two seconds and more when the program begins, and ends after it.
before_dd_cat() {
    : >/tmp/writing
    while [ -e /tmp/writing ]; do /bin/dd if=/dev/zero of=/mnt/written bs=1M count="$written" 2>/dev/null; done &
    writer=$!
    sleep $(awk "BEGIN {print 2 + 0.1 * ($1 - 1) / $repeats}")
}
after_dd_cat() { rm /tmp/writing; wait $writer; rm /mnt/written; }
program_sqlite() {
    i=0
    while [ $i -lt "$inserts" ]; do
        i=$((i + 1))
        echo "INSERT INTO t (name) VALUES (printf('%080d', $i));"
    done | sqlite3 /mnt/base.sqlite
}
milliseconds() { awk '{printf "%d\n", $1 * 1000}' /proc/uptime; }
counts() {
    echo "$(awk '{print $1, $3, $5, $7, $16}' /sys/block/iwdisk0/stat) $(sed -n 's/ transactions.*//p' /proc/fs/jbd2/iwdisk0-8/info)"
}

# What the drive's buffer holds is replaced: it has at most 255 segments.
evict() {
    fio --output=/tmp/fio --eta=never --readonly --direct=1 --rw=randread --bs=4k --offset=50% --number_ios=300 \
        --randseed=7 --filename=/dev/iwdisk0 --name=evict || bad "the drive's buffer stays: $(cat /tmp/fio)"
}
# run PROGRAM SCHEDULER NUMBER REPEAT
run() {
    set_queue iwdisk0 scheduler none
    umount /mnt || bad "the file system stays"
    echo 3 >/proc/sys/vm/drop_caches
    fresh_mount
    evict
    set_queue iwdisk0 scheduler "$2" || bad "iwdisk0 does not take $2"
    recorder=
    if [ "$3" = 1 ]; then
        idlewise record /dev/iwdisk0 --output "/tmp/$1.rec.gz" --force >/tmp/record 2>&1 &
        recorder=$!
        i=0
        while ! grep -qs '^recording' /tmp/record && [ $i -lt 300 ]; do i=$((i + 1)); sleep 0.1; done
        [ $i -lt 300 ] || bad "the recorder of $1 does not begin"
    fi
    [ "$1" != dd_cat ] || before_dd_cat "$4"
    before=$(counts) begun=$(milliseconds)
    "program_$1" || bad "$1 under $2 fails"
    ended=$(milliseconds) after=$(counts)
    [ "$1" != dd_cat ] || after_dd_cat
    [ -z "$recorder" ] || { kill -INT $recorder; wait $recorder || bad "the recorder of $1: $(cat /tmp/record)"; }
    echo "result: $1 $2 $((ended - begun)) $(echo "$before $after" | awk '{for (i = 1; i <= 6; i++) printf "%d ", $(i + 6) - $i}')"
}
# timed NAME COUNT COMMAND…: what each of COUNT costs. Everything is in memory.
timed() {
    name=$1 count=$2
    shift 2
    "$@" >/dev/null
    read -r begun _ </proc/uptime
    for again in 1 2 3 4; do "$@" >/dev/null; done
    read -r ended _ </proc/uptime
    echo "cost: $name $(echo "$begun $ended" | awk -v n="$count" '{printf "%d", ($2 - $1) * 1e9 / n / 4}')"
}
# spent NAME COUNT COMMAND…: what each of COUNT costs the processor, whoever runs, with a disk.
idle() { awk '/^cpu / {print ($5 + $6) / 100}' /proc/stat; }
spent() {
    name=$1 count=$2
    shift 2
    sync
    echo 3 >/proc/sys/vm/drop_caches
    read -r begun _ </proc/uptime
    before=$(idle)
    "$@" >/dev/null 2>&1
    read -r ended _ </proc/uptime
    echo "cost: $name $(echo "$begun $ended $before $(idle)" | awk -v n="$count" '{printf "%d", ($2 - $1 - $4 + $3) * 1e9 / n}')"
}
# As much as may be dirty without being written at once.
fresh_copy() { /bin/cp -r /mnt/tree "/mnt/copy-$again"; }
fresh_file() { /bin/dd if=/dev/zero of="/mnt/file-$again" bs=1M count=12 2>/dev/null; }

number=0
for scheduler in $(argument schedulers | tr , ' '); do
    number=$((number + 1))
    format
    for program in $(argument programs | tr , ' '); do
        times=1
        [ "$program" != dd_cat ] || times=$repeats
        for repeat in $(seq "$times"); do run "$program" "$scheduler" $((number + repeat - 1)) "$repeat"; done
    done
    if [ $number = 1 ]; then
        (cd /tmp && tar -cf /dev/vda -- *.rec.gz) || bad "the recordings stay here"
        timed "find: a file" "$files" /bin/find /mnt/tree -type f
        timed "find -exec cat: a file" "$files" /bin/find /mnt/tree -type f -exec /bin/cat {} \;
        timed "cat: a page" $((large * 256)) /bin/cat /mnt/large
        again=0
        spent "cat: a page from the disk" $((large * 256)) /bin/cat /mnt/large
        timed "dd: a page" 3072 fresh_file
        spent "dd: a page to the disk" $((large * 256)) /bin/dd if=/dev/zero of=/mnt/file bs=1M count="$large" conv=fsync
        sync
        again=0
        timed "cp: a file" "$files" fresh_copy
        say "writeback is throttled at a read latency of $(queue iwdisk0 wbt_lat_usec) us"
    fi
    umount /mnt || bad "the file system stays"
done
clean_log machine
