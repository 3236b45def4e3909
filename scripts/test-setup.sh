#!/usr/bin/env bash
# Tests scripts/setup.sh without installing anything: it runs with a PATH of stand-ins that record
# what they were asked. Closes with "N passed, N failed".
#
#   scripts/test-setup.sh
set -euo pipefail
setup=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/setup.sh

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
passed=0 failed=0

# A machine with the ordinary tools and nothing to build with.
machine() {
    rm -rf "${box:?}/bin" "$box/calls"
    mkdir "$box/bin"
    : >"$box/calls"
    for tool in awk bash cat chmod dirname env grep head mktemp rm sed sort; do
        ln -s "$(command -v "$tool")" "$box/bin/$tool"
    done
}
# Adds a program that records its arguments, then does what is said.
program() {
    printf '#!%s\necho "%s $*" >>%s\n%s\n' "$(command -v bash)" "$1" "$box/calls" "${2:-}" >"$box/bin/$1"
    chmod +x "$box/bin/$1"
}
root() { program id "echo 0"; }
user() { program id "echo 1000"; }
tools() { program make; program cc; program git; }
apt() { program apt-get "case \$* in *install*) printf '#!/bin/sh\necho cargo $1\n' >$box/bin/cargo; chmod +x $box/bin/cargo ;; esac"; }

# expect NAME STATUS OUTPUT-PATTERN CALLS-PATTERN [ARGUMENT]: patterns are extended regular
# expressions; "^$" is nothing at all.
expect() {
    local status=0 output
    output=$(PATH=$box/bin bash "$setup" ${5+"$5"} 2>&1 </dev/null) || status=$?
    if [ "$status" = "$2" ] && grep -qE -- "$3" <<<"$output" && grep -qE -- "$4" <<<"$(grep -v '^id ' "$box/calls")"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n  status %s, wanted %s\n  output: %s\n  calls: %s\n' \
            "$1" "$status" "$2" "$output" "$(cat "$box/calls")"
    fi
}

machine; root; tools; program cargo 'echo cargo 1.99.0'
expect "all is there: silent" 0 '^$' '^cargo --version$'

machine; root; tools; apt 1.96.0
expect "no Rust: from Debian" 0 'installing Debian packages: .*rustc-web cargo-web$' '^apt-get install .* rustc-web cargo-web$'

machine; root; tools; program cargo 'echo cargo 1.99.0'; apt 1.96.0; program rustup 'echo x86_64-unknown-none; echo wasm32-unknown-unknown'
expect "checks: QEMU, if it can be had" 0 'installing Debian packages: qemu-system-x86 cpio fio busybox-static xz-utils zstd e2fsprogs mawk sqlite3 shellcheck dpkg-dev debhelper dh-dkms mmdebstrap nodejs npm chromium-headless-shell python3 python3-venv( libelf1)?$' '^apt-get install .* qemu-system-x86 cpio fio busybox-static xz-utils' check

machine; user; tools; program cargo 'echo cargo 1.99.0'; apt 1.96.0; program rustup 'echo x86_64-unknown-none; echo wasm32-unknown-unknown'
expect "checks: no QEMU for those who may not install it" 0 '^$' '^cargo' check

machine; root; apt 1.96.0
expect "nothing: make and a linker, too" 0 'make gcc libc6-dev' '^apt-get install .* make gcc libc6-dev'

machine; root; tools; apt 1.85.0
expect "Debian's is too old" 1 'Rust 1\.85\.0 is older than' 'install'

machine; root; tools; program cargo 'echo cargo 1.9.0'; program rustup
expect "rustup's is too old, and 1.9 is older than 1.88" 1 'Run: rustup update' '^cargo --version$'

machine; user; tools; program apt-get
expect "not root, no sudo: the command to run" 1 'Run as root: apt-get update && apt-get install' '^$'

machine; user; tools; apt 1.96.0; program sudo "[ \"\$1\" = -n ] && exit 1; \"\$@\""
expect "not root, sudo wants a password, no terminal" 1 'Run as root: apt-get' '^sudo -n true$'

machine; user; tools; apt 1.96.0; program sudo "[ \"\$1\" = -n ] && exit 0; \"\$@\""
expect "not root, sudo without a password" 0 'installing' '^sudo env .*apt-get install'

machine; root; tools; program apt-get 'echo "E: no such package"; exit 100'
expect "apt-get fails: its output is shown" 1 'E: no such package' 'apt-get update'

machine; root; tools; program cargo "echo cargo 1.65.0"
program apt-get 'echo "E: Packages need to be removed but remove is disabled."; exit 100'
expect "Debian's old Rust is left to its owner" 1 'Run as root: apt-get install rustc-web cargo-web' 'apt-get update'

machine; root; tools
expect "no apt-get: says what is needed" 1 'Install a C compiler and Rust 1\.' '^$'

machine; root; tools; program cargo "[ \"\$1\" != clippy ] || exit 1; echo cargo 1.99.0"
program rustup "[ \"\$1 \$2\" != 'target list' ] || echo wasm32-unknown-unknown"
expect "rustup: adds what the checks need, no more" 0 'component: clippy' '^rustup target add x86_64-unknown-none$' check

machine; root
expect "wrong argument" 2 '^usage:' '^$' nonsense

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
