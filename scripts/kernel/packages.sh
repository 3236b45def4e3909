# shellcheck shell=bash disable=SC2034
# Debian's kernel, its headers and its source, all of one version, unpacked below the target folder. Nothing
# is installed. To be sourced; then `kernel_image`, `kernel_headers` and `kernel_block` each set a variable
# of that name, and `kernel_debug` all three. `cannot REASON` ends the script with status 77: it cannot run here.

cannot() { echo "$*"; exit 77; }

kernel_work=${CARGO_TARGET_DIR:-target}
mkdir -p "$kernel_work"
kernel_work=$(cd "$kernel_work" && pwd)

kernel_find() {
    local tool image
    for tool in apt-get apt-cache dpkg-deb; do
        command -v "$tool" >/dev/null || cannot "no $tool: Debian's kernel is fetched with it"
    done
    image=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -n "$image" ] || cannot "apt-cache knows no linux-image-amd64 (apt-get update, on Debian for amd64)"
    kernel_abi=${image#linux-image-}
    kernel_version=$(apt-cache policy "$image" | sed -n 's/ *Candidate: //p')
    case $kernel_abi in
        6.1.*) ;;
        *) cannot "this Debian has Linux $kernel_abi; the modules support 6.1" ;;
    esac
}

# Unpacks a package of the kernel's version into the folder $2, once.
kernel_unpack() {
    local package=$1 folder=$2 log lock
    # Two tests may want it at a time.
    mkdir -p "${folder%/*}"
    exec {lock}>"$folder.lock"
    flock "$lock"
    if [ -e "$folder" ]; then exec {lock}>&-; return 0; fi
    log=$kernel_work/download.log
    mkdir -p "$folder.part"
    echo "downloading and unpacking $package" >&2
    (cd "$folder.part" && apt-get download -q "$package=$kernel_version" >"$log" 2>&1) ||
        cannot "$package cannot be downloaded: $(tail -n 1 "$log")"
    dpkg-deb -x "$folder.part/$package"_*.deb "$folder.part"
    rm -f "$folder.part/$package"_*.deb
    mv "$folder.part" "$folder"
    exec {lock}>&-
}

# The image: $kernel_image/boot/vmlinuz-*, $kernel_image/lib/modules.
kernel_image() {
    kernel_find
    kernel_image=$kernel_work/kernel-compare/linux-image-$kernel_abi
    kernel_unpack "linux-image-$kernel_abi" "$kernel_image"
}

# The build folder for modules. Three packages that name each other by absolute paths.
kernel_headers() {
    kernel_find
    local place=$kernel_work/kernel-headers-$kernel_version package
    kernel_headers=$place/usr/src/linux-headers-$kernel_abi
    [ ! -e "$place" ] || return 0
    rm -rf "$place.new"
    mkdir -p "$place.new"
    for package in "linux-headers-$kernel_abi" "linux-headers-${kernel_abi%-amd64}-common" linux-kbuild-6.1; do
        kernel_unpack "$package" "$place.one"
        cp -a "$place.one/." "$place.new/"
        rm -rf "$place.one"
    done
    sed -i "s|/usr/src/|$place/usr/src/|" "$place.new/usr/src/linux-headers-$kernel_abi/Makefile"
    mv "$place.new" "$place"
}

# The source, once.
kernel_source() {
    kernel_find
    local place=$kernel_work/kernel-source-$kernel_version
    kernel_unpack linux-source-6.1 "$place"
    kernel_source=$place/usr/src/linux-source-6.1.tar.xz
}

# The headers below block/ of the source, which modules are not offered.
kernel_block() {
    kernel_source
    local place=$kernel_work/kernel-block-$kernel_version
    kernel_block=$place
    [ ! -e "$place" ] || return 0
    rm -rf "$place.new"
    mkdir -p "$place.new"
    tar -xJf "$kernel_source" -C "$place.new" --strip-components=2 --wildcards 'linux-source-6.1/block/*.h'
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
        # What this source does not know or cannot have is not silently left out.
        if grep '^CONFIG' kernel/debug.config | grep -vxFf "$build/.config"; then
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
