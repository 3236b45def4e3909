#!/usr/bin/env bash
# Measures `turns` on drives that are altered, of which it is told nothing: prints a section of docs/front.md.
#
#   scripts/altered.sh [PATH OF idlewise] > section.md
#
# RUNS=N runs of each (5), DURATION=TIME of each (20s).
set -euo pipefail
export LC_ALL=C

idlewise="${1:-target/release/idlewise}"
disks=(hdd-18tb-7200 hdd-4tb-7200 hdd-2400gb-10k)
alterations=(seek=60 seek=150 rpm=5400 write-cache=off buffer=6 depth=1 depth=8 depth=32)

cat <<'TEXT'
## Altered drives

The drives with a queue, each altered in one way; `idlewise docs disks` says what each alteration means. Beside `turns` ran the
schedulers of today's Linux (`--schedulers linux`), `as` and `cas`. *next*: the best of these. The loads are those that nobody
set aside, and those that somebody did.

| drive | share, p99 | too long | least | next | set aside: share, p99 | too long | least | next |
|---|---|---|---|---|---|---|---|---|
TEXT

# cells DISK SET: the cells of one set.
cells() {
    "$idlewise" front --set "$2" --disks "$1" --schedulers linux,turns,as,cas --runs "${RUNS:-5}" --duration "${DURATION:-20s}" 2>/dev/null |
        awk '$1 == "scheduler" { on = 1; next }
            on && NF == 0 { exit }
            { within = match($0, / ± [0-9.]+/) ? substr($0, RSTART, RLENGTH) : ""; sub(/ ± [0-9.]+/, "") }
            # NAME SHARE LEAST (LOAD) LATE of LOADS P99 × FRONT
            on && $1 == "turns" { share = $2 within; least = $3 " " $4; late = $5 " of " $7; p99 = $8; next }
            on && next_ == "" { next_ = $1 " " $2 }
            END { printf " %s, %s | %s | %s | %s |", share, p99, late, least, next_ }'
}
for disk in "${disks[@]}"; do
    for alteration in "${alterations[@]}"; do
        printf '| %s:%s |%s%s\n' "$disk" "$alteration" "$(cells "$disk:$alteration" known)" "$(cells "$disk:$alteration" aside)"
    done
done
