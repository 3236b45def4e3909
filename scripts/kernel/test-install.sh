#!/usr/bin/env bash
# Tests what `make kernel-install` hands to DKMS: that it builds as DKMS builds it, without Rust, into the modules
# that it names, and that nothing is left when it is taken back. Nothing is installed.
#
#   scripts/kernel/test-install.sh
#
# KERNEL=LINE: for another than 6.1 (scripts/kernel/packages.sh).
# Exit status: 0 it does, 1 not, 77 it cannot run here (the last line says why).
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/kernel/packages.sh

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
bad() { echo "not ok: $*"; exit 1; }

DESTDIR=$box scripts/kernel/install.sh
kernel_headers
folder=$(echo "$box"/usr/src/idlewise-*)
# What its lines are written with.
# shellcheck disable=SC2034
kernel_source_dir=$kernel_headers dkms_tree=$box/dkms
# shellcheck disable=SC1091
. "$folder/dkms.conf"
build=$dkms_tree/$PACKAGE_NAME/$PACKAGE_VERSION/build
mkdir -p "$(dirname "$build")" "$box/bin"
cp -r "$folder" "$build"
for tool in cargo rustc; do
    printf '#!/bin/sh\necho "a rebuild wants %s" >&2\nexit 1\n' "$tool" >"$box/bin/$tool"
    chmod +x "$box/bin/$tool"
done
# DKMS asks for the compiler that the headers name. Where another release's has no place, the usual one stands in.
compiler=$(sed -n 's/^CC = .*(CROSS_COMPILE)\(.*\)/\1/p' "$kernel_headers/.kernelvariables")
if ! command -v "x86_64-linux-gnu-$compiler" >/dev/null; then
    # shellcheck disable=SC2016
    printf '#!/bin/bash\nexec gcc "${@/#-fmin-function-alignment=*/-falign-functions=16}"\n' >"$box/bin/x86_64-linux-gnu-$compiler"
    chmod +x "$box/bin/x86_64-linux-gnu-$compiler"
fi
# shellcheck disable=SC2153
PATH=$box/bin:$PATH bash -c "$CLEAN && ${MAKE[0]}" >"$box/log" 2>&1 || { tail -n 20 "$box/log"; bad "it does not build"; }
[[ $kernel_abi =~ $BUILD_EXCLUSIVE_KERNEL ]] || bad "DKMS would leave out $kernel_abi: $BUILD_EXCLUSIVE_KERNEL"
! [[ 5.10.0-1-amd64 =~ $BUILD_EXCLUSIVE_KERNEL ]] || bad "DKMS would try 5.10: $BUILD_EXCLUSIVE_KERNEL"

made=$(cd "$build" && find . -name '*.ko' -printf '%f\n' | sort)
named=$(printf '%s.ko\n' "${BUILT_MODULE_NAME[@]}" | sort)
[ "$made" = "$named" ] || bad "dkms.conf names $named, built are $made"
[ "${#DEST_MODULE_LOCATION[@]}" = "${#BUILT_MODULE_NAME[@]}" ] || bad "dkms.conf does not say where each module goes"
for module in $made; do
    strings=$(tr '\0' '\n' <"$build/$module" | grep -a '^vermagic=') || bad "$module says for no kernel that it is built"
    echo "ok: $module, $strings"
done

# rebuild HEADERS: for a kernel of which these are the headers.
rebuild() {
    # shellcheck disable=SC2034
    kernel_source_dir=$1
    # shellcheck disable=SC1091
    . "$folder/dkms.conf"
    find "$build" -name '*.ko' -delete
    # shellcheck disable=SC2153
    PATH=$box/bin:$PATH SOURCES=$box/source bash -c "${MAKE[0]}" >"$box/log" 2>&1
}
# For a kernel with another block layer it does not build, unless that kernel's source is there.
cp -rs "$kernel_headers" "$box/other"
if grep -q '^0x00000000.elv_register' "$kernel_headers/Module.symvers"; then
    # Where the kernel has no checksums, that is any other version.
    rm "$box/other/include/generated/uapi/linux/version.h"
    sed 's/\(LINUX_VERSION_SUBLEVEL\) .*/\1 250/' "$kernel_headers/include/generated/uapi/linux/version.h" \
        >"$box/other/include/generated/uapi/linux/version.h"
else
    rm "$box/other/Module.symvers"
    sed '/\telv_register\t/ s/^0x......../0x12345678/' "$kernel_headers/Module.symvers" >"$box/other/Module.symvers"
fi
if rebuild "$box/other"; then bad "it builds for a kernel with another block layer"; fi
grep -q 'has another block layer.*Cure: ' "$box/log" || bad "for a kernel with another block layer it says: $(tail -n 1 "$box/log")"
[ -z "$(find "$build" -name '*.ko')" ] || bad "there is a module for a kernel with another block layer"
echo "ok: a kernel with another block layer is refused"

# A version that the modules do not know is refused, too, and the cure named.
header=include/generated/uapi/linux/version.h
kernel_block
rm -f "$box/other/$header" "$box/other/Makefile"
sed "s|^KBUILD_OUTPUT=.*|KBUILD_OUTPUT=$box/other|" "$kernel_headers/Makefile" >"$box/other/Makefile"
sed 's/LINUX_VERSION_CODE .*/LINUX_VERSION_CODE 330240/' "$kernel_headers/$header" >"$box/other/$header"
if PATH=$box/bin:$PATH make -C "$box/other" M="$build" IW_BLOCK="$kernel_block" modules >"$box/log" 2>&1; then bad "it builds for Linux 5.10"; fi
grep -q 'error: .*does not know this version of Linux. Cure: ' "$box/log" || bad "for Linux 5.10 it says: $(tail -n 1 "$box/log")"
echo "ok: a version that the modules do not know is refused"

rm -rf "$build"/block/*
if rebuild "$kernel_headers"; then bad "it builds without private headers"; fi
kernel_source
mkdir "$box/source"
ln -s "$kernel_source" "$box/source/"
rebuild "$kernel_headers" || { tail -n 20 "$box/log"; bad "it does not build with the headers of the kernel's source"; }
echo "ok: private headers come from the kernel's source where that is"

DESTDIR=$box scripts/kernel/install.sh --remove
[ ! -e "$folder" ] || bad "$folder is left when it is taken back"
echo "ok: nothing is left when it is taken back"
