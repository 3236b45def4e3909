# The long test: iw.switches of each kind on each device under load, iw.loads times unloading and loading.
. /tests/parts.sh
. /tests/sysfs.sh
all_devices
insmod /modules/idlewise.ko test_hooks=1 || bad "the module does not load"
each_elevator
clean_log elevators
switching "$(argument switches)"
clean_log switching
busy
loading "$(argument loads)"
clean_log stress
