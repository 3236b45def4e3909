# The test that runs with all others: every elevator, merging, switching, tunables, running out of memory,
# loading and unloading.
. /tests/parts.sh
. /tests/sysfs.sh
all_devices
insmod /modules/idlewise.ko test_hooks=1 || bad "the module does not load"
# The kernel's own elevators stay.
for name in mq-deadline kyber bfq; do queue sda scheduler | grep -q "$name" || bad "$name is gone"; done
each_elevator "$(argument only)"
clean_log elevators
merging
requeueing
splitting
tunables
choosing
weighing
knowing
noticing
memory_runs_out
switching "$(argument switches)"
busy
beginning
loading "$(argument loads)"
clean_log short
