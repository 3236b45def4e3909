# The modules as DKMS built them: they load, each elevator takes verified data on a disk that is a model, and they go.
. /tests/parts.sh
insmod /modules/idlewise-disk.ko disks="nvme-ssd" || bad "the disk cannot be had"
insmod /modules/idlewise.ko || bad "the schedulers cannot be had"
devices=iwdisk0
each_elevator "$(elevators iwdisk0)"
set_queue iwdisk0 scheduler none
rmmod idlewise || bad "the schedulers stay"
rmmod idlewise-disk || bad "the disk stays"
clean_log packaged
