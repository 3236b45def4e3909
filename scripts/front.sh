#!/usr/bin/env bash
# Measures which schedulers nobody beats in throughput and latency at once, and prints docs/front.md.
#
#   scripts/front.sh [PATH OF idlewise] > docs/front.md
#
# RUNS=N runs of each (5), DURATION=TIME of each (20s), DISKS=NAME,… other disks, DRAWN=FROM-TO drawn loads (1041-1140).
set -euo pipefail
export LC_ALL=C COLUMNS=110

idlewise="${1:-target/release/idlewise}"
loads=$("$idlewise" front --disks sd-card --duration 1s --schedulers noop --json 2>/dev/null | grep -c "\"load\":")
runs=${RUNS:-5} duration=${DURATION:-20s} drawn=${DRAWN:-1041-1140}
disks=${DISKS:-hdd-18tb-7200,hdd-4tb-7200,hdd-2400gb-10k,maxtor-40g,cheetah-st318451lw,deskstar-34gxp,ibm-18es,barracuda,atlas10k,sata-ssd,nvme-ssd,sd-card}

cat <<TEXT
# The front of schedulers

Which scheduler should a disk have, if its load is not known? \`make front\` makes this page: every scheduler with its defaults, on
$loads loads and on the disks below, in the simulator; runs of each: $runs, of $duration.

**Method.** A scheduler is judged by two things at once. *Throughput*: bytes a second; where a chain of short processes runs beside
something else, the geometric mean of what each party got, so that nobody's work can be given up for another's.
*Latency*: the 99th percentile of reads of the process that has the highest, where a read counts again for each tenth of a second of
waiting; a percentile over all requests would flatter a scheduler that lets one process wait while others issue. And a condition:
under the *unstarving best*, the yardstick of every share, nobody waits longer than a second and twice the longest wait under
\`mq-deadline\`. A request that still waits when a run ends is waited for, and counts in full.

**Limits.** Models of disks, not disks ([models.md](models.md)); no page cache and no file system above the queue; defaults only, and
\`bfq:low_latency=off\` is another scheduler than \`bfq\`; two numbers for each load hide what happens inside it. Loads with
* are set aside: nobody tunes a scheduler on them. So are the disks with *. Schedulers know the disk's positioning times
from its model, as in \`compare\`.

**Loads that nobody wrote.** Below each disk with heads a second table is about loads that a number draws, here $drawn: one to four
programs each, of eleven kinds such as readers, thinkers, writers past the page cache and behind it, random readers, players, committers
and small files, with sizes, depths, think times, starts and ends by chance. Rules for disks with heads were made on numbers up to 1040. A run of each; the
schedulers with the greatest shares. \`idlewise run --workload drawn:draw=7\` shows what number 7 is.

To repeat a part: \`idlewise front --disks maxtor-40g --loads mail,web --runs 5 --html=front.html\`, which also draws each load.
TEXT
# Rows of a table of drawn loads.
rows=12
IFS=, read -ra each <<<"$disks"
for disk in "${each[@]}"; do
    printf '\n## %s\n\n```\n' "$disk"
    "$idlewise" front --disks "$disk" --runs "$runs" --duration "$duration" 2>/dev/null
    printf '%s\n' '```'
    case $disk in *ssd | *card) continue ;; esac
    printf '%s\n' '' 'Loads drawn at random:' '' '```'
    # The heading and the first rows of the table; who is best is judged among all.
    "$idlewise" front --disks "$disk" --drawn "$drawn" --duration "$duration" 2>/dev/null | sed -n "3,$((rows + 3))p"
    printf '```\n'
done
