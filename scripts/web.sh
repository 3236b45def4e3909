#!/usr/bin/env bash
# Builds the page, or tests it in a real browser.
#
#   scripts/web.sh build    the simulator as WebAssembly, and web/dist: a static folder for any web server
#   scripts/web.sh test     the above, then web/tests in Debian's Chromium; status 77 and a reason where that cannot be had
set -euo pipefail
export LC_ALL=C CARGO_TERM_PROGRESS_WHEN=never
cd "$(dirname "${BASH_SOURCE[0]}")/.."

purpose=${1:-build}
case $purpose in build | test) ;; *) echo "usage: scripts/web.sh [build|test]" >&2; exit 2 ;; esac
shift || true

target=wasm32-unknown-unknown
out=${CARGO_TARGET_DIR:-target}
lacks() { echo "$1"; [ "$purpose" = test ] && exit 77; exit 1; }

# Debian's own Rust has neither a standard library for browsers nor a linker: the one is built from its source, which the
# toolchain brings along, the other comes with LLVM. The flag is unstable, so the compiler is told to allow it; nothing of ours
# depends on it.
sysroot=$(rustc --print sysroot)
from_source=() allowed=()
if [ ! -d "$sysroot/lib/rustlib/$target" ]; then
    [ -e "$sysroot/lib/rustlib/src/rust/library/Cargo.toml" ] ||
        lacks "no standard library for $target (rustup target add $target, or Debian's rust-web-src)"
    linker=wasm-ld-$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
    command -v "$linker" >/dev/null || lacks "no linker for $target (apt-get install lld${linker#wasm-ld})"
    from_source=('-Zbuild-std=std,panic_abort')
    allowed=(RUSTC_BOOTSTRAP=1 "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker")
fi
env "${allowed[@]}" cargo build --quiet ${CI:+--locked} --profile web -p idlewise-wasm --target "$target" "${from_source[@]}"
cp "$out/$target/web/idlewise_wasm.wasm" web/src/idlewise.wasm

# After the module: that it builds is known also where the page cannot be made.
for program in node npm; do
    command -v "$program" >/dev/null || lacks "no $program (apt-get install nodejs npm)"
done
# The shell has no windows to draw, which takes as much of the processor as the page.
browser=${CHROMIUM:-$(command -v chromium-headless-shell || command -v chromium || true)}
[ "$purpose" = build ] || [ -n "$browser" ] || lacks "no browser (apt-get install chromium-headless-shell)"

# Installed anew only if the list of packages is another one.
if ! cmp -s web/package-lock.json web/node_modules/.idlewise-lock; then
    (cd web && npm ci --no-audit --no-fund --loglevel=error)
    cp web/package-lock.json web/node_modules/.idlewise-lock
fi
(cd web && npm run --silent build)

[ "$purpose" = test ] || exit 0

# The program whose figures the page must have: what IDLEWISE says, or one that is newer than all sources, or else a new one.
program=${IDLEWISE:-}
for built in "$out/release/idlewise" "$out/debug/idlewise"; do
    [ ! -x "$built" ] || [ -n "$(find crates Cargo.lock -newer "$built" \( -name '*.rs' -o -name '*.toml' -o -name Cargo.lock \) -print -quit)" ] ||
        program=${program:-$built}
done
if [ -z "$program" ]; then
    cargo build --quiet ${CI:+--locked} -p idlewise
    program=$out/debug/idlewise
fi
exec env IDLEWISE="$(realpath "$program")" CHROMIUM="$browser" node web/tests/run.mjs "$@"
