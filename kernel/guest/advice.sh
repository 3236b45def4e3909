# machine: exact
# Ten loads of real programs, each under every scheduler of a list, on a disk that is a model. A load is a fixed amount
# of work on ext4, begun with cold caches, the drive's too, and from the same image of what it changes. Each line is
#
#   result: LOAD SCHEDULER MS READS READ_MS WRITES WRITE_MS SECTORS
#
# with how long all of it took, and what the kernel counted on the disk meanwhile. All runs are recorded; the recording of
# the first is kept as LOAD-SCHEDULER.rec.gz. The recordings leave the guest on a second disk, as a tar file.
# scripts/kernel/advice.sh makes a table.
. /tests/parts.sh
disk=$(argument disk)
insmod /modules/idlewise-disk.ko disks="$disk" || bad "the disk $disk cannot be had"
insmod /modules/idlewise.ko || bad "the schedulers cannot be had"

set_queue iwdisk0 scheduler mq-deadline
# What is read lies on the first partition, and what is changed on the second, which is small.
printf '%s\n' n p 1 '' +4096M n p 2 '' "+$(argument work)M" w | fdisk /dev/iwdisk0 >/tmp/fdisk 2>&1
[ -b /dev/iwdisk0p2 ] || { bad "no partitions: $(cat /tmp/fdisk)"; finish; }
format() { # PARTITION FOLDER
    seed=$(printf '%08d-0000-4000-8000-00000000000%d' "$(argument seed)" "$1")
    mkfs.ext4 -q -U "$seed" -E hash_seed="$seed",lazy_itable_init=0,nodiscard -J size=16 "/dev/iwdisk0p$1" >/tmp/mkfs 2>&1 ||
        { bad "mkfs.ext4: $(cat /tmp/mkfs)"; finish; }
    mkdir "$2"
    mount -t ext4 -o noatime,no_prefetch_block_bitmaps "/dev/iwdisk0p$1" "$2" || bad "no ext4"
}
format 1 /mnt/read
format 2 /mnt/loads
plant /mnt/read/tree "$(argument seed)" "$(argument files)"
large=$(argument large)
dd if=/dev/zero of=/mnt/read/large bs=1M count="$large" 2>/dev/null
sqlite3 /mnt/loads/base.sqlite "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value INTEGER);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO t SELECT i, hex(randomblob(40)), i FROM n; CREATE INDEX tn ON t (name);" || bad "no sqlite"
if [ -e /postgres.tar ]; then
    mkdir /mnt/loads/postgres
    tar -xf /postgres.tar -C /mnt/loads/postgres
    chown -R 70:70 /mnt/loads/postgres
fi
sync
umount /mnt/loads
dd if=/dev/iwdisk0p2 of=/tmp/image bs=1M 2>/dev/null || bad "no image"

chmod 1777 /tmp
mkdir -p /dev/shm && mount -t tmpfs shm /dev/shm
as_postgres() { su -s /bin/sh -c "$*" postgres; }
server_start() {
    as_postgres "pg_ctl -D /mnt/loads/postgres -w -l /tmp/postgres.log -o '-k /tmp -h \"\" -c max_connections=20' start" >/dev/null ||
        { bad "no PostgreSQL"; cat /tmp/postgres.log; }
}
server_stop() { as_postgres "pg_ctl -D /mnt/loads/postgres -m fast stop" >/dev/null; }

# The loads. `+` joins two that run at the same time.
load_streams() {
    fio --output=/tmp/fio --thread --ioengine=psync --rw=read --bs=64k --invalidate=0 --filename=/mnt/read/large \
        --size=$((large / 4))m --offset_increment=$((large / 4))m --numjobs=4 --name=streams
}
load_random() {
    fio --output=/tmp/fio --thread --ioengine=libaio --direct=1 --rw=randread --bs=4k --iodepth=16 --randseed=7 \
        --filename=/mnt/read/large --size="${large}m" --number_ios="$(argument ios)" --name=random
}
# Somebody thinks between two commits, for up to a turn of the disk and in each run otherwise: a commit that follows at
# once keeps step with the platter, where a microsecond decides for all of them whether they have to wait for another turn.
load_sqlite() {
    statements=/tmp/statements results=/tmp/rows
    rm -f $statements $results
    mkfifo $statements $results
    sqlite3 /mnt/loads/base.sqlite >"$results" <"$statements" &
    # Each end of a pipe waits for the other one: in the order in which the line above opens them.
    exec 4<$results 3>$statements
    i=0
    while [ $i -lt "$(argument commits)" ]; do
        i=$((i + 1))
        # Scattered, and the same in each run.
        scattered=$((i * 2654435761 % 4294967296))
        echo "UPDATE t SET value = value + 1, name = printf('%080d', $scattered) WHERE id = $((scattered % 20000 + 1));
            SELECT $i;" >&3
        read -r row <&4
        [ "$row" = $i ] || return 1
        sleep 0.00$(((scattered / 8 + number * 5) % 9))
    done
    exec 3>&-
    wait
}
load_pgbench() { pgbench -h /tmp -U postgres -n --random-seed=7 -c 4 -t "$(argument transactions)" postgres; }
load_tar() { tar -cf - /mnt/read/tree 2>/dev/null | cat >/dev/null; }
load_find() { find /mnt/read/tree -type f -exec cat {} \; >/dev/null; }
load_write() { dd if=/dev/zero of=/mnt/loads/written bs=1M count=$((large / 2)) conv=fsync 2>/dev/null; }
load_read() { dd if=/mnt/read/large of=/dev/null bs=1M 2>/dev/null; }

milliseconds() { awk '{printf "%d\n", $1 * 1000}' /proc/uptime; }
counts() { awk '{print $1, $4, $5, $8, $3 + $7}' /sys/block/iwdisk0/stat; }

# elevator NAME[:SETTING=VALUE…]
elevator() {
    set_queue iwdisk0 scheduler none
    set_queue iwdisk0 scheduler "${1%%:*}" || bad "iwdisk0 does not take $1"
    for setting in $(echo "$1" | tr ':' '\n' | sed 1d); do
        set_queue iwdisk0 "iosched/${setting%%=*}" "${setting#*=}" || bad "$1 takes no ${setting%%=*}"
    done
}
# What the drive's buffer holds of the last run would make this one faster. A drive has at most 255 segments, so more
# reads than that, elsewhere and far from each other, replace them all.
evict() {
    fio --output=/tmp/fio --eta=never --readonly --direct=1 --rw=randread --bs=4k --offset=50% --number_ios=300 \
        --randseed=7 --filename=/dev/iwdisk0 --name=evict || bad "the drive's buffer stays: $(cat /tmp/fio)"
}
# run LOAD SCHEDULER NUMBER: the recording of the first is kept.
run() {
    elevator none
    case $1 in *sqlite* | *pgbench* | *write*)
        dd if=/tmp/image of=/dev/iwdisk0p2 bs=1M 2>/dev/null || bad "the image does not go back" ;;
    esac
    mount -t ext4 -o noatime,no_prefetch_block_bitmaps /dev/iwdisk0p2 /mnt/loads || bad "no ext4"
    case $1 in *pgbench*) server_start ;; esac
    sync
    echo 3 >/proc/sys/vm/drop_caches
    evict
    elevator "$2"
    recording=$(echo "$1-$2" | tr ':=' '__').rec.gz
    [ "$3" = 1 ] || recording=again.gz
    idlewise record /dev/iwdisk0 --output "/tmp/$recording" --force >/tmp/record 2>&1 &
    recorder=$!
    i=0
    while ! grep -q '^recording' /tmp/record && [ $i -lt 300 ]; do i=$((i + 1)); sleep 0.1; done
    [ $i -lt 300 ] || bad "the recorder of $1 under $2 does not begin"
    before=$(counts) begun=$(milliseconds)
    for part in $(echo "$1" | tr + ' '); do "load_$part" >"/tmp/$part.out" 2>&1 & parts="$parts $!"; done
    for part in $parts; do wait "$part" || bad "$1 under $2 fails: $(tail -n 3 /tmp/*.out)"; done
    ended=$(milliseconds) parts=
    sync
    echo "result: $1 $2 $((ended - begun)) $(echo "$before $(counts)" |
        awk '{for (i = 1; i <= 5; i++) printf "%d ", $(i + 5) - $i}')" | tee -a /tmp/results
    kill -INT "$recorder"
    wait "$recorder" || bad "the recorder of $1 under $2: $(cat /tmp/record)"
    case $1 in *pgbench*) elevator none; server_stop ;; esac
    umount /mnt/loads || bad "the file system stays"
}
# Ours are those that the module has registered, unless they are named; not the one that chooses among them.
schedulers=$(argument schedulers | tr , ' ')
if [ -n "$(argument ours)" ]; then
    schedulers="$schedulers $(argument ours | tr , ' ')"
else
    schedulers="$schedulers $(elevators iwdisk0 | grep -vx idlewise)"
fi
# advised LOAD: what `idlewise advise` says of the recording under mq-deadline, by the name under which it ran.
advised() {
    ran=$(for scheduler in $schedulers; do in_idlewise "$scheduler"; done | sort -u | tr '\n' ,)
    choice=$(idlewise advise --json --schedulers "${ran%,}" "/tmp/$1-mq-deadline.rec.gz" |
        sed -n '/^      "scheduler": /{s/.*: "//; s/".*//; s/=off/=0/; s/=on/=1/; p; q}')
    for scheduler in $schedulers; do [ "$(in_idlewise "$scheduler")" != "$choice" ] || echo "$scheduler"; done | head -n 1
}
idlewise list schedulers | sed -n 's/^\([^ ]\+\).*/\1/p' >/tmp/known
# in_idlewise NAME: the modules put `iw-` before a name that the kernel has too, and the kernel's names are short.
in_idlewise() {
    plain=${1#iw-} name=${1#iw-} name=${name%%:*}
    known=$(grep -x -- "$name" /tmp/known || grep -m 1 -- "^$name" /tmp/known) || known=$name
    echo "$known$(echo "${plain#"$name"}" | sed 's/:/;/g; s/^;/:/')"
}
# finalists LOAD: the six fastest, the one that is advised, and those with which all are compared.
finalists() {
    (sort -n -k 4 /tmp/results | awk -v load="$1" '$2 == load {print $3}' | head -n 6
        advised "$1"
        argument schedulers | tr , '\n' | head -n 2) | sort -u
}
# settled LOAD: of all that ran again, the mean without the first run is known: its standard error is below a hundredth.
settled() {
    awk -v load="$1" '$2 == load && runs[$3]++ > 0 { count[$3]++; sum[$3] += $4; squares[$3] += $4 * $4 }
        END { for (name in count) {
            k = count[name]; mean = sum[name] / k
            if (k < 2 || (squares[name] - k * mean * mean) / (k - 1) / k > mean * mean / 10000) exit 1
        } }' /tmp/results
}
most=$((2 * $(argument runs)))
for load in $(argument loads | tr , ' '); do
    number=1
    for scheduler in $schedulers; do run "$load" "$scheduler" 1; done
    # Of many that are alike, chance makes one the fastest of a single run.
    [ "$(argument runs)" = 1 ] || again=$(finalists "$load")
    while [ $number -lt "$(argument runs)" ] || { [ $number -gt 1 ] && [ $number -lt $most ] && ! settled "$load"; }; do
        number=$((number + 1))
        for scheduler in $again; do run "$load" "$scheduler" $number; done
    done
    # After each load, for a guest that is stopped before its end.
    (cd /tmp && tar -cf /dev/vda -- *.rec.gz) || bad "the recordings stay here"
done
clean_log advice
