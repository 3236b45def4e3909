#!/bin/sh
# What DKMS runs, in the folder that has all parts of the modules: dkms-build.sh HEADERS
set -eu
cd "$(dirname "$0")"
block=$(sh ./find-block.sh "$1" "$PWD"/block/*)
make -C "$1" M="$PWD" IW_BLOCK="$block" CONFIG_DEBUG_INFO_BTF_MODULES= modules
