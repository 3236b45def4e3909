#!/bin/sh
# Whether the kernel's private headers of the folder block/ fit the kernel that a module is built for. They come from one
# version's source, and structures change between versions. The kernel's build counts a checksum over all types
# that a function of the block layer takes; block/layout has these sums of the version that the headers are of.
#
#   check-layout.sh HEADERS BLOCK
#
# HEADERS is the kernel's build folder, BLOCK the folder of private headers. Without a BLOCK/layout it is written.
set -eu
sums() {
    [ -e "$1/Module.symvers" ] || { echo "idlewise: $1 has no Module.symvers: install the headers of that kernel" >&2; exit 1; }
    awk '$2 ~ /^(elv_|elevator_|blk_mq_sched_)/ {print $1, $2}' "$1/Module.symvers" | sort -k 2
}
release() { cat "$1/include/config/kernel.release"; }
if [ ! -e "$2/layout" ]; then
    sums "$1" >"$2/layout.new"
    grep -q elv_register "$2/layout.new" || { echo "idlewise: $1/Module.symvers does not know the block layer" >&2; exit 1; }
    # Without checksums only the same kernel will do.
    ! grep -q '^0x00000000' "$2/layout.new" || release "$1" >>"$2/layout.new"
    mv "$2/layout.new" "$2/layout"
fi
{ sums "$1"; ! grep -q '^0x00000000' "$2/layout" || release "$1"; } | cmp -s - "$2/layout" && exit 0
echo "idlewise: Linux $(release "$1") has another block layer than the kernel whose private headers are in $2, so the module is not built for it. Cure: boot that kernel, get the newest idlewise, and run sudo make kernel-install" >&2
exit 1
