#!/usr/bin/env bash
# Is advice right? Ten loads of real programs run in a guest with Debian's kernel, on disks that are models, under every
# scheduler of the list; `idlewise advise` gets the recording of the run under mq-deadline and nothing else. Prints a
# table: what was advised, what was best, what was predicted, what was measured.
#
#   scripts/kernel/advice.sh [--short] [DISK…]
#
# Exit status: 0 advice is right (within 5 % of the best in nine of ten loads, within 15 % in all), 1 it is not, 77 it
# cannot run here.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/kernel/packages.sh

kernels=none,mq-deadline,kyber,bfq,bfq:low_latency=0,mq-deadline:fifo_batch=64:read_expire=2000
ours=as,cas,cfq,antic-aged-sptf,antic-c-look,antic-adaptive,adios,aql
loads=streams,random,sqlite,pgbench,tar,find,write,read+find,sqlite+write,pgbench+tar
disks=(maxtor-40g hdd-4tb-7200 sata-ssd)
# Sizes are such that a load takes some seconds on a disk and does not fit the buffer of the drive.
numbers=(files=600 large=160 ios=1500 commits=80 transactions=60) seed=${SEED:-1}
export GUEST_MEMORY=1280 GUEST_TIMEOUT=${GUEST_TIMEOUT:-7200}
short=
if [ "${1:-}" = --short ]; then
    shift
    short=1 disks=(maxtor-40g) ours=as loads=streams,random,find,read+find
    numbers=(files=120 large=48 ios=300 commits=10 transactions=10)
fi
[ $# = 0 ] || disks=("$@")

build=(build --release --package idlewise)
[ -z "$short" ] || build=(test --no-run --workspace)
IDLEWISE=$(cargo "${build[@]}" --quiet --message-format json |
    sed -n '/"kind":\["bin"\]/ s/.*"executable":"\([^"]*\/idlewise\)".*/\1/p' | tail -n 1)
export IDLEWISE
table=(cargo run --quiet --package idlewise --example advice_table --)
[ -n "$short" ] || table=(cargo run --release --quiet --package idlewise --example advice_table --)

status=0
place=$kernel_work/advice
mkdir -p "$place"
for disk in "${disks[@]}"; do
    rm -rf "${place:?}/$disk"
    mkdir -p "$place/$disk"
    truncate -s 1G "$place/$disk.tar"
    export GUEST_QEMU="-drive file=$place/$disk.tar,format=raw,if=virtio"
    scripts/kernel/run.sh advice "disk=$disk" "seed=$seed" "${numbers[@]}" "loads=$loads" \
        "schedulers=mq-deadline,${kernels/mq-deadline,/},$ours" >"$place/$disk.log" || status=$?
    [ "$status" = 0 ] || { cat "$place/$disk.log"; exit "$status"; }
    tar -xf "$place/$disk.tar" -C "$place/$disk"
    rm "$place/$disk.tar"
    sed -n 's/^result: //p' "$place/$disk.log" >"$place/$disk/results"
done
"${table[@]}" "$IDLEWISE" "$place" "${disks[@]}"
