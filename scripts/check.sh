#!/usr/bin/env bash
# Everything that is checked beside the tests: format, lints, documentation, no_std builds, scripts.
#
#   scripts/check.sh
#
# Runs every check even if one fails, then prints a line for each, with its seconds, and "checks: N passed, N failed,
# N skipped". A skipped check says why.
set -euo pipefail
export LC_ALL=C CARGO_TERM_PROGRESS_WHEN=never
cd "$(dirname "${BASH_SOURCE[0]}")/.."

edition=$(sed -n 's/^edition = "\(.*\)"$/\1/p' Cargo.toml)
passed=0 failed=0 skipped=0 summary=''

note() { summary+=$(printf '  %-8s %4s s  %s' "$@")$'\n'; }
check() {
    local name=$1 began=$SECONDS
    shift
    echo "== $name"
    if "$@" </dev/null; then
        passed=$((passed + 1)); note passed $((SECONDS - began)) "$name"
    else
        failed=$((failed + 1)); note FAILED $((SECONDS - began)) "$name"
    fi
}
skip() { skipped=$((skipped + 1)); note skipped 0 "$1: $2"; }

# Each file by name: rustfmt follows `mod` items, but not those that a macro makes.
format() {
    local folders=(crates kernel)
    [ ! -d fuzz ] || folders+=(fuzz)
    find "${folders[@]}" -name target -prune -o -name '*.rs' -print0 |
        xargs -0 rustfmt --check --edition "$edition"
}

lint() { cargo clippy --quiet --workspace --all-targets -- -D warnings; }

# The kernel modules' Rust half is a workspace of its own.
kernel_library() {
    (cd kernel && cargo clippy --quiet --locked --workspace --lib --target x86_64-unknown-none -- -D warnings &&
        cargo test --quiet --locked --workspace --lib)
}

document() { RUSTDOCFLAGS='-D warnings' cargo doc --quiet --workspace --no-deps; }

# The crates that run inside kernels and browsers build without the standard library.
no_std() { cargo build --quiet -p idlewise-core -p idlewise-disk --no-default-features --target "$1" "${@:2}"; }

# Checks that boot a guest, most with one processor: workers take the next one from a list, as many at a time as were started.
# Status 77 says that a guest cannot run here, and the last line why.
box=$(mktemp -d)
guests=() workers=()
guest() { guests+=("$1" "$2"); }
# Each worker is a process group, so that nothing of it is left when this ends before it.
leave() {
    local group
    for group in "${workers[@]}"; do kill -- "-$group" 2>/dev/null || true; done
    rm -rf "$box"
}
trap leave EXIT
trap 'exit 130' INT TERM
# The place in the list of what nobody has begun.
take() {
    local next
    exec 8>"$box/lock"
    flock 8
    next=$(cat "$box/next" 2>/dev/null || echo 0)
    echo $((next + 2)) >"$box/next"
    exec 8>&-
    echo "$next"
}
work() {
    local number name began
    while number=$(take) && [ "$number" -lt ${#guests[@]} ]; do
        name=${guests[number]} began=$SECONDS
        { bash -c "${guests[number + 1]}" >"$box/$name.out" 2>&1 && echo 0 || echo $?; } >"$box/$name.new"
        echo $((SECONDS - began)) >>"$box/$name.new"
        mv "$box/$name.new" "$box/$name"
    done
}
start() {
    set -m
    work </dev/null &
    workers+=($!)
    set +m
}
finish() {
    local name=$1 status took
    while [ ! -e "$box/$name" ] && [ -n "$(jobs -r)" ]; do sleep 1; done
    { read -r status && read -r took; } <"$box/$name" || { status=1 took=0; }
    echo "== $name"
    cat "$box/$name.out"
    case $status in
        0) passed=$((passed + 1)); note passed "$took" "$name" ;;
        77) skip "$name" "$(tail -n 1 "$box/$name.out")" ;;
        *) failed=$((failed + 1)); note FAILED "$took" "$name" ;;
    esac
}

# The longest come first, so that all workers end at about the same time. The recordings that the tests use are those of the kernel that Debian has now.
guest "real kernel" "scripts/kernel-compare/run.sh --short"
# These two boot no guest, but take as long, and say in the same way what they lack.
guest "the page in a browser" "scripts/web.sh test"
guest "Python package" scripts/python.sh
guest "Debian packages" "scripts/test-deb.sh trixie"
guest "elevators in a real kernel" "scripts/kernel/run.sh short switches=7 loads=2"
# What differs there is between the modules and the kernel: one elevator of each family. `make kernel-all` takes all.
few=$(printf ' only=%s' noop iw-mq-deadline iw-kyber iw-bfq cfq cas stride antic-sptf turns)
guest "elevators in the newest kernel" "scripts/kernel/run.sh --kernel 7 short$few switches=3 loads=1"
guest "what a switch costs in a real kernel" "scripts/kernel/run.sh exact"
guest "what a recording counts, in a real kernel" "scripts/kernel/record.sh --short"
guest "what DKMS builds" scripts/kernel/test-install.sh
guest "advice on real programs in a real kernel" "scripts/kernel/advice.sh --short"
guest "nothing waits where nothing turns, in a real kernel" "scripts/kernel/flash.sh --short"
guest "a disk that is a model, in a real kernel" "scripts/kernel/run.sh disk"
guest "panics in a real kernel" "scripts/kernel/run.sh panic"
guest "disks that are pulled out, in a real kernel" "scripts/kernel/run.sh hotplug only=noop,cas,iw-bfq,turns"
guest "the papers' experiments in a real kernel" "scripts/kernel/papers.sh --short"
guest "the kernel's stack" "scripts/kernel/run.sh stack"
guest "a disk short of memory, in a real kernel" "scripts/kernel/run.sh memory"

# Beside the checks that compile.
start

check "format" format
check "clippy" lint
check "documentation" document

sysroot=$(rustc --print sysroot)
for target in x86_64-unknown-none wasm32-unknown-unknown; do
    if [ -d "$sysroot/lib/rustlib/$target" ]; then
        # For kernels the check of the kernel library builds both crates.
        [ "$target" = x86_64-unknown-none ] || check "no_std for $target" no_std "$target"
    elif [ -e "$sysroot/lib/rustlib/src/rust/library/Cargo.toml" ]; then
        # No prebuilt core for this target: build it from source. The flag is unstable, so the
        # compiler is told to allow it; nothing of ours depends on it.
        RUSTC_BOOTSTRAP=1 check "no_std for $target, core from source" no_std "$target" -Zbuild-std=core,alloc
    else
        skip "no_std for $target" "no core library for it (rustup target add $target, or Debian's rust-web-src)"
    fi
done

if [ -d "$sysroot/lib/rustlib/x86_64-unknown-none" ]; then
    check "kernel library" kernel_library
else
    skip "kernel library" "no core library for x86_64-unknown-none (rustup target add x86_64-unknown-none)"
fi

check "setup" scripts/test-setup.sh

# Guests wait for their disks part of the time: three keep two processors busy.
start
start
for ((number = 0; number < ${#guests[@]}; number += 2)); do finish "${guests[number]}"; done

# A gigabyte is unpacked for it, which takes longer than the test.
if [ "${IDLEWISE_RAY:-0}" = 1 ]; then
    check "sweeps on Ray" scripts/sweep/test.sh
else
    skip "sweeps on Ray" "Ray is a big download: IDLEWISE_RAY=1 asks for it"
fi

if command -v shellcheck >/dev/null; then
    check "shell scripts" shellcheck .ci/run scripts/*.sh scripts/*/*.sh kernel/build.sh traces/*.sh
else
    skip "shell scripts" "no shellcheck (apt-get install shellcheck)"
fi

printf '\n%s' "$summary"
echo "checks: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
