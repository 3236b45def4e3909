# shellcheck shell=bash disable=SC2034
# Debian's kernel, its headers and its source, all of one version, unpacked below the target folder. Nothing
# is installed. To be sourced; then `kernel_image`, `kernel_headers` and `kernel_block` each set a variable
# of that name, and `kernel_debug` all three. `cannot REASON` ends the script with status 77: it cannot run here.
#
# KERNEL says which kernel: the newest whose version begins so, or the one that `uname -r` calls so. 6.1 if it says nothing.
# What this Debian's archive does not have comes from Debian's newer releases.

cannot() { echo "$*"; exit 77; }

kernel_work=${CARGO_TARGET_DIR:-target}
mkdir -p "$kernel_work"
kernel_work=$(cd "$kernel_work" && pwd)
kernel_line=${KERNEL:-6.1}
# Names what is made for that kernel.
kernel_suffix=
[ "$kernel_line" = 6.1 ] || kernel_suffix=-$kernel_line

# The versions that the modules support, in one line, as kernel/shim/compat.h has them.
kernel_supported() {
    grep '^#if !(IW_LINE' kernel/shim/compat.h | grep -o '([0-9]*, [0-9]*)' | tr -d '()' | sed 's/, /./' | paste -s -d ' '
}
# Whether MAJOR.MINOR is one of them.
kernel_supports() { [[ " $(kernel_supported) " == *" $1 "* ]]; }

# The newest image of the wanted line that apt knows, without variants such as -rt and -cloud; or the very one.
kernel_newest() {
    local names
    names=$(apt-cache "${kernel_apt[@]}" pkgnames "linux-image-$kernel_line" 2>/dev/null)
    if grep -qxF "linux-image-$kernel_line" <<<"$names" && [[ $kernel_line == *-* ]]; then echo "$kernel_line"; return; fi
    sed -n "s/^linux-image-\(${kernel_line//./\\.}\.[0-9.]*\([-+][0-9a-z]*\)\?-amd64\)\$/\1/p" <<<"$names" | sort -V | tail -n 1
}

kernel_find() {
    local tool
    [ -z "${kernel_abi:-}" ] || return 0
    for tool in apt-get apt-cache dpkg-deb; do
        command -v "$tool" >/dev/null || cannot "no $tool: Debian's kernel is fetched with it"
    done
    kernel_apt=()
    kernel_abi=$(kernel_newest)
    if [ -z "$kernel_abi" ]; then
        kernel_releases
        kernel_abi=$(kernel_newest)
    fi
    [ -n "$kernel_abi" ] || cannot "apt-cache knows no Linux $kernel_line (apt-get update, on Debian for amd64)"
    kernel_version=$(apt-cache "${kernel_apt[@]}" policy "linux-image-$kernel_abi" | sed -n 's/ *Candidate: //p')
    kernel_minor=$(cut -d . -f 1,2 <<<"$kernel_abi")
    kernel_supports "$kernel_minor" ||
        cannot "Debian has Linux $kernel_abi, the modules support $(kernel_supported) (to port them, go through kernel/shim/compat.h)"
}

# From now on apt looks at Debian's newer releases, at the same place as the system's own: lists and all else lie below the
# target folder. The lists are fetched anew once a day.
kernel_releases() {
    local place=$kernel_work/kernel-apt archive signed='' stable lock
    mkdir -p "$place"/{state/lists/partial,cache/archives/partial}
    kernel_apt=(-o "Dir::Etc::sourcelist=$place/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State=$place/state"
        -o "Dir::State::status=$place/status" -o "Dir::Cache=$place/cache")
    exec {lock}>"$place/lock"
    flock "$lock"
    if [ -z "$(find "$place/updated" -mmin -1440 2>/dev/null)" ]; then
        echo "looking for Linux $kernel_line in Debian's newer releases" >&2
        # shellcheck disable=SC2016
        archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
        [ -n "$archive" ] || cannot "apt has no list of Debian's packages (apt-get update, on Debian for amd64)"
        [ ! -e /usr/share/keyrings/debian-archive-keyring.gpg ] ||
            signed='signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'
        : >"$place/status"
        # What the stable release is called; its backports are fetched by that name, as the mirrors keep it fresher than the other.
        echo "deb [target=Packages $signed] $archive stable main" >"$place/sources.list"
        kernel_lists "$place" -o Acquire::IndexTargets::deb::Packages::DefaultEnabled=false
        stable=$(sed -n 's/^Codename: //p' "$place"/state/lists/*_stable_InRelease)
        printf "deb [target=Packages $signed] $archive %s main\n" "$stable" "$stable-backports" unstable >"$place/sources.list"
        kernel_lists "$place"
        touch "$place/updated"
    fi
    exec {lock}>&-
}
# Where the network is away, lists of an earlier day will do.
kernel_lists() {
    local log=$1/log updated=$1/updated
    shift
    apt-get "${kernel_apt[@]}" "$@" -q update --error-on=any >"$log" 2>&1 || [ -e "$updated" ] ||
        cannot "the lists of Debian's newer releases cannot be fetched: $(grep -m 1 '^E:' "$log")"
}

# Packages that a package depends on, as far as their names fit.
kernel_depends() {
    apt-cache "${kernel_apt[@]}" depends "$1" | sed -n 's/^ *Depends: \([^<].*\)/\1/p' | grep -E "$2"
}

# Unpacks a package into the folder $2, once: that of the kernel's version, or of the version $3.
kernel_unpack() {
    local package=$1 folder=$2 version=${3-=$kernel_version} log lock
    # Two tests may want it at a time.
    mkdir -p "${folder%/*}"
    exec {lock}>"$folder.lock"
    flock "$lock"
    if [ -e "$folder" ]; then exec {lock}>&-; return 0; fi
    log=$kernel_work/download.log
    rm -rf "$folder.part"
    mkdir -p "$folder.part"
    echo "downloading and unpacking $package" >&2
    (cd "$folder.part" && apt-get "${kernel_apt[@]}" download -q "$package$version" >"$log" 2>&1) ||
        cannot "$package cannot be downloaded: $(grep -m 1 '^E:' "$log")"
    dpkg-deb -x "$folder.part/$package"_*.deb "$folder.part"
    rm -f "$folder.part/$package"_*.deb
    mv "$folder.part" "$folder"
    exec {lock}>&-
}

# The version of a package of the kernel, as apt-get wants it. The archive has one version of kbuild, which is ahead of the
# kernel's while the next kernel is being signed; the headers are content with a later one.
kernel_version_of() {
    if [[ $1 == linux-kbuild-* ]] && ! kernel_offers "$1"; then return; fi
    echo "=$kernel_version"
}

# Unpacks some packages into one folder.
kernel_unpack_all() {
    local folder=$1 package
    shift
    rm -rf "$folder"
    mkdir -p "$folder"
    for package in "$@"; do
        rm -rf "$folder.one"
        kernel_unpack "$package" "$folder.one" "${kernel_any-$(kernel_version_of "$package")}"
        cp -a "$folder.one/." "$folder/"
        rm -rf "$folder.one"
    done
}

# The image: $kernel_image/boot/vmlinuz-*, $kernel_image/lib/modules. Newer ones come in parts, and lie below usr/.
# KERNEL_IMAGE: a folder with one that was unpacked elsewhere.
kernel_image() {
    if [ -n "${KERNEL_IMAGE:-}" ]; then
        kernel_image=$KERNEL_IMAGE
        [ -e "$kernel_image/lib/modules" ] || ln -s usr/lib "$kernel_image/lib"
        return
    fi
    kernel_find
    kernel_image=$kernel_work/kernel-compare/linux-image-$kernel_abi
    local lock parts
    mkdir -p "${kernel_image%/*}"
    exec {lock}>"$kernel_image.whole.lock"
    flock "$lock"
    if [ ! -e "$kernel_image" ]; then
        parts=$(kernel_depends "linux-image-$kernel_abi" '^linux-(binary|modules)-' || true)
        # shellcheck disable=SC2086
        kernel_unpack_all "$kernel_image.new" "linux-image-$kernel_abi" $parts
        [ -e "$kernel_image.new/lib/modules" ] || ln -s usr/lib "$kernel_image.new/lib"
        if [ ! -e "$kernel_image.new/boot" ]; then
            mkdir "$kernel_image.new/boot"
            ln "$kernel_image.new/lib/modules/$kernel_abi/vmlinuz" "$kernel_image.new/boot/vmlinuz-$kernel_abi"
        fi
        mv "$kernel_image.new" "$kernel_image"
    fi
    exec {lock}>&-
}

# The image without its compression, which an emulator takes five seconds to undo: $kernel_image/boot/vmlinux. Where it
# lies in the image is said in the image's head (Linux: Documentation/arch/x86/boot.rst); behind it come four bytes with its size.
kernel_vmlinux() {
    local image tool head
    kernel_vmlinux=$kernel_image/boot/vmlinux
    [ ! -e "$kernel_vmlinux" ] || return 0
    image=$(echo "$kernel_image"/boot/vmlinuz-*)
    number() { od -An -t "u$2" -j "$1" -N "$2" "$image" | tr -d ' '; }
    head=$(((1 + $(number 0x1f1 1)) * 512 + $(number 0x248 4)))
    tool=xz
    [ "$(number "$head" 4)" != $((0xfd2fb528)) ] || tool=zstd
    if dd if="$image" bs=1M iflag=skip_bytes,count_bytes skip="$head" count=$(($(number 0x24c 4) - 4)) status=none | "$tool" -dcq >"$kernel_vmlinux.$$" 2>/dev/null; then
        mv "$kernel_vmlinux.$$" "$kernel_vmlinux"
    else
        rm -f "$kernel_vmlinux.$$"
        kernel_vmlinux=$image
    fi
}

# The build folder for modules. Three packages that name each other by absolute paths.
kernel_headers() {
    kernel_find
    local place=$kernel_work/kernel-headers-$kernel_version parts
    # Variants have the same version.
    [[ ! $kernel_abi =~ -(cloud|rt)-amd64$ ]] || place+=${BASH_REMATCH[0]}
    kernel_headers=$place/usr/src/linux-headers-$kernel_abi
    [ ! -e "$place" ] || return 0
    parts=$(kernel_depends "linux-headers-$kernel_abi" '^linux-(headers-.*-common|kbuild-.*)$')
    # shellcheck disable=SC2086
    kernel_unpack_all "$place.new" "linux-headers-$kernel_abi" $parts
    sed -i "s|/usr/src/|$place/usr/src/|" "$place.new/usr/src/linux-headers-$kernel_abi/Makefile"
    kernel_tools "$place.new" "$place"
    mv "$place.new" "$place"
}

# The programs of a newer release want its C library: it is put beside them in the folder $1, which becomes $2, and they are
# started with it.
kernel_tools() {
    local place=$1 final=$2 library program programs=()
    library=$final/lib-of-tools/usr/lib/x86_64-linux-gnu
    while read -r program; do
        # Not `grep -q`, which does not read on: then ldd ends as if it had failed.
        [[ $(ldd "$program" 2>&1) != *'not found'* ]] || programs+=("$program")
    done < <(find "$place"/usr/lib/linux-kbuild-* -type f -perm /111)
    [ ${#programs[@]} -gt 0 ] || return 0
    # shellcheck disable=SC2046
    kernel_any='' kernel_unpack_all "$place/lib-of-tools" $(kernel_depends "$(basename "$place"/usr/lib/linux-kbuild-*)" '^(lib|zlib)')
    for program in "${programs[@]}"; do
        mv "$program" "$program.own"
        printf '#!/bin/sh\nexec %s/ld-linux-x86-64.so.2 --library-path %s "%s.own" "$@"\n' \
            "$library" "$library" "$final${program#"$place"}" >"$program"
        chmod +x "$program"
    done
}

# Whether apt offers a package in just the kernel's version.
kernel_offers() {
    apt-cache "${kernel_apt[@]}" madison "$1" 2>/dev/null | awk -F ' *[|] *' '{print $2}' | grep -qxF "$kernel_version"
}

# Whether there is a source of just the kernel's version.
kernel_has_source() {
    kernel_find
    kernel_offers "linux-source-$kernel_minor"
}

# The source, once.
kernel_source() {
    kernel_find
    local place=$kernel_work/kernel-source-$kernel_version
    kernel_unpack "linux-source-$kernel_minor" "$place"
    kernel_source=$place/usr/src/linux-source-$kernel_minor.tar.xz
}

# The headers below block/ of the source, which modules are not offered.
kernel_block() {
    kernel_source
    local place=$kernel_work/kernel-block-$kernel_version
    kernel_block=$place
    [ ! -e "$place" ] || return 0
    rm -rf "$place.new"
    mkdir -p "$place.new"
    tar -xJf "$kernel_source" -C "$place.new" --strip-components=2 --wildcards "linux-source-$kernel_minor/block/*.h"
    mv "$place.new" "$place"
}

# A kernel that checks itself (kernel/debug.config), built from the source: image, headers and block in one.
kernel_debug() {
    kernel_source
    local place=$kernel_work/kernel-debug-$kernel_version build tool began=$SECONDS
    for tool in gcc make flex bison bc; do
        command -v "$tool" >/dev/null || cannot "no $tool (apt-get install gcc make flex bison bc libelf-dev, on Debian)"
    done
    [ -e /usr/include/libelf.h ] || cannot "no libelf.h (apt-get install libelf-dev, on Debian)"
    build=$place/build
    if ! cmp -s kernel/debug.config "$place/debug.config"; then
        echo "building a kernel that checks itself, from $kernel_source" >&2
        rm -rf "$place"
        mkdir -p "$build"
        tar -xJf "$kernel_source" -C "$build" --strip-components=1
        KCONFIG_ALLCONFIG=$PWD/kernel/debug.config make -s -C "$build" allnoconfig >"$place/build.log" 2>&1
        # What this source does not know or cannot have is not silently left out. Since 6.9 mitigations are named as such.
        if grep '^CONFIG' kernel/debug.config | sed 's/_MITIGATION_/_/' |
            grep -vxFf <(sed 's/_MITIGATION_/_/' "$build/.config"); then
            echo "these lines of kernel/debug.config have no effect" >&2
            return 1
        fi
        make -s -C "$build" -j "$(nproc)" bzImage modules >>"$place/build.log" 2>&1 || { tail "$place/build.log" >&2; return 1; }
        make -s -C "$build" modules_install INSTALL_MOD_PATH="$place" DEPMOD=true >>"$place/build.log" 2>&1
        mkdir "$place/boot"
        cp "$build/arch/x86/boot/bzImage" "$place/boot/vmlinuz-debug"
        cp kernel/debug.config "$place/"
        echo "built in $((SECONDS - began)) s" >&2
    fi
    kernel_image=$place kernel_headers=$build kernel_block=$build/block kernel_abi="$kernel_abi with debug.config"
}

# What the checks build, for those scripts that the checks run.
as_tested=(test --no-run --workspace)
# program NAME CARGO_ARGUMENT…: builds the program or example so, and says where it lies.
program() {
    local name=$1
    shift
    cargo "$@" --quiet --message-format json |
        sed -n 's/.*"executable":"\([^"]*\/'"$name"'\)".*/\1/p' | tail -n 1
}
