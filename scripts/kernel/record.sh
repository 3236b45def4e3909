#!/usr/bin/env bash
# Is a recording right, and what does it cost? `idlewise record` runs in a guest with Debian's kernel, on virtio, SCSI, memory
# and what is made of them, and its counts are held against the kernel's; then in one whose time counts instructions.
#
#   scripts/kernel/record.sh [--short] [NAME=VALUE…]
#
# NAME=VALUE are numbers of kernel/guest/record-cost.sh. With --short the counts alone are checked, by the program that the
# tests run. Exit status: 0 all is well, 1 not, 77 it cannot run here.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/kernel/packages.sh

build=(build --release --package idlewise) short=
if [ "${1:-}" = --short ]; then
    shift
    build=("${as_tested[@]}") short=1
fi
IDLEWISE=$(program idlewise "${build[@]}")
export IDLEWISE
disk=$kernel_work/record.img
rm -f "$disk"
truncate -s 256M "$disk"
# A ring of 16 places without indirection: a request of many segments fills it.
GUEST_QEMU="-drive file=$disk,format=raw,if=none,id=disk,cache=unsafe,discard=unmap \
    -device virtio-blk-pci,drive=disk,queue-size=16,num-queues=1,indirect_desc=off" scripts/kernel/run.sh record
rm "$disk"
[ -z "$short" ] || exit 0
# Each step of a string instruction counts as an instruction: the kernel is told to copy eight bytes in a step, not one.
GUEST_QEMU="-cpu max,-erms,-fsrm" scripts/kernel/run.sh record-cost "$@"
