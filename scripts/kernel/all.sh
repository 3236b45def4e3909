#!/usr/bin/env bash
# Runs the tests in a guest on each kernel that the modules support, and writes the table of versions and tests in
# docs/kernel.md.
#
#   scripts/kernel/all.sh [--debug] [LINE…]
#
# LINE is as KERNEL is (scripts/kernel/packages.sh); without one 6.1, 6.12 and 7. With --debug these are kernels that check
# their locks and memory (kernel/debug.config), 6.1 and 6.12, with a table of their own; SWITCHES=N changes of each kind on each disk there
# (250). ONLY="TEST TEST" runs only these. What did not run keeps the result that it had. Exit status: 0 all is well, 1 not.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/kernel/packages.sh

lines=(6.1 6.12 7)
tests=(short stack panic hotplug memory exact disk storm papers record install)
debug='' block='versions and tests'
if [ "${1:-}" = --debug ]; then
    shift
    lines=(6.1 6.12) tests=(panic hotplug storm stress)
    debug=--debug block='checked kernels'
fi
# What each is, and the command that runs it.
describe() {
    case $1 in
        short) title="each elevator, merging, tunables, switching under load, unloading" ;;
        stack) title="the kernel's stack" ;;
        panic) title="panics in the core" ;;
        hotplug) title="disks that are pulled out under load" ;;
        stress) title="changes of policy, \`nr_requests\` and scheduler under load on four disks" ;;
        memory) title="a modelled disk short of memory" ;;
        exact) title="in exact time: switches, shares, limits, \`auto\`" ;;
        disk) title="the disk that is a model" ;;
        storm) title="loading and unloading in a storm of exits" ;;
        papers) title="the papers' experiments, short" ;;
        record) title="what a recording counts" ;;
        install) title="what DKMS builds" ;;
    esac
    case $1 in
        short) command=(scripts/kernel/run.sh short switches=7 loads=2) ;;
        storm) command=(scripts/kernel/run.sh ${debug:+"$debug"} storm runs=5 loads=3) ;;
        stress) command=(scripts/kernel/run.sh ${debug:+"$debug"} stress "switches=${SWITCHES:-250}" loads=20) ;;
        papers) command=(scripts/kernel/papers.sh --short) ;;
        record) command=(scripts/kernel/record.sh --short) ;;
        install) command=(scripts/kernel/test-install.sh) ;;
        *) command=(scripts/kernel/run.sh ${debug:+"$debug"} "$1") ;;
    esac
}

results=$kernel_work/kernel-all$debug
# result LINE TEST: runs it and leaves a line for the table.
result() {
    local place=$results/$1 status=0 began=$SECONDS title command of=''
    describe "$2"
    [ "$2" != stress ] || of=", ${SWITCHES:-250} of each kind on each disk"
    mkdir -p "$place"
    echo "== Linux $1: $title"
    KERNEL=$1 "${command[@]}" >"$place/$2.log" 2>&1 </dev/null || status=$?
    case $status in
        0) echo "passed$of, $((SECONDS - began)) s" ;;
        77) echo "not run: $(tail -n 1 "$place/$2.log")" ;;
        *) echo "**failed**"; tail -n 20 "$place/$2.log" >&2 ;;
    esac >"$place/$2"
    KERNEL=$1 bash -euo pipefail -c '. scripts/kernel/packages.sh; kernel_find; echo "${kernel_abi%-amd64}"' >"$place/version" || true
    cat "$place/$2"
    [ "$status" = 0 ] || [ "$status" = 77 ]
}
table() {
    local line test title command
    printf '| test'
    for line in "${lines[@]}"; do printf ' | %s' "$(cat "$results/$line/version" 2>/dev/null || echo "$line")"; done
    printf ' |\n|---'
    for line in "${lines[@]}"; do printf '|---'; done
    printf '|\n'
    for test in "${tests[@]}"; do
        describe "$test"
        printf '| %s' "$title"
        for line in "${lines[@]}"; do printf ' | %s' "$(cat "$results/$line/$test" 2>/dev/null || echo "not run")"; done
        printf ' |\n'
    done
}

wanted=("$@")
[ $# -gt 0 ] || wanted=("${lines[@]}")
read -ra chosen <<<"${ONLY:-${tests[*]}}"
failed=0
for line in "${wanted[@]}"; do
    for test in "${chosen[@]}"; do result "$line" "$test" || failed=1; done
done
table >"$results/table"
awk -v table="$results/table" -v block="<!-- $block" '
    index($0, block) == 1 { print; while ((getline line <table) > 0) print line; inside = 1 }
    /^<!-- end of/ { inside = 0 }
    !inside' docs/kernel.md >"$results/kernel.md"
cp "$results/kernel.md" docs/kernel.md
exit "$failed"
