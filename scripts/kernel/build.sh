#!/usr/bin/env bash
# Builds the kernel modules for Debian's stock kernel, from headers and source that are fetched and unpacked,
# not installed. Prints where they are.
#
#   scripts/kernel/build.sh [--strict] [--debug]
#
# KERNEL=LINE: for another than 6.1, such as 6.12; 7 is the newest 7.x. With --strict a warning, such as objtool's, is an error.
# With --debug they are built for a kernel that checks itself, which is built first if need be, and the Rust
# half checks its memory too.
#
# Exit status 77: they cannot be built here (the last line says why).
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/kernel/packages.sh

for tool in make awk cc cargo; do command -v "$tool" >/dev/null || cannot "no $tool"; done
# Two tests may want them at a time.
exec 9>"$kernel_work/kernel-build.lock"
flock 9
strict=
if [ "${1:-}" = --strict ]; then
    strict=1
    shift
fi
if [ "${1:-}" = --debug ]; then
    kernel_debug
    kernel_modules=$kernel_work/kernel-modules$kernel_suffix-debug
    export IW_SANITIZE=1
else
    kernel_headers
    kernel_block
    kernel_modules=$kernel_work/kernel-modules$kernel_suffix
fi
kernel/build.sh "$kernel_modules" "$kernel_headers" "$kernel_block" 2>&1 | tee "$kernel_modules.log" >&2
if [ -n "$strict" ] && grep -q 'warning: ' "$kernel_modules.log"; then
    # So that the next time says it again.
    find "$kernel_modules" -name '*.o' -delete
    echo "the modules build with warnings" >&2
    exit 1
fi
echo "$kernel_modules/idlewise.ko and idlewise-disk.ko for Linux $kernel_abi"
