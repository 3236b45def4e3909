# shellcheck shell=bash disable=SC2154
# A guest that boots Debian's stock kernel in QEMU with busybox and fio. To be sourced after packages.sh.
#
#   guest_new                 begins an empty root in $guest_root
#   guest_module NAME…        adds modules of the kernel's, each after those that it depends on; NAME? only if there is one
#   guest_fio                 adds fio
#   guest_program NAME…       adds other programs of the host's
#   guest_boot LOG APPEND QEMU…    packs the root, boots it, and writes the console to LOG

guest_new() {
    local tool
    for tool in qemu-system-x86_64 cpio busybox; do
        command -v "$tool" >/dev/null || cannot "no $tool (apt-get install qemu-system-x86 cpio busybox-static, on Debian)"
    done
    guest_root=$kernel_work/kernel-guest/$1
    rm -rf "$guest_root"
    mkdir -p "$guest_root"/{bin,modules,lib64,lib,proc,sys,dev,tmp,mnt}
    cp "$(command -v busybox)" "$guest_root/bin/"
    if ldd "$guest_root/bin/busybox" >/dev/null 2>&1; then
        cannot "busybox is linked dynamically (apt-get install busybox-static)"
    fi
}

guest_module() {
    local name file needed plain list
    for name in "$@"; do
        file=$(guest_find_module "${name%\?}")
        if [ -z "$file" ]; then
            # Some kernels have it built in; not every package has the list of what is.
            list=$(echo "$kernel_image"/lib/modules/*/modules.builtin)
            if [[ $name = *\? ]] || [ ! -e "$list" ] || grep -q "/${name//_/[-_]}\.ko" "$list"; then continue; fi
            echo "the kernel has no module $name"
            return 1
        fi
        plain=${file##*/} plain=${plain%.xz}
        [ ! -e "$guest_root/modules/$plain" ] || continue
        if [ "$file" = "${file%.xz}" ]; then cp "$file" "$guest_root/modules/$plain"; else xz -dc "$file" >"$guest_root/modules/$plain"; fi
        needed=$(tr '\0' '\n' <"$guest_root/modules/$plain" | sed -n 's/^depends=//p' | head -n 1)
        # shellcheck disable=SC2086
        guest_module ${needed//,/ }
        echo "$plain" >>"$guest_root/modules/order"
    done
}
# A module's name may be written with _ or -; newer kernels compress modules.
guest_find_module() {
    find "$kernel_image/lib/modules/" -regex ".*/${1//[-_]/[-_]}\.ko\(\.xz\)?" | head -n 1
}

# Debian's fio wants 80 MB of libraries for engines that are not used here. In their place stands one that
# has every function they would have; so fio starts at once, also in an emulated machine.
guest_fio() {
    local fio libraries=$guest_root/lib stub=$guest_root.stub library
    fio=$(command -v fio) || cannot "no fio (apt-get install fio)"
    command -v cc >/dev/null || cannot "no cc (apt-get install gcc)"
    cp "$fio" "$guest_root/bin/fio"
    cp -L /lib64/ld-linux-x86-64.so.2 "$guest_root/lib64/"
    mkdir -p "$stub"
    local kept=() dropped=() map version
    for library in $(readelf -d "$fio" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p'); do
        case $library in
            libc.so* | libm.so* | libz.so* | libaio.so* | libnuma.so*)
                kept+=("$(ldd "$fio" | awk -v name="$library" '$1 == name {print $3}')") ;;
            *) dropped+=("$library") ;;
        esac
    done
    cp -L "${kept[@]}" "$libraries/"
    # Each stub has the versions that fio asks of that library, and all functions; one name may be in several.
    comm -23 <(nm -D --undefined-only "$fio" | awk '{print $2}' | sort -u) \
        <(nm -D --defined-only "${kept[@]}" | awk 'NF == 3 {sub("@@", "@", $3); print $3}' | sort -u) |
        grep -v '@GLIBC_' >"$stub/wanted"
    for library in "${dropped[@]}"; do
        objdump -p "$fio" | awk -v name="$library:" '/required from/ {own = $3 == name} own && NF == 4 {print $4}' >"$stub/versions"
        sed 's/@.*//' "$stub/wanted" | sort -u | awk '!/^(_ITM|__gmon|__cxa)/ {print "void " $1 "(void) {}"}' >"$stub/stub.c"
        while read -r version; do
            echo "$version { global: $(sed -n "s/@$version\$/;/p" "$stub/wanted" | tr '\n' ' ') };"
        done <"$stub/versions" >"$stub/map"
        map=()
        [ ! -s "$stub/map" ] || map=("-Wl,--version-script=$stub/map")
        cc -shared -nostdlib -w -Wl,-soname,"$library" "${map[@]}" -o "$libraries/$library" "$stub/stub.c"
    done
}

# guest_program NAME…: programs of the host's with their libraries.
guest_program() {
    local name file library
    for name in "$@"; do
        file=$(PATH=$PATH:/usr/sbin:/sbin command -v "$name") ||
            cannot "no $name (apt-get install e2fsprogs mawk, on Debian)"
        cp "$file" "$guest_root/bin/"
        while read -r library; do cp -Ln "$library" "$guest_root/lib/"; done < <(ldd "$file" | sed -n 's/.*=> \(.*\) (.*/\1/p')
    done
}

# PostgreSQL, and /postgres.tar: a cluster whose database has the tables of pgbench.
guest_postgres() {
    local bin share cluster
    bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
    [ -x "$bin/initdb" ] || cannot "no PostgreSQL (apt-get install postgresql, on Debian)"
    PATH=$bin:$PATH guest_program postgres pg_ctl pgbench
    # They are found by where Debian has them.
    mkdir -p "$guest_root${bin%/bin}" "$guest_root/usr/share/postgresql" "$guest_root/etc"
    ln -s /bin "$guest_root$bin"
    cp -r "${bin%/bin}/lib" "$guest_root${bin%/bin}/"
    rm -rf "$guest_root${bin%/bin}/lib/bitcode"
    share=/usr/share/postgresql/${bin#/usr/lib/postgresql/}
    cp -rL "${share%/bin}" "$guest_root/usr/share/postgresql/"
    cp -r /usr/share/zoneinfo "$guest_root/usr/share/" 2>/dev/null || true
    echo 'postgres:x:70:70::/tmp:/bin/sh' >"$guest_root/etc/passwd"
    cluster=$guest_root.cluster
    rm -rf "$cluster"
    mkdir -p "$cluster"
    chown postgres "$cluster"
    guest_cluster "$bin" "$cluster" | su postgres -s /bin/sh >"$guest_root.initdb" 2>&1 || { cat "$guest_root.initdb"; return 1; }
    tar -C "$cluster" -cf "$guest_root/postgres.tar" .
}
guest_cluster() {
    cat <<EOF
set -e
cd /
$1/initdb -D $2 -A trust --locale=C -E UTF8
$1/pg_ctl -D $2 -w -o "-k $2 -h ''" start
$1/pgbench -h $2 -i -q -s 2 postgres
$1/pg_ctl -D $2 -m fast stop
EOF
}

guest_boot() {
    local log=$1 append=$2 status=0
    shift 2
    kernel_vmlinux
    (cd "$guest_root" && find . | cpio -o -H newc --quiet) >"$guest_root.cpio"
    # In an emulator each step of a string instruction is an instruction, so the kernel is told to copy eight bytes in a step, not
    # one; and to look pages up in four tables, not five. Both save a fifth of the time.
    timeout --foreground "${GUEST_TIMEOUT:-900}" qemu-system-x86_64 -M pc -cpu max,la57=off,-erms,-fsrm -m "${GUEST_MEMORY:-1024}" -nographic -no-reboot \
        -nodefaults -serial stdio -kernel "$kernel_vmlinux" -initrd "$guest_root.cpio" \
        -append "console=ttyS0 panic=-1 mitigations=off $append" "$@" </dev/null 2>&1 | sed -u 's|\r||g' >"$log" || status=$?
    [ "$status" != 124 ] || echo "the guest did not end in ${GUEST_TIMEOUT:-900} s" >>"$log"
}
