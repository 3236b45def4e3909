#!/usr/bin/env bash
# Hands the kernel modules to DKMS, which builds them for the running kernel and for each later one.
#
#   scripts/kernel/install.sh [--remove]
#
# With DESTDIR only the files are put there, below usr/src. Wants root, dkms and the running kernel's headers.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/kernel/packages.sh

version=$(sed -n 's/^version = "\(.*\)"/\1/p' kernel/Cargo.toml)
folder=${DESTDIR:-}/usr/src/idlewise-$version
die() { echo "$*" >&2; exit 1; }

if [ "${1:-}" = --remove ]; then
    [ -n "${DESTDIR:-}" ] || ! command -v dkms >/dev/null || dkms remove "idlewise/$version" --all || true
    rm -rf "$folder"
    exit 0
fi
if [ -z "${DESTDIR:-}" ]; then
    [ "$(id -u)" = 0 ] || die "only root can install a module: sudo make kernel-install"
    command -v dkms >/dev/null || die "no dkms (apt-get install dkms linux-headers-$(uname -r))"
    own=$(uname -r)
    line=$(cut -d . -f 1,2 <<<"$own")
    kernel_supports "$line" ||
        die "this machine runs Linux $own; the modules support $(kernel_supported). Cure: boot one of these, or get the newest idlewise"
    # The private headers of just this kernel; if they cannot be had, the newest, and check-layout.sh says whether they fit.
    export KERNEL=$line
    if (KERNEL=$own && . scripts/kernel/packages.sh && kernel_has_source) >/dev/null 2>&1; then KERNEL=$own; fi
    . scripts/kernel/packages.sh
fi
scripts/kernel/build.sh
kernel_block
rm -rf "$folder"
mkdir -p "$folder/shim" "$folder/driver" "$folder/block"
cp kernel/Kbuild kernel/check-layout.sh kernel/asm/guard.h "$kernel_work/kernel-modules$kernel_suffix"/{core,model}.S "$folder/"
cp kernel/shim/*.[ch] "$folder/shim/"
cp kernel/disk/driver/*.[ch] "$folder/driver/"
cp "$kernel_block"/*.h "$folder/block/"
kernel_headers
"$folder/check-layout.sh" "$kernel_headers" "$folder/block"
# As a pattern.
lines=$(kernel_supported | sed 's/\./\\\\./g; s/ /|/g')
sed "s/@VERSION@/$version/; s/@LINES@/$lines/" kernel/dkms.conf >"$folder/dkms.conf"
echo "$folder"
[ -n "${DESTDIR:-}" ] || dkms install "idlewise/$version" --force
