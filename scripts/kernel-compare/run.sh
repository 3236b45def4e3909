#!/usr/bin/env bash
# Boots Debian's stock kernel in QEMU, plays scenarios under its schedulers, and compares what it gave out
# with the recordings in crates/core/kernel_recordings, which the tests hold our schedulers to.
#
#   scripts/kernel-compare/run.sh [--update | --short] [SCENARIO…]
#
#   --update     writes the recordings anew
#   --short      of the scenarios that processes play, which take long, every sixth
#   SCENARIO…    only these, such as mq-deadline-08-classes
#
# Exit status: 0 they agree, or our schedulers do as this kernel did; 1 they differ; 77 it cannot run here (the last line
# says why). Time in the guest is virtual: two runs give the same recording, on any machine, but for the order of
# what is due in the same moment. Nothing is installed on the host; the kernel is unpacked below target/kernel-compare.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."

. scripts/kernel/packages.sh

update='' every=1
case ${1:-} in
    --update) update=yes; shift ;;
    --short) every=6; shift ;;
esac
for tool in qemu-system-x86_64 cc cpio gzip; do
    command -v "$tool" >/dev/null || cannot "no $tool (apt-get install qemu-system-x86 gcc libc6-dev cpio, on Debian)"
done
kernel_image
kernel=$(echo "$kernel_image"/boot/vmlinuz-*)
modules=$kernel_image/lib/modules
work=$kernel_work/kernel-compare

# --- What the guest has ---------------------------------------------------------------------------

root=$work/root
rm -rf "$root" "$work/console"
mkdir -p "$root/modules" "$root/scenarios"
cc -O2 -Wall -Wextra -Werror -static -o "$root/init" "$here/player.c" "$here/loops.c" ||
    cannot "the player cannot be linked statically (apt-get install libc6-dev)"

# A module after those that it depends on.
add_module() {
    local file name
    file=$(find "$modules" -name "$1.ko" -o -name "${1//_/-}.ko" -o -name "${1//-/_}.ko" | head -n 1)
    [ -n "$file" ] || { echo "the kernel has no module $1"; exit 1; }
    name=$(basename "$file")
    [ ! -e "$root/modules/$name" ] || return 0
    local needed
    needed=$(tr '\0' '\n' <"$file" | sed -n 's/^depends=//p' | head -n 1)
    for needed in ${needed//,/ }; do add_module "$needed"; done
    cp "$file" "$root/modules/"
    echo "$name" >>"$root/modules/order"
}
# The first two are wanted by name only, when a disk is found.
for module in crct10dif_generic crc64_rocksoft_generic sd_mod scsi_debug bfq kyber-iosched; do add_module "$module"; done

scenarios=("$@")
[ ${#scenarios[@]} -gt 0 ] || mapfile -t scenarios < <(find "$here/scenarios" -name '*.txt' -printf '%f\n' | sed 's/\.txt$//' | sort)
if [ "$every" -gt 1 ]; then
    plays() { grep -q '^process ' "$here/scenarios/$1.txt"; }
    chosen=() number=0
    for scenario in "${scenarios[@]}"; do
        if plays "$scenario" && ((number++ % every)); then continue; fi
        chosen+=("$scenario")
    done
    scenarios=("${chosen[@]}")
fi
for scenario in "${scenarios[@]}"; do cp "$here/scenarios/$scenario.txt" "$root/scenarios/"; done
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd.gz"

# --- The run --------------------------------------------------------------------------------------

echo "playing ${#scenarios[@]} scenarios on $(basename "$kernel")"
timeout --foreground 1800 qemu-system-x86_64 -M pc -accel tcg,thread=single -icount shift=0,sleep=off -smp 1 -cpu max -m 512 \
    -nographic -no-reboot -nodefaults -serial stdio -debugcon "file:$work/console" \
    -kernel "$kernel" -initrd "$work/initrd.gz" \
    -append "console=ttyS0 quiet loglevel=3 panic=-1 mitigations=off tsc=reliable" \
    </dev/null >"$work/serial" 2>&1 || true
if ! grep -q '^all done' "$work/console"; then
    grep FAILED "$work/console" || tail -n 5 "$work/serial"
    exit 1
fi
rm -rf "$work/ops"
mkdir -p "$work/ops"
awk -f "$here/to-ops.awk" -v scenarios="$root/scenarios" -v out="$work/ops" "$work/console"
awk -f "$here/to-loops.awk" -v scenarios="$root/scenarios" -v out="$work/ops" "$work/console"

# --- The comparison -------------------------------------------------------------------------------

# Another build of the kernel takes some microseconds more or less, which matters to nobody.
essence() { sed -e '/^# Recorded/d' -e 's/^+[^ ]* //' "$1"; }
same() {
    case $1 in
        *.loops) awk -f "$here/loops-differ.awk" "$1" "$2" ;;
        *) diff <(essence "$1") <(essence "$2") ;;
    esac
}

# ours SCENARIO: whether our scheduler gives out what this kernel did. It is asked of recordings that differ, because
# what is due in the same moment comes in either order.
ours() {
    rm -rf "$work/others"
    mkdir "$work/others"
    cp "$work/ops/$1.ops" "$work/others/"
    KERNEL_RECORDINGS=$work/others cargo test --quiet --locked -p idlewise-core --test kernel every_recorded
}

recordings=crates/core/kernel_recordings differ=0
mkdir -p "$recordings"
for scenario in "${scenarios[@]}"; do
    kind=ops
    ! grep -q '^process ' "$here/scenarios/$scenario.txt" || kind=loops
    if [ -n "$update" ]; then
        cp "$work/ops/$scenario.$kind" "$recordings/"
    elif ! same "$recordings/$scenario.$kind" "$work/ops/$scenario.$kind" >"$work/diff"; then
        echo "$scenario: this kernel does not do what the recorded one did:"
        cat "$work/diff"
        if [ "$kind" = ops ] && ours "$scenario"; then echo "$scenario: ours does the same"; else differ=1; fi
    fi
done
[ "$differ" = 0 ] || exit 1
if [ -n "$update" ]; then verdict="are recorded"; else verdict="agree with the recordings"; fi
echo "${#scenarios[@]} scenarios $verdict"
