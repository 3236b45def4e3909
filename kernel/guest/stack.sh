# processors: 1
# How much of the kernel's stack building a scheduler takes.
#
# One processor: the kernel's stack tracer changes the code of every function, and QEMU before 8.1 has a race where a processor
# translates code while another changes it.
. /tests/parts.sh
. /tests/sysfs.sh
all_devices
insmod /modules/idlewise.ko || bad "the module does not load"

# Building a scheduler leaves most of the kernel's 16 KB of stack to those who call. The kernel notes the deepest stack
# that it sees, function by function.
stacks() {
    traces=/sys/kernel/tracing
    mount -t tracefs tracefs $traces 2>/dev/null
    if ! echo 1 >/proc/sys/kernel/stack_tracer_enabled; then bad "this kernel does not trace stacks"; return; fi
    deepest=0
    for policy in $(set_queue sda scheduler idlewise; every_policy sda); do
        turned 1
        every_policy sda >/dev/null
        echo 0 >$traces/stack_max_size
        set_queue sda iosched/policy $policy || bad "no policy $policy"
        own=$(awk '/\[idlewise\]/ {own += $3} END {print own + 0}' $traces/stack_trace)
        [ "$own" -le 6144 ] || bad "$policy takes $own bytes of stack"
        [ "$own" -le $deepest ] || { deepest=$own; which=$policy; }
        [ "${1:-}" != all ] || { say "$policy $own"; grep '\[idlewise\]' $traces/stack_trace; }
    done
    echo 0 >/proc/sys/kernel/stack_tracer_enabled
    [ $deepest -gt 500 ] || bad "the deepest stack of a policy has $deepest bytes: too few to be true"
    good "policies take at most $deepest bytes of stack, by $which"
}
stacks "$(argument show)"
clean_log stack
