# machine: exact
# Disks that are models, each under a load that a living machine has: runs of large reads and writes, small reads and
# writes anywhere, one at a time and beside each other, ext4 with many small files, a log that is synced. `idlewise
# record` sees it, under mq-deadline; afterwards `idlewise disk calibrate` reads a disk with platters. Recordings and profiles leave the guest
# on a second disk, as a tar file: NUMBER.rec.gz and NUMBER.toml, by the place of the disk in the list. scripts/kernel/fit.sh
# compares them with the truth.
. /tests/parts.sh

# go NAME OPTION…: fio on the disk, past the page cache.
go() {
    name=$1
    shift
    fio --output=/tmp/fio --thread --direct=1 --filename=/dev/iwdisk0 --randrepeat=1 --norandommap --name="$name" "$@" >/dev/null 2>&1 ||
        bad "$name on $disk: $(tail -n 3 /tmp/fio)"
}
file_system() {
    mkfs.ext4 -q -E lazy_itable_init=0,nodiscard -J size=16 /dev/iwdisk0 600m >/tmp/mkfs 2>&1 || bad "mkfs.ext4: $(cat /tmp/mkfs)"
    mount -t ext4 -o noatime /dev/iwdisk0 /mnt || bad "no ext4"
}
runs() { # DIRECTION PLACE…
    direction=$1
    shift
    for place in "$@"; do go runs --rw="$direction" --ioengine=psync --bs=256k --size=24m --offset="$place%" --zero_buffers; done
}
files() {
    mawk 'BEGIN {
        srand(1)
        for (i = 0; i < 300; i++) {
            size = 6144 * exp(1.177 * sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()))
            print int(i / 16), i, int(size) + 1
        }
    }' | while read -r folder file size; do
        [ -d "/mnt/$folder" ] || mkdir "/mnt/$folder"
        head -c "$size" /dev/urandom >"/mnt/$folder/$file"
    done
    sync
    echo 3 >/proc/sys/vm/drop_caches
    tar -cf - /mnt 2>/dev/null | cat >/dev/null
}
random() { # COUNT OPTION…; the first 600 MB are the file system's
    count=$1
    shift
    go random --ioengine=libaio --number_ios="$count" --offset=10% --zero_buffers "$@"
}
load() {
    runs read 1 20 40 60 80 98
    files
    random 1000 --rw=randread --bsrange=4k-64k --iodepth=1 --randseed=1
    fio --output=/tmp/fio --name=log --directory=/mnt --rw=write --bs=4k --size=400k --fsync=1 --zero_buffers >/dev/null 2>&1 ||
        bad "the log on $disk"
    runs write 20 60
    random 600 --rw=randwrite --bsrange=4k-64k --iodepth=1 --randseed=2
    random 600 --rw=randread --bs=4k --iodepth=16 --randseed=3
    random 600 --rw=randwrite --bsrange=4k-32k --iodepth=8 --randseed=4
    random 1000 --rw=randrw --rwmixread=70 --bsrange=4k-128k --iodepth=4 --randseed=5
    runs read 10 30 50 70 90
    random 1000 --rw=randread --bsrange=4k-64k --iodepth=1 --thinktime=3ms --randseed=6
}

number=0
for disk in $(argument disks | tr ';' ' '); do
    insmod /modules/idlewise-disk.ko disks="$disk" || { bad "the disk $disk cannot be had"; continue; }
    set_queue iwdisk0 scheduler mq-deadline
    file_system
    : >/tmp/record
    idlewise record /dev/iwdisk0 --output "/tmp/$number.rec.gz" >/tmp/record 2>&1 &
    recorder=$!
    tries=0
    while ! grep -q '^recording' /tmp/record && [ $tries -lt 50 ]; do tries=$((tries + 1)); sleep 0.1; done
    load
    kill -INT "$recorder"
    wait "$recorder" || bad "the recorder of $disk: $(cat /tmp/record)"
    umount /mnt || bad "the file system stays"
    say "$disk: $(tail -n 1 /tmp/record)"
    # Of flash the search alone would take a quarter of an hour in an emulated machine.
    if [ "$(argument calibrate)$(queue iwdisk0 rotational)" = 11 ]; then
        idlewise disk calibrate /dev/iwdisk0 --output "/tmp/$number.toml" >/tmp/calibrate 2>&1 || bad "calibrate: $(cat /tmp/calibrate)"
    fi
    set_queue iwdisk0 scheduler none
    rmmod idlewise_disk || bad "$disk stays"
    number=$((number + 1))
    # After each disk, so that an end before the last one leaves what there is.
    (cd /tmp && tar -cf /dev/vda -- *.rec.gz $(ls | grep toml)) || bad "the recordings stay here"
done
clean_log fit
