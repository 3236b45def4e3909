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
tree=${DESTDIR:-}/usr/src/idlewise-$version
# The kernels whose private headers are wanted: those of all lines that the modules support, or of the one that runs here.
lines=$(kernel_supported)
die() { echo "$*" >&2; exit 1; }

if [ "${1:-}" = --remove ]; then
    [ -n "${DESTDIR:-}" ] || ! command -v dkms >/dev/null || dkms remove "idlewise/$version" --all || true
    rm -rf "$tree"
    exit 0
fi
if [ -z "${DESTDIR:-}" ]; then
    [ "$(id -u)" = 0 ] || die "only root can install a module: sudo make kernel-install"
    command -v dkms >/dev/null || die "no dkms (apt-get install dkms linux-headers-$(uname -r))"
    lines=$(uname -r)
    kernel_supports "$(cut -d . -f 1,2 <<<"$lines")" ||
        die "this machine runs Linux $lines; the modules support $(kernel_supported). Cure: boot one of these, or get the newest idlewise"
    # The private headers of just this kernel; if they cannot be had, of its line's newest, and find-block.sh says whether they fit.
    KERNEL=$lines bash -euc '. scripts/kernel/packages.sh; kernel_has_source' >/dev/null 2>&1 || lines=$(cut -d . -f 1,2 <<<"$lines")
fi
# headers_of KERNEL: the folder of that kernel's private headers, or of the newest of that line, and its version.
# shellcheck disable=SC2016
headers_of() { KERNEL=$1 bash -euc '. scripts/kernel/packages.sh; kernel_block; echo "$kernel_block ${kernel_version%%-*}"'; }
scripts/kernel/build.sh
rm -rf "$tree"
mkdir -p "$tree/shim" "$tree/driver" "$tree/block"
for line in $lines; do
    if found=$(headers_of "$line"); then
        cp -r "${found% *}" "$tree/block/${found##* }"
    else
        echo "without the headers of Linux $line: $found" >&2
    fi
done
[ -n "$(ls "$tree/block")" ] || die "no kernel's private headers can be had"
cp kernel/Kbuild kernel/layout/* kernel/asm/guard.h "$kernel_work/kernel-modules$kernel_suffix"/{core.S,model.S,version} "$tree/"
cp kernel/shim/*.[ch] "$tree/shim/"
cp kernel/disk/driver/*.[ch] "$tree/driver/"
pattern=$(kernel_supported | sed 's/\./\\\\./g; s/ /|/g')
sed "s/@VERSION@/$version/; s/@LINES@/$pattern/" kernel/dkms.conf >"$tree/dkms.conf"
echo "$tree"
[ -n "${DESTDIR:-}" ] || dkms install "idlewise/$version" --force
