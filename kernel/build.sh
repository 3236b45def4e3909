#!/usr/bin/env bash
# Builds the kernel modules.
#
#   kernel/build.sh OUT HEADERS BLOCK
#
#   OUT       a folder for what is built: OUT/idlewise.ko, OUT/idlewise-disk.ko
#   HEADERS   the kernel's build folder, such as /lib/modules/$(uname -r)/build
#   BLOCK     the folder block/ of that kernel's source, for the headers that modules are not offered
#
# IW_SANITIZE=1 builds the Rust half for a kernel with KASAN.
#
# Rust becomes assembly, a text pass makes of it what the kernel's build system takes, and from there on
# it is a module like any other: objtool, unwind tables and symbol versions need nothing special.
set -euo pipefail
export LC_ALL=C
[ $# = 3 ] || { sed -n 's/^# \{0,1\}//; 3,9p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd) headers=$(cd "$2" && pwd) block=$(cd "$3" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"

target=x86_64-unknown-none
target_dir=${CARGO_TARGET_DIR:-../target}
mkdir -p "$target_dir"
target_dir=$(cd "$target_dir" && pwd)/kernel-rust

# The profile is that of kernel/Cargo.toml, whatever the caller has set for other programs: one unit of code.
unset "${!CARGO_PROFILE_@}"
# As the kernel is compiled: at fixed addresses in its top 2 GiB, without tables of addresses or jumps.
# Panics name files as they stand in the repository.
flags=(-C relocation-model=static -C code-model=kernel -C force-unwind-tables=no -C relro-level=off
    --remap-path-prefix "$(cd .. && pwd)/=")
# An older compiler cannot leave jump tables out; then the text pass makes comparisons of all of them.
case $(rustc -C help) in *jump-tables*) flags+=(-C jump-tables=no) ;; esac
# With IW_SANITIZE the code asks KASAN before it reads or writes. The flags are unstable.
if [ -n "${IW_SANITIZE:-}" ]; then
    export RUSTC_BOOTSTRAP=1
    flags+=(-Zsanitizer=kernel-address -Cunsafe-allow-abi-mismatch=sanitizer -Cllvm-args=-asan-stack=0
        -Cllvm-args=-asan-globals=0 -Cllvm-args=-asan-instrumentation-with-call-threshold=0)
    target_dir+=-sanitize
fi
sysroot=$(rustc --print sysroot)
std=()
if [ ! -d "$sysroot/lib/rustlib/$target" ]; then
    [ -e "$sysroot/lib/rustlib/src/rust/library/Cargo.toml" ] || {
        echo "no core library for $target: rustup target add $target, or Debian's rust-web-src" >&2
        exit 1
    }
    # Built from source. The flag is unstable, so the compiler is told to allow it.
    export RUSTC_BOOTSTRAP=1
    std=('-Zbuild-std=core,alloc')
fi
# library PACKAGE FILE: the package as assembly that the kernel's build system takes.
library() {
    local assembly
    CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}") CARGO_TARGET_DIR=$target_dir cargo rustc --quiet \
        --release --package "$1" --lib --locked --target "$target" --crate-type staticlib "${std[@]}" -- --emit=asm
    assembly=$(find "$target_dir/$target/release/deps" -name "${1//-/_}-*.s" -printf '%T@ %p\n' |
        sort -n | tail -n 1 | cut -d ' ' -f 2-)
    awk -f asm/to-kbuild.awk "$assembly" "$assembly" >"$2.new"
    # Unchanged, it is not assembled again.
    if cmp -s "$2.new" "$2"; then rm "$2.new"; else mv "$2.new" "$2"; fi
}
library idlewise-kernel "$out/core.S"
library idlewise-kernel-disk "$out/model.S"
mkdir -p "$out/shim" "$out/driver"
cp -u Kbuild "$out/"
sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml >"$out/version.new"
cmp -s "$out/version.new" "$out/version" || mv "$out/version.new" "$out/version"
cp -u asm/guard.h "$out/"
cp -u shim/*.[ch] "$out/shim/"
cp -u disk/driver/*.[ch] "$out/driver/"
# Debian's headers ask for the compiler of their release. Where there is none the usual one does; what the headers take for
# granted of that one, it is asked itself.
settings=()
compiler=$(sed -n 's/^CC = .*(CROSS_COMPILE)\(.*\)/\1/p' "$headers/.kernelvariables" 2>/dev/null || true)
if [ -n "$compiler" ] && ! command -v "x86_64-linux-gnu-$compiler" >/dev/null; then
    settings=(CC=gcc)
    gcc -fmin-function-alignment=16 -E -x c /dev/null >/dev/null 2>&1 || settings+=(CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=)
fi
# Type information of the kernel's own form wants pahole, which is not everywhere; nothing uses it.
settings+=(CONFIG_DEBUG_INFO_BTF_MODULES='' CONFIG_PAHOLE_VERSION='' PAHOLE_VERSION='')
make --no-print-directory -s -C "$headers" M="$out" IW_BLOCK="$block" "${settings[@]}" modules >&2
