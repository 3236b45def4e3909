#!/usr/bin/env bash
# Installs what a build needs and is missing. Says what, before it does. Says nothing if all is there.
#
#   scripts/setup.sh [build|check]        (default: build)
#
#   build   a C compiler as linker, and a Rust toolchain new enough for Cargo.toml's rust-version
#   check   the above, rustfmt, clippy, git and the no_std targets; QEMU, fio and busybox for what boots a
#           real kernel, what makes Debian packages, what builds and tests the page, and Python, if they can be had
#
# A Rust toolchain on the PATH is used if it is new enough, wherever it comes from. Otherwise it
# comes from Debian's own packages. They need root: as another user this runs sudo, or prints the
# command to run.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."

purpose=${1:-build}
case $purpose in build | check) ;; *) echo "usage: scripts/setup.sh [build|check]" >&2; exit 2 ;; esac

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)

# The version of cargo on the PATH; 0 if there is none, or if rustup stands there without a toolchain.
rust_version() { cargo --version 2>/dev/null | awk '{print $2; found = 1} END {if (!found) print 0}' || true; }
new_enough() { [ "$(printf '%s\n%s\n' "$wanted" "$1" | sort -V | head -n 1)" = "$wanted" ]; }

# --- What is missing ------------------------------------------------------------------------------

packages=()
has make || packages+=(make)
has cc || packages+=(gcc libc6-dev)
[ -e /etc/ssl/certs/ca-certificates.crt ] || packages+=(ca-certificates)   # cargo fetches over TLS.

found=$(rust_version)
if ! new_enough "$found"; then
    # Packages would not help: what stands first on the PATH stays there.
    ! has rustup || die "Rust $found is older than $wanted. Run: rustup update stable"
    packages+=(rustc-web cargo-web)
fi
if [ "$purpose" = check ] && ! has rustup; then
    has rustfmt || packages+=(rustfmt-web)
    has cargo-clippy || packages+=(rust-web-clippy)
    [ -e "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library/Cargo.toml" ] || packages+=(rust-web-src)
fi
[ "$purpose" != check ] || has git || packages+=(git)                       # Applies the patches of docs/examples.

# --- Debian packages ------------------------------------------------------------------------------

if [ ${#packages[@]} -gt 0 ]; then
    has apt-get || die "missing: ${packages[*]} (Debian's names). Install a C compiler and Rust $wanted or newer."
    as_root=()
    if [ "$(id -u)" != 0 ]; then
        # Never wait for a password where nobody can type one.
        if has sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
            as_root=(sudo)
        else
            die "missing packages. Run as root: apt-get update && apt-get install -y --no-install-recommends ${packages[*]}"
        fi
    fi
    say "installing Debian packages: ${packages[*]}"
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    # --no-remove: an older rustc that is installed belongs to somebody.
    if ! { "${as_root[@]}" apt-get update -q &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends --no-remove "${packages[@]}"; } >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        ! grep -q 'remove is disabled' "$log" ||
            die "Rust $found would have to go. Run as root: apt-get install rustc-web cargo-web; or put a newer Rust on the PATH"
        die "apt-get failed; its output is above"
    fi
    hash -r
    found=$(rust_version)
    new_enough "$found" || die "Rust $found is older than $wanted, also after installing. See: apt-cache policy cargo-web"
fi

# --- QEMU and what a guest wants, a browser, shellcheck: without them some checks are skipped ------

if [ "$purpose" = check ] && has apt-get && [ "$(id -u)" = 0 ]; then
    extra=()
    has qemu-system-x86_64 || extra+=(qemu-system-x86)
    has cpio || extra+=(cpio)
    has fio || extra+=(fio)
    has busybox || extra+=(busybox-static)
    has xz || extra+=(xz-utils)
    has zstd || extra+=(zstd)
    has mkfs.ext4 || extra+=(e2fsprogs)
    has mawk || extra+=(mawk)
    has sqlite3 || extra+=(sqlite3)
    has shellcheck || extra+=(shellcheck)
    has dh_dkms || extra+=(dpkg-dev debhelper dh-dkms)
    has mmdebstrap || extra+=(mmdebstrap)
    has node || extra+=(nodejs)
    has npm || extra+=(npm)
    has chromium-headless-shell || has chromium || extra+=(chromium-headless-shell)
    # rustup's compiler has a linker for the page; Debian's wants the linker of its LLVM.
    if ! has rustup && llvm=$(rustc -vV 2>/dev/null | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p') && [ -n "$llvm" ]; then
        has "wasm-ld-$llvm" || extra+=("lld-$llvm")
    fi
    has python3 && python3 -c 'import ensurepip, venv' 2>/dev/null || extra+=(python3 python3-venv)
    [ -e /usr/lib/x86_64-linux-gnu/libelf.so.1 ] || extra+=(libelf1)   # The kernel's objtool.
    if [ ${#extra[@]} -gt 0 ]; then
        say "installing Debian packages: ${extra[*]}"
        { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends --no-remove "${extra[@]}"; } \
            >/dev/null 2>&1 </dev/null || say "could not install ${extra[*]}: the checks that need them will be skipped"
    fi
fi

# --- rustup's components --------------------------------------------------------------------------

if [ "$purpose" = check ] && has rustup; then
    for component in rustfmt clippy; do
        cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 && continue
        say "adding rustup component: $component"
        rustup component add "$component"
    done
    for target in x86_64-unknown-none wasm32-unknown-unknown; do
        rustup target list --installed | grep -x "$target" >/dev/null && continue   # Not -q: it would end rustup early.
        say "adding rustup target: $target"
        # Not fatal: the check that needs it says that it was skipped.
        rustup target add "$target" || say "could not add $target"
    done
fi
