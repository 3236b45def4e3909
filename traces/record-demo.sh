#!/usr/bin/env bash
# Records the demo trace: what real programs ask of a disk, as the kernel saw it.
#
#   sudo traces/record-demo.sh [OUTPUT]        (default: demo.ftrace.zst beside this script)
#
# It makes an ext4 file system on a loop device, fills it, and runs programs on it in four phases:
#   1. tar reads a source tree, alone.
#   2. sqlite answers paced point queries while git works on a repository and tar reads the tree.
#   3. find starts one cat per file of the tree while dd writes a large file.
#   4. PostgreSQL serves pgbench (4 clients, paced) while gzip compresses a large file, cat reads
#      another, dd writes a third, and a checkpoint falls among them.
# The kernel's block events of that one device are recorded through a private tracefs instance.
# The text is the kernel's own `trace` file, compressed.
#
# Needs root, loop devices, a kernel with tracefs and mq-deadline, 2 GB of free disk in $TMPDIR
# (default /var/tmp), and the Debian packages: e2fsprogs git gzip mount perl-base postgresql sqlite3
# tar util-linux zstd. It installs nothing. It takes about two minutes.
#
# However it ends, it stops what it started, unmounts, detaches its loop device, removes its
# tracefs instance and deletes its scratch folder. It touches no other device.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
output=${1:-$here/demo.ftrace.zst}

disk_size=12G          # Sparse. Smaller than every modelled disk, large enough that seeks differ.
tree_files=1500
git_commits=160
sqlite_rows=60000
sqlite_queries=2500
pgbench_scale=4
pgbench_seconds=20
pgbench_rate=110       # Transactions a second, all clients together.
big_file_mb=128         # Two of them: one for gzip, one for cat.
buffer_kb=65536        # Per CPU. Far more than the events need, so none is lost.

die() { echo "record-demo: $*" >&2; exit 1; }
say() { echo "record-demo: $*" >&2; }

# --- What is needed, asked for before anything is made --------------------------------------------

[ "$(id -u)" = 0 ] || die "needs root: loop devices, mount and tracefs"
pg_bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
missing=
[ -n "$pg_bin" ] || missing+=" postgresql"
need() { command -v "$1" >/dev/null || missing+=" $2"; }
need mkfs.ext4 e2fsprogs; need git git; need sqlite3 sqlite3; need zstd zstd; need tar tar
need losetup mount; need setpriv util-linux; need perl perl-base; need gzip gzip
[ -z "$missing" ] || die "missing packages; run: apt-get install$missing"

tracefs=/sys/kernel/tracing
# Left mounted: most systems have it so, and others may use it by the time we end.
[ -e $tracefs/instances ] || mount -t tracefs nodev $tracefs || die "no tracefs"

# --- Cleaning up, in the reverse order of making --------------------------------------------------

scratch='' loop='' instance='' cmdlines='' mounted='' pg_data='' jobs_started=()

stop_postgres() {
    [ -n "$pg_data" ] || return 0
    setpriv --reuid=postgres --regid=postgres --init-groups "$pg_bin/pg_ctl" -D "$pg_data" -m fast -w stop >/dev/null || true
    pg_data=''
}
unmount() {
    [ -n "$mounted" ] || return 0
    umount "$mounted"
    mounted=''
}
cleanup() {
    status=$?
    set +e
    trap '' INT TERM
    for pid in "${jobs_started[@]}"; do kill -- "-$pid" 2>/dev/null; done
    wait 2>/dev/null
    stop_postgres
    if [ -n "$instance" ]; then echo 0 >"$instance/tracing_on"; rmdir "$instance"; fi
    [ -z "$cmdlines" ] || echo "$cmdlines" >$tracefs/saved_cmdlines_size
    unmount
    [ -z "$loop" ] || losetup --detach "$loop"
    [ -z "$scratch" ] || rm -rf "$scratch"
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Runs a program in the background and remembers its pid: nothing else is ever ended. Under `set -m`
# the pid is also that of the program's process group, so its children end with it.
set -m
background() { "$@" & jobs_started+=($!); }
wait_all() {
    for pid in "${jobs_started[@]}"; do wait "$pid"; done
    jobs_started=()
}

# --- A file system on a loop device ---------------------------------------------------------------

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/idlewise-demo.XXXXXX")
chmod 755 "$scratch"                       # PostgreSQL does not run as root.
mkdir "$scratch/mnt" "$scratch/home"
export HOME=$scratch/home                  # git reads no one's configuration.
truncate --size "$disk_size" "$scratch/disk.img"
# Lazy initialisation would write in the background while we record.
mkfs.ext4 -q -F -i 65536 -E lazy_itable_init=0,lazy_journal_init=0 "$scratch/disk.img"
# Direct I/O: a read of the loop device is a read of the disk beneath, not of the page cache.
loop=$(losetup --find --show --direct-io=on "$scratch/disk.img")
name=${loop#/dev/}
# With an elevator every request is inserted in the context of the process that submits it.
echo mq-deadline >"/sys/block/$name/queue/scheduler" || die "$name does not offer mq-deadline"
echo 128 >"/sys/block/$name/queue/read_ahead_kb"   # What a disk has; a loop device may have more.
mnt=$scratch/mnt

# Mounting anew empties the file system's page cache, and only its own.
remount() {
    unmount
    mount -t ext4 -o noinit_itable "$loop" "$mnt"
    mounted=$mnt
}

pg() { setpriv --reuid=postgres --regid=postgres --init-groups "$pg_bin/$1" "${@:2}"; }
start_postgres() {
    pg_data=$mnt/pg/data
    pg pg_ctl -D "$pg_data" -w -l "$mnt/pg/log" start >/dev/null
}

# --- What is on it --------------------------------------------------------------------------------

remount
say "filling $loop"

# A tree of source-like files: most small, a few large. Seeded, so every run makes the same tree.
perl -e '
    my ($root, $files) = @ARGV;
    srand 1;
    my @words = map { join "", map { chr 97 + int rand 26 } 1 .. 2 + int rand 9 } 1 .. 4000;
    for my $i (1 .. $files) {
        my $dir = sprintf "%s/%s/%s", $root, $words[$i % 23], $words[100 + $i % 67];
        system "mkdir", "-p", $dir unless -d $dir;
        my $size = 600 * exp(rand() * 4.6);
        open my $f, ">", "$dir/$words[$i].c" or die "$dir: $!";
        my $text = "";
        $text .= $words[rand @words] . (rand() < .1 ? "\n" : " ") while length $text < $size;
        print $f $text;
    }' "$mnt/tree" "$tree_files"

# A repository with loose objects, as daily work leaves it.
git init -q "$mnt/repo"
git -C "$mnt/repo" config gc.auto 0
git -C "$mnt/repo" config user.name demo
git -C "$mnt/repo" config user.email demo@example.org
for ((i = 1; i <= git_commits; i++)); do
    perl -e '
        my ($root, $i) = @ARGV;
        srand $i;
        for (1 .. 4) {
            my $dir = sprintf "%s/d%02d", $root, rand 30;
            mkdir $dir;
            open my $f, ">>", sprintf("%s/f%02d.txt", $dir, rand 12) or die $!;
            print $f join(" ", map { int rand 1e6 } 1 .. 12), "\n" for 1 .. 60;
        }' "$mnt/repo" "$i"
    git -C "$mnt/repo" add -A
    git -C "$mnt/repo" commit -q -m "Change $i"
done

sqlite3 "$mnt/app.db" "
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, body BLOB);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $sqlite_rows)
    INSERT INTO item SELECT i, hex(randomblob(12)), randomblob(700) FROM n;
    CREATE INDEX item_name ON item(name);"

install -d -o postgres "$mnt/pg"
pg initdb -D "$mnt/pg/data" --auth=trust >/dev/null
# Small buffers: pages come from the file system. Local socket only.
cat >>"$mnt/pg/data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$mnt/pg'
shared_buffers = 4MB
max_wal_size = 128MB
CONF
start_postgres
pg pgbench -h "$mnt/pg" -i -q -s "$pgbench_scale" postgres >/dev/null 2>&1
stop_postgres

# Half random, half text: gzip works at a realistic rate on it.
perl -e '
    srand 2;
    for (1 .. $ARGV[0] * 16) {
        print pack("L*", map { rand 2**32 } 1 .. 8192), substr("the quick brown fox " x 1639, 0, 32768);
    }' "$big_file_mb" >"$mnt/big.bin"
cp "$mnt/big.bin" "$mnt/stream.bin"
sync -f "$mnt"

# --- Recording ------------------------------------------------------------------------------------

instance=$tracefs/instances/idlewise-demo-$$
mkdir "$instance"
echo 0 >"$instance/tracing_on"
echo $buffer_kb >"$instance/buffer_size_kb"
echo mono >"$instance/trace_clock"         # One clock for all CPUs.
cmdlines=$(<$tracefs/saved_cmdlines_size)  # Without it many a name would be "<...>".
echo 8192 >$tracefs/saved_cmdlines_size
IFS=: read -r major minor <"/sys/block/$name/dev"
for event in rq_insert rq_issue rq_complete rq_merge rq_requeue bio_backmerge bio_frontmerge; do
    echo "dev == $((major << 20 | minor))" >"$instance/events/block/block_$event/filter"
    echo 1 >"$instance/events/block/block_$event/enable"
done

# Tracing pauses while the cache is emptied: that is no program's work.
pause() { sync -f "$mnt"; echo 0 >"$instance/tracing_on"; remount; }
phase() {
    say "phase $*"
    echo 1 >"$instance/tracing_on"
    echo "phase $*" >"$instance/trace_marker"
}

point_queries() {
    perl -e '
        my ($queries, $rows) = @ARGV;
        srand 3;
        $| = 1;
        for (1 .. $queries) {
            printf "SELECT name, length(body) FROM item WHERE id = %d;\n", 1 + rand $rows;
            select undef, undef, undef, .002;       # The time a client takes to ask again.
        }' "$sqlite_queries" "$sqlite_rows" | sqlite3 "$mnt/app.db" >/dev/null
}
git_work() {
    git -C "$mnt/repo" log --stat >/dev/null
    git -C "$mnt/repo" checkout -q HEAD~100
    git -C "$mnt/repo" checkout -q -
    git -C "$mnt/repo" gc -q
}

remount
phase "1: tar"
tar -C "$mnt" -cf - tree | cat >/dev/null   # Writing to /dev/null itself, tar would read no file.

pause
phase "2: sqlite3, git, tar"
background point_queries
background git_work
sleep 1
tar -C "$mnt" -cf - tree | cat >/dev/null
wait_all

pause
phase "3: find -exec cat, dd"
background dd if=/dev/zero of="$mnt/copy.bin" bs=64k count=1024 conv=fsync status=none
find "$mnt/tree" -name '*.c' -exec cat {} \; >/dev/null
wait_all

pause
start_postgres
phase "4: pgbench, gzip, cat, dd"
background pg pgbench -h "$mnt/pg" -n -c 4 -j 1 -R "$pgbench_rate" -T "$pgbench_seconds" --random-seed=4 \
    postgres >"$scratch/pgbench.log" 2>&1
sleep 2
background gzip -c "$mnt/big.bin" >"$mnt/big.gz"
sleep 3
background cat "$mnt/stream.bin" >/dev/null
sleep 2
background dd if=/dev/zero of="$mnt/log.bin" bs=1M count=96 conv=fsync status=none
sleep 4
pg psql -q -h "$mnt/pg" -c CHECKPOINT postgres
wait_all
sync -f "$mnt"
phase "end"
echo 0 >"$instance/tracing_on"

# --- Was anything lost? ---------------------------------------------------------------------------

lost=0
for stats in "$instance"/per_cpu/cpu*/stats; do
    cpu=$(basename "$(dirname "$stats")")
    read -r entries overrun commit dropped < <(awk -F': *' '
        {v[$1] = $2} END {print v["entries"], v["overrun"], v["commit overrun"], v["dropped events"]}' "$stats")
    say "$cpu: $entries events, $overrun overrun, $commit commit overrun, $dropped dropped"
    lost=$((lost + overrun + commit + dropped))
done
[ "$lost" = 0 ] || die "the kernel lost $lost events; raise buffer_kb"

cat "$instance/trace" >"$scratch/demo.ftrace"
grep -qF '<...>' "$scratch/demo.ftrace" && say "note: some processes have no name"
zstd -q -f --ultra -22 "$scratch/demo.ftrace" -o "$output"
"$here/summary.sh" "$output"
