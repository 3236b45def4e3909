#!/usr/bin/env bash
# What each elevator does where nothing turns: null_blk and modelled SSDs in a guest with Debian's kernel, in exact time,
# beside the kernel's own elevators. Prints docs/flash.md.
#
#   scripts/kernel/flash.sh [--short | --held-out]
#
# --short: some elevators and loads; prints only what is wrong. --held-out: the loads and the disk that no change was made
# for. Exit status: 0 nothing waits that should not, 1 something does, 77 it cannot run here.
set -euo pipefail
export LC_ALL=C GUEST_TIMEOUT=${GUEST_TIMEOUT:-7200}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

disks='null;sata-ssd;nvme-ssd' loads=random,batches,readers,writers,writes only='' ms=300 short=
# A core of today does about four instructions in a nanosecond, of the guest's one.
slower=4
mode=${1:-}
case $mode in
    --short) disks='null;sata-ssd' loads=batches,readers,writers only=as,cas,cfq,iw-bfq,antic-sptf,antic-yfq ms=60 short=1 ;;
    --held-out) disks='null;sata-ssd;sata-ssd:depth=8' loads=mixed,blocks ;;
    '') ;;
    *) sed -n 's/^# \{0,1\}//; 2,8p' "$0" >&2; exit 2 ;;
esac

status=0
report=$(GUEST_NAME=${mode#--} scripts/kernel/run.sh flash "disks=$disks" "loads=$loads" "only=$only" \
    "ms=$ms" "slower=$slower") || status=$?
[ "$status" = 0 ] || { echo "$report"; exit "$status"; }

# What waits in vain has 0.44 of mq-deadline's rate, or less. What only computes more than mq-deadline has 0.79 or more, here
# where an instruction takes a nanosecond and the disk, at worst, no time at all. The floor lies between.
tables() { sed -n 's/^result: //p' <<<"$report" | awk -v floor=0.62 -v short="$short" -f scripts/kernel/flash.awk; }
if [ -n "$short" ]; then
    tables
    echo "$(grep -c '^result: ' <<<"$report") figures, $(tail -n 1 <<<"$report")"
    exit
fi
[ -n "$mode" ] || cat <<'TEXT'
# Where nothing turns

`scripts/kernel/flash.sh` makes this page (`make kernel-flash`, half an hour): one run of all elevators in a guest with Debian's kernel, on
null_blk, which completes at once, and on disks that are models, in exact virtual time, where each instruction takes a
nanosecond. With null_blk each column says what an elevator computes, and nothing else. The SSDs take four times as long for everything as
the disks that they model (`slower=4`), so that beside them the processor does four instructions in a nanosecond, about what a core of today
does. One such core is still too slow for the NVMe disk under `random`.

| load | what it is |
|---|---|
| random | random reads of 4 KiB, 32 outstanding, submitted one by one |
| batches | the same, submitted and awaited 32 at a time |
| readers | four processes that each read 4 KiB at a time in sequence |
| writers | four processes that each write 4 KiB at a time in sequence |
| writes | random writes of 4 KiB, 32 outstanding |

Figures are requests a second, as a ratio to `mq-deadline`'s in the same run. With SSDs and loads that read, two more follow: the
ratio to the better rate of `none` and `mq-deadline`, and that of the 99th percentile of latency to the shorter one of these two.
Each elevator gets the disk as new, so that it does not collect what others have written.

What a miss comes from:

- `random`, `readers`: where no heads move our elevators start the device in the submitter, which spares the kernel two changes of process.
  `none` does so too and has no elevator to go through: nobody reaches it where the processor is what is short, the kernel's own least.
- `batches`, `writers`, `writes`: the block layer starts the device in the submitter for all. There each instruction counts. Lists in order of
  address cost 300 to 500 instructions a request, clocks, trees of queues and statistics up to 1000 more; the kernel's trees cost less
  where few requests wait.
TEXT
tables
