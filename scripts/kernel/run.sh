#!/usr/bin/env bash
# Builds the kernel modules and tests them in a guest that boots Debian's stock kernel.
#
#   scripts/kernel/run.sh [--kernel LINE] [--debug] TEST [NAME=VALUE…]
#
# LINE is 6.1 (the default), 6.12, or 7 for the newest 7.x; KERNEL=LINE says the same.
# TEST is a file of kernel/guest; NAME=VALUE are its numbers. With --debug the kernel is one that checks its
# locks and memory (kernel/debug.config). Exit status: 0 all is well, 1 not, 77 it cannot run here (the last
# line says why). The console is left in the target folder: kernel-guest/TEST.log.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ "${1:-}" = --kernel ]; then
    export KERNEL=$2
    shift 2
fi
. scripts/kernel/packages.sh
. scripts/kernel/guest.sh

debug=
if [ "${1:-}" = --debug ]; then
    debug=--debug
    # A byte of eight is KASAN's.
    export GUEST_MEMORY=${GUEST_MEMORY:-2048}
    shift
fi
[ -e "kernel/guest/${1:-}.sh" ] || { sed -n 's/^# \{0,1\}//; 2,9p' "$0" >&2; exit 2; }
test=$1
shift
# What the test wants: processors, and memory in megabytes.
processors=$(sed -n 's/^# processors: //p' "kernel/guest/$test.sh")
threads=$(sed -n 's/^# threads: //p' "kernel/guest/$test.sh")
wanted=$(sed -n 's/^# memory: //p' "kernel/guest/$test.sh")
[ -z "$wanted" ] || export GUEST_MEMORY=${GUEST_MEMORY:-$wanted}
arguments=
for argument in "$@"; do arguments+=" iw.$argument"; done

# GUEST_NAME: of several guests that run one test at a time, which this is.
name=$test$kernel_suffix${debug#-}${GUEST_NAME:+-$GUEST_NAME}
guest_new "$name"
# MODULES: a folder of modules built elsewhere.
# shellcheck disable=SC2086
[ -n "${MODULES:-}" ] || scripts/kernel/build.sh --strict $debug || exit $?
if [ -n "$debug" ]; then kernel_debug; else kernel_image; fi
modules=${MODULES:-$kernel_work/kernel-modules$kernel_suffix${debug#-}}

# These two are wanted by name only, when a disk is found.
[ -n "$debug" ] || guest_module crct10dif_generic? crc64_rocksoft_generic?
guest_module sd_mod scsi_debug null_blk configfs bfq kyber-iosched
guest_fio
if grep -q ext4 "kernel/guest/$test.sh"; then
    guest_module crc32c_generic? ext4
    guest_program mkfs.ext4 mawk
    ! grep -q 'cp -r' "kernel/guest/$test.sh" || guest_program cp cat dd find
    ! grep -q sqlite3 "kernel/guest/$test.sh" || guest_program sqlite3 tar
fi
[ -z "${IDLEWISE:-}" ] || { guest_program "$IDLEWISE"; guest_module virtio_blk virtio_pci; }
if grep -q dmsetup "kernel/guest/$test.sh"; then
    guest_program dmsetup blkzone setpriv
    guest_module dm-mod raid0 zram
fi
case $arguments in *pgbench*) guest_postgres ;; esac
cp "$modules"/*.ko "$guest_root/modules/"
mkdir "$guest_root/tests"
cp kernel/guest/*.sh "$guest_root/tests/"
install -m 755 kernel/guest/init "$guest_root/init"

# GUEST_THREADS=multi: the emulator's processors run at once, where a test has them take turns. GUEST_QEMU: more of QEMU's arguments, such as a disk.
read -ra more <<<"${GUEST_QEMU:-}"
log=$kernel_work/kernel-guest/$name.log
boot() {
    if grep -q '^# machine: exact' "kernel/guest/$test.sh"; then
        # Time is virtual and counts instructions: every run gives the same figures. The processor is the one of which docs has figures.
        guest_boot "$log" "loglevel=4 tsc=reliable iw.test=$test$arguments" -cpu max -accel tcg,thread=single -icount shift=0,sleep=off -smp 1 "${more[@]}"
    else
        guest_boot "$log" "loglevel=4 iw.test=$test$arguments" -accel "tcg,thread=${GUEST_THREADS:-${threads:-multi}}" -smp "${processors:-2}" "${more[@]}"
    fi
}
boot
# A kernel that stops before it has loaded any module is not ours to test: QEMU before 8.1 can keep running code that the
# kernel has just changed (docs/kernel.md, A storm).
if grep -q 'Modules linked in:[[:space:]]*$' "$log"; then
    echo "# the emulated kernel stopped before the test; once more"
    boot
fi
sed -n '/^\(ok\|not ok\|#\|result\|cost\|done\)/p' "$log"
if grep -q '^done: 0 failures' "$log"; then exit 0; fi
echo "the guest's console: $log"
tail -n 30 "$log"
exit 1
