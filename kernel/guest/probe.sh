# A first look: the module loads, one elevator works.
all_devices
insmod /modules/idlewise.ko || bad "the module does not load"
queue sda scheduler
for device in $devices; do set_queue $device scheduler cas || bad "cas on $device"; done
queue sda scheduler
ls /sys/block/sda/queue/iosched
start=$(seconds)
job probe && good "fio"
say "$(($(seconds) - start)) s"
balanced probe
for file in inserted dispatched completed merged absorbed waits exits; do echo "$file $(queue sda iosched/$file)"; done
clean_log probe
dmesg | tail -n 5
