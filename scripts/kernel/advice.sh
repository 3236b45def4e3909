#!/usr/bin/env bash
# Is advice right? Ten loads of real programs run in a guest with Debian's kernel, on disks that are models, under the
# schedulers of the preset `linux` and ours; `idlewise advise` gets the recording of the run under mq-deadline and
# nothing else. Prints docs/advice.md: what was advised, what was best, what was predicted, what was measured.
#
#   scripts/kernel/advice.sh [--short] [DISK…]
#
# OURS=NAME,… takes fewer of ours, LOADS=NAME,… fewer loads; RUNS=N runs of the fastest at least (3), and up to twice
# as many until their means are known; SEED=N another layout of the files (2). Exit status: 0 advice is right (within 5 %
# of the best in nine of ten loads, unless there is one run of each, and within 15 % in all), 1 it is not, 77 it cannot run here.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/kernel/packages.sh

# The second is the first again: what differs between the two is not the scheduler's.
kernels=mq-deadline,mq-deadline:fifo_batch=16,none,mq-deadline:fifo_batch=1,mq-deadline:writes_starved=8,kyber,bfq,bfq:low_latency=0,bfq:low_latency=0:timeout_sync=500
ours=${OURS:-} loads=${LOADS:-streams,random,sqlite,pgbench,tar,find,write,read+find,sqlite+write,pgbench+tar}
# Nothing was tuned on this disk, nor on this layout.
disks=(hdd-18tb-7200:capacity=14t)
# Sizes are such that a load takes some seconds on a disk and does not fit the buffer of the drive.
numbers=(work=320 files=1800 large=320 ios=1500 commits=80 transactions=90 "runs=${RUNS:-3}") seed=${SEED:-2}
export GUEST_MEMORY=1792 GUEST_TIMEOUT=${GUEST_TIMEOUT:-14400}
build=(build --release --package idlewise --bins --example advice_table)
if [ "${1:-}" = --short ]; then
    shift
    disks=(maxtor-40g)
    kernels=mq-deadline,mq-deadline:fifo_batch=16,none,bfq:low_latency=0 ours=as loads=streams
    numbers=(work=48 files=120 large=48 ios=300 runs=1) seed=${SEED:-1}
    # The program that the tests run.
    build=("${as_tested[@]}")
fi
[ $# = 0 ] || disks=("$@")

IDLEWISE=$(program idlewise "${build[@]}")
table=$(program advice_table "${build[@]}")
export IDLEWISE

place=$kernel_work/advice
# guest DISK HALF LOADS: leaves DISK/HALF.results and DISK/LOAD-SCHEDULER.rec.gz.
guest() {
    local folder=$place/$1 status=0
    local log=$folder/$2.log tar=$folder/$2.tar
    truncate -s 4G "$tar"
    GUEST_NAME=$1-$2 GUEST_QEMU="-drive file=$tar,format=raw,if=virtio" scripts/kernel/run.sh advice "disk=$1" \
        "seed=$seed" "${numbers[@]}" "loads=$3" "schedulers=$kernels" "ours=$ours" >"$log" || status=$?
    [ "$status" = 0 ] || { cat "$log" >&2; return "$status"; }
    # The guest's clock is ahead.
    tar --warning=no-timestamp -xf "$tar" -C "$folder"
    rm "$tar"
    sed -n 's/^result: //p' "$log" >"$folder/$2.results"
}
# Each guest takes one processor, and half of the loads, every second one.
status=0 jobs=0
IFS=, read -ra loads <<<"$loads"
for disk in "${disks[@]}"; do
    rm -rf "${place:?}/$disk"
    mkdir -p "$place/$disk"
    for half in 0 1; do
        half_of=
        for ((i = half; i < ${#loads[@]}; i += 2)); do half_of+=${half_of:+,}${loads[i]}; done
        [ -n "$half_of" ] || continue
        if [ "$jobs" -ge "$(nproc)" ]; then wait -n || status=$?; else jobs=$((jobs + 1)); fi
        guest "$disk" "$half" "$half_of" &
    done
done
while [ "$jobs" -gt 0 ]; do
    wait -n || status=$?
    jobs=$((jobs - 1))
done
[ "$status" = 0 ] || exit "$status"
for disk in "${disks[@]}"; do cat "$place/$disk"/*.results >"$place/$disk/results"; done
"$table" "$IDLEWISE" "$place" "${disks[@]}"
