#!/usr/bin/env bash
# Does a fit find the disk? Modelled disks serve a mixed load in a guest with Debian's kernel; `idlewise disk fit` gets the
# recording and nothing else, `idlewise disk calibrate` reads the disk in the guest. Prints how far both are from the
# profile that the disk was made of.
#
#   scripts/kernel/fit.sh [--no-calibrate] [DISK…]
#
# Exit status: 0 all are within their bounds, 1 not, 77 it cannot run here.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/kernel/packages.sh

# Those that the fit was made with, and those that it was not.
disks=(hdd-4tb-7200 maxtor-40g hdd-2400gb-10k sata-ssd nvme-ssd
    hdd-18tb-7200:capacity=12t deskstar-34gxp cheetah-st318451lw "sata-ssd:bus=300,capacity=240g" "nvme-ssd:bus=2000,depth=64")
calibrate=1
if [ "${1:-}" = --no-calibrate ]; then
    shift
    calibrate=0
fi
[ $# = 0 ] || disks=("$@")
export GUEST_MEMORY=1280 GUEST_TIMEOUT=${GUEST_TIMEOUT:-7200}

IDLEWISE=$(program idlewise build --release --package idlewise)
export IDLEWISE
place=$kernel_work/fit
rm -rf "$place"
mkdir -p "$place"
truncate -s 256M "$place.tar"
export GUEST_QEMU="-drive file=$place.tar,format=raw,if=virtio"
status=0
list=$(IFS=';'; echo "${disks[*]}")
scripts/kernel/run.sh fit "disks=$list" "calibrate=$calibrate" || status=$?
[ "$status" = 0 ] || exit "$status"
tar -xf "$place.tar" -C "$place"
rm "$place.tar"
cargo run --release --quiet --package idlewise-sim --example fit_table -- "$IDLEWISE" "$place" "${disks[@]}"
