# memory: 256
# A modelled disk short of memory: it gives requests back, and each of them succeeds in the end. 64 large writes are
# under way while the cache of a reader takes what memory there is.
insmod /modules/idlewise-disk.ko disks=sata-ssd || bad "the disk cannot be had"
# No reserve from which what may not sleep is served.
echo 200 >/proc/sys/vm/min_free_kbytes
echo 1 >/proc/sys/vm/watermark_scale_factor
echo go >/tmp/running
(
    while [ -e /tmp/running ]; do dd if=/dev/iwdisk0 of=/dev/null bs=1M skip=4096 count=512 2>/dev/null; done
    echo over >/tmp/over
) &
# Whether the reader takes memory just when a command wants some is chance: as many rounds as it takes.
returned() { cat /sys/block/iwdisk0/model/returned; }
number=0
while [ $number -lt 3 ] || { [ "$(returned)" -le 20 ] && [ $number -lt 30 ]; }; do
    number=$((number + 1))
    fio --output=/tmp/fio --name=writes --filename=/dev/iwdisk0 --ioengine=libaio --direct=1 --rw=randwrite --bs=32k \
        --iodepth=64 --iodepth_batch_submit=64 --size=100m >/tmp/fio.out 2>&1 ||
        bad "round $number: fio fails: $(grep -h error /tmp/fio.out /tmp/fio | head -n 1)"
    blkdiscard -l 104857600 /dev/iwdisk0 || bad "round $number: the disk does not discard"
done
rm /tmp/running
while [ ! -e /tmp/over ]; do sleep 0.1; done
[ "$(returned)" -gt 20 ] || bad "only $(returned) commands found no memory"
[ "$(failures)" != 0 ] || good "$number rounds of writes, of which $(returned) found no memory at first"
clean_log memory
