#!/usr/bin/env bash
# Tests the Debian packages: in a clean root of each release they are installed, used, removed, and leave nothing. The
# modules that DKMS built are loaded and used in a guest with that release's kernel.
#
#   scripts/test-deb.sh [RELEASE…]        (default: bookworm trixie)
#
# Prints the files of each package. The roots are made below the target folder and go away. Exit status: 0 all is
# well, 1 not, 77 it cannot run here (the last line says why).
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/kernel/packages.sh

[ "$(id -u)" = 0 ] || cannot "only root can make a root of another system"
command -v mmdebstrap >/dev/null || cannot "no mmdebstrap (apt-get install mmdebstrap, on Debian)"
# archive LABEL: where this machine's own packages of that label come from.
# shellcheck disable=SC2016
archive() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Label: $1" | head -n 1; }
mirror=$(archive Debian) updates=$(archive Debian-Security)
[ -n "$mirror" ] || cannot "apt has no list of Debian's packages (apt-get update, on Debian for amd64)"
releases=("$@")
[ $# -gt 0 ] || releases=(bookworm trixie)

# What is tested is the package, not the program's speed.
scripts/deb.sh --as-tested || exit $?
place=$kernel_work/deb
root=
leave() { [ -z "$root" ] || { umount "$root/proc" 2>/dev/null || true; rm -rf "$root"; }; }
trap leave EXIT

bad() { echo "not ok: $*"; exit 1; }
inside() { chroot "$root" env PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
# left: what is there of idlewise, apart from what apt and dpkg remember.
left() { (cd "$root" && find . -path ./proc -prune -o -iname '*idlewise*' ! -path './root/*' ! -path './var/lib/dpkg/*' ! -path './var/log/*' -print); }

module() { # NAME PARAMETER…
    local file field
    file=$(inside find /lib/modules/ -name "$1.ko*" | head -n 1)
    [ -n "$file" ] || bad "$1 is not built"
    for field in version author description license srcversion vermagic signer; do
        [ -n "$(inside modinfo -F "$field" "$file")" ] || bad "modinfo shows no $field of $1"
    done
    [ "$(inside modinfo -F version "$file")" = "$version" ] || bad "$1 says that it is version $(inside modinfo -F version "$file")"
    echo "ok: $1, $(inside modinfo -F vermagic "$file")"
}

boot() { # RELEASE
    local modules=$place/$1-modules image=$place/$1-image file abi status=0
    abi=$(inside modinfo -F vermagic "$(inside find /lib/modules/ -name 'idlewise.ko*')" | cut -d ' ' -f 1)
    rm -rf "$modules"
    mkdir "$modules"
    find "$root"/lib/modules/ -name 'idlewise*.ko*' -exec cp {} "$modules/" \;
    for file in "$modules"/*.xz; do [ ! -e "$file" ] || xz -d "$file"; done
    rm -rf "$image"
    inside sh -c "apt-get -q update && cd /root && apt-get download -q linux-image-$abi" >"$place/$1.log" 2>&1 ||
        { cat "$place/$1.log"; bad "the kernel $abi cannot be had"; }
    dpkg-deb -x "$root/root/linux-image-$abi"_*.deb "$image"
    MODULES=$modules KERNEL_IMAGE=$image GUEST_NAME=$1 scripts/kernel/run.sh packaged || status=$?
    # Where there is no emulator the rest of the test is still worth its time.
    [ "$status" = 77 ] || [ "$status" = 0 ] || bad "what DKMS built for $abi does not work"
}

try() { # RELEASE
    local package
    root=$place/$1
    local sources=("deb $mirror $1 main")
    [ -z "$updates" ] || sources+=("deb $updates $1-security main")
    mmdebstrap --quiet --variant=apt --include=dkms,openssl,linux-headers-amd64,man-db,bash-completion "$1" "$root" "${sources[@]}" ||
        cannot "no root of $1 can be made from $mirror"
    mount -t proc proc "$root/proc"
    cp "$place"/*.deb "$root/root/"
    inside sh -c 'apt-get install -q -y --no-install-recommends /root/*.deb' >"$place/$1.log" 2>&1 ||
        { tail -n 20 "$place/$1.log" "$root"/var/lib/dkms/idlewise/*/build/make.log; bad "the packages do not install on $1"; }
    echo "ok: installed on $1"

    inside idlewise --version | grep -qx "idlewise $version" || bad "idlewise --version: $(inside idlewise --version)"
    inside idlewise compare --trace /usr/share/doc/idlewise/examples/demo.ftrace.zst --disk maxtor-40g --schedulers linux \
        --max-requests 2000 | tail -n 3
    inside man -w idlewise idlewise-advise idlewise-compare >/dev/null || bad "no manual pages"
    inside bash -c '. /usr/share/bash-completion/completions/idlewise && complete -p idlewise' >/dev/null ||
        bad "bash does not take the completions"
    inside dkms status idlewise | grep -q installed || { tail -n 30 "$place/$1.log"; bad "dkms status: $(inside dkms status idlewise)"; }
    module idlewise
    module idlewise-disk
    boot "$1"
    for package in idlewise idlewise-dkms; do
        echo "$package:"
        inside dpkg -L "$package" | sed 's/^/    /'
    done

    inside sh -c 'apt-get purge -q -y idlewise idlewise-dkms' >"$place/$1.log" 2>&1 || { tail "$place/$1.log"; bad "the packages stay on $1"; }
    [ -z "$(left)" ] || bad "left on $1: $(left)"
    echo "ok: nothing is left on $1"
    leave
    root=
}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' kernel/Cargo.toml)
for release in "${releases[@]}"; do try "$release"; done
