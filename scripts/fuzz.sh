#!/usr/bin/env bash
# Fuzzes each target for a while, or one target as long as is said.
#
#   scripts/fuzz.sh [SECONDS [TARGET]]        (default: 60 seconds, every target)
#
# Needs rustup's nightly toolchain and cargo-fuzz. Installs neither: says how.
# A crash leaves its input in fuzz/artifacts; the command to repeat it is printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() { echo "fuzz: $*" >&2; exit 1; }
[ -d fuzz ] || die "there is no fuzz/ folder"
cargo +nightly --version >/dev/null 2>&1 || die "needs a nightly toolchain: rustup toolchain install nightly"
cargo +nightly fuzz --version >/dev/null 2>&1 || die "needs cargo-fuzz: cargo install cargo-fuzz"

seconds=${1:-60}
if [ -n "${2:-}" ]; then targets=("$2"); else mapfile -t targets < <(cargo +nightly fuzz list); fi
for target in "${targets[@]}"; do
    echo "fuzz: $target for $seconds s"
    cargo +nightly fuzz run "$target" -- -max_total_time="$seconds"
done
