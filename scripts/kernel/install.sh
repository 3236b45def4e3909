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
# The kernels that the modules shall be built for: all that they can be, or the one that runs here.
lines=$(kernel_supported)
die() { echo "$*" >&2; exit 1; }

if [ "${1:-}" = --remove ]; then
    [ -n "${DESTDIR:-}" ] || ! command -v dkms >/dev/null || dkms remove "idlewise/$version" --all || true
    rm -rf "$folder"
    exit 0
fi
if [ -z "${DESTDIR:-}" ]; then
    [ "$(id -u)" = 0 ] || die "only root can install a module: sudo make kernel-install"
    command -v dkms >/dev/null || die "no dkms (apt-get install dkms linux-headers-$(uname -r))"
    lines=$(uname -r | cut -d . -f 1,2)
    kernel_supported | grep -qxF "$lines" || die "this machine runs Linux $(uname -r); the modules support" $(kernel_supported)
fi
# block LINE: the private headers of that line's newest kernel.
block() (
    unset kernel_abi
    # shellcheck disable=SC2034
    KERNEL=$1
    . scripts/kernel/packages.sh
    kernel_block
    cp -r "$kernel_block" "$folder/block/${kernel_version%%-*}"
)
scripts/kernel/build.sh
rm -rf "$folder"
mkdir -p "$folder/shim" "$folder/driver" "$folder/block"
for line in $lines; do block "$line" || echo "without the headers of Linux $line" >&2; done
[ -n "$(ls "$folder/block")" ] || die "no kernel's headers can be had"
cp kernel/Kbuild kernel/layout/* kernel/asm/guard.h "$kernel_work"/kernel-modules/{core.S,model.S,version} "$folder/"
cp kernel/shim/*.[ch] "$folder/shim/"
cp kernel/disk/driver/*.[ch] "$folder/driver/"
sed "s/@VERSION@/$version/; s/@LINES@/$(kernel_supported | sed 's/\./\\\\./' | paste -sd '|')/" kernel/dkms.conf >"$folder/dkms.conf"
echo "$folder"
[ -n "${DESTDIR:-}" ] || dkms install "idlewise/$version" --force
