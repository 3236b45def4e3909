#!/bin/sh
# Prints the folder of the kernel's private headers (block/*.h of its source) that fits the kernel that a module is built
# for. Structures in them change, also between two versions 6.1.x. Where the kernel has checksums of its types
# (CONFIG_MODVERSIONS) they tell what fits, else the version must be the same.
#
#   find-block.sh HEADERS FOLDER…
#
# HEADERS is the kernel's build folder. Looked at, in this order: the kernel's own source, if HEADERS lies in it; each
# FOLDER, named as its version (6.1.192); and the source that Debian's package linux-source has put below /usr/src
# (SOURCES, if set).
set -eu
headers=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
version=$(awk '/LINUX_VERSION_(MAJOR|PATCHLEVEL|SUBLEVEL)/ {printf "%s%s", dot, $3; dot = "."}' \
    "$headers/include/generated/uapi/linux/version.h")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "idlewise: $*" >&2; exit 1; }

wanted=$(awk '$2 == "elv_register" {print $1}' "$headers/Module.symvers" 2>/dev/null || true)
[ -n "$wanted" ] || fail "$headers/Module.symvers does not know the block layer: install the headers of Linux $version"
# fits FOLDER VERSION
fits() {
    if [ "$wanted" = 0x00000000 ]; then
        [ "$2" = "$version" ]
        return
    fi
    rm -rf "$work/try"
    mkdir "$work/try"
    cp "$here/layout.c" "$work/try/"
    printf 'obj-m := layout.o\nccflags-y := -w -I%s\n' "$1" >"$work/try/Kbuild"
    make -s -C "$headers" M="$work/try" layout.o >"$work/log" 2>&1 &&
        grep -qx "#SYMVER elv_register $wanted" "$work/try/.layout.o.cmd"
}
found() { echo "$1"; exit 0; }

for own in "$headers" "$headers/source"; do
    [ ! -e "$own/block/elevator.h" ] || found "$own/block"
done
for folder in "$@"; do
    ! fits "$folder" "${folder##*/}" || found "$folder"
done
line=$(echo "$version" | cut -d . -f 1,2)
for source in "${SOURCES:-/usr/src}/linux-source-$line".tar.*; do
    [ -e "$source" ] || continue
    rm -rf "$here/source"
    mkdir "$here/source"
    tar -xf "$source" -C "$here/source" --strip-components=1 --wildcards '*/block/*.h' 'linux-source-*/Makefile'
    own=$(awk '/^(VERSION|PATCHLEVEL|SUBLEVEL) = / {printf "%s%s", dot, $3; dot = "."}' "$here/source/Makefile")
    ! fits "$here/source/block" "$own" || found "$here/source/block"
done
fail "Linux $version has another block layer than the kernels whose private headers are here, so the module is not built for it. Cure: apt-get install linux-source-$line, of that kernel's version; or get the newest idlewise"
