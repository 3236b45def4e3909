#!/usr/bin/env bash
# The machine of the simulator against a real one: programs on ext4 in a guest with Debian's kernel, on disks that are models,
# and the same programs on the machine and on the same disks. Prints docs/real.md.
#
#   scripts/kernel/machine.sh [DISK[:PROGRAM,…[:RUNS]]…]
#
# SCALE=N percent of the papers' sizes (15), SEED=N another layout of the files, SCHEDULERS=NAME,… others, MEMORY=N MiB of memory
# (256). RUNS is how often `dd` runs beside `cat` (5). Exit status: 0 both agree, 1 not, 77 it cannot run here.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/kernel/packages.sh

# dd and cat are at it together for long enough to be compared.
scale=${SCALE:-15} streams=$((4 * ${SCALE:-15})) seed=${SEED:-1} memory=${MEMORY:-256} schedulers=${SCHEDULERS:-iw-deadline,noop,as,cas,cfq}
export GUEST_TIMEOUT=${GUEST_TIMEOUT:-7200}
each=find,cp,dd_cat,sqlite
# Times differ most on the 4 TB disk.
disks=(maxtor-40g "hdd-4tb-7200:$each:15" hdd-2400gb-10k:dd_cat hdd-18tb-7200:dd_cat "deskstar-34gxp:$each:3")
[ $# = 0 ] || disks=("$@")
build=(build --release --package idlewise --bins)
IDLEWISE=$(program idlewise "${build[@]}")
table=$(program machine_table build --release --package idlewise-sim --example machine_table)
export IDLEWISE

place=$kernel_work/machine
mkdir -p "$place"
results=() status=0
for wanted in "${disks[@]}"; do
    IFS=: read -r disk run repeats <<<"$wanted"
    result=$place/$disk.results tar=$place/$disk.tar
    results+=("$result")
    rm -f "$tar"
    truncate -s 1G "$tar"
    # The sizes are those of the machine's programs at this scale.
    GUEST_NAME=$disk GUEST_QEMU="-drive file=$tar,format=raw,if=virtio" scripts/kernel/run.sh machine "disk=$disk" \
        "seed=$seed" "files=$((160 * scale))" "large=$((2 * streams))" "written=$((2048 * streams / 100))" \
        "inserts=$((10 * scale))" "repeats=${repeats:-5}" "memory=$memory" "schedulers=$schedulers" "programs=${run:-$each}" >"$result.log" || status=$?
    [ "$status" = 0 ] || { cat "$result.log" >&2; exit "$status"; }
    { echo "setting: $disk $seed $scale $streams $memory"; grep '^\(result\|cost\):' "$result.log"; } >"$result"
done
"$table" "${results[@]}"
