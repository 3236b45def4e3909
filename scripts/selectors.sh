#!/usr/bin/env bash
# Measures what selectors make of loads that change, and prints docs/selection.md.
# Usage: scripts/selectors.sh [path of idlewise] > docs/selection.md
set -euo pipefail
shopt -s inherit_errexit

idlewise="${1:-target/release/idlewise}"
runs="${RUNS:-5}"
# Three of today, two of twenty years ago.
disks=(hdd-18tb-7200 hdd-4tb-7200 hdd-2400gb-10k maxtor-40g cheetah-st318451lw)
mixes=(tour office night server media shop analytics quick flip dwell)
steady=(seq-readers thinkers random-readers scatter writers mail database backup copy web)
# Ten schedulers and one of our own.
all=mq-deadline,noop,deadline,as,cfq,bfq,c-look,sptf,antic-c-look,antic-aged-sptf,turns

# quiet PROGRAM OPTION…: what it prints; its messages only if it fails.
quiet() {
    local said
    said="$(mktemp)"
    "$@" 2>"$said" || { cat "$said" >&2; return 1; }
    rm "$said"
}

# compare OPTION…: what a comparison prints.
compare() { quiet "$idlewise" compare --uncalibrated --runs "$runs" "$@"; }

# rows NUMBER: of a comparison, the rows of a table by phase, the first of throughput, the second of latency: name,
# mean, worst, and more.
rows() {
    awk -v number="$1" '/^scheduler +mean/ { inside = (++tables == number); next } NF == 0 { inside = 0 } inside'
}
phases() { compare "$@" | rows 1; }

# figures NAME FORMAT: of rows, the mean and the worst phase of NAME.
figures() { awk -v name="$1" -v format="$2" '$1 == name { printf format, $2, $3 }'; }

# cells ROWS: the best single scheduler with its mean and worst, then mean and worst of each selector; last, how many
# phases there are, and in how many of them auto-predict does worse than every single one. Selectors have a column more.
cells() {
    awk '
        function pair(name) { return (name in mean) ? sprintf("%s / %s", mean[name], worst[name]) : "" }
        { mean[$1] = $2; worst[$1] = $3 }
        !/^auto-/ && best == "" { best = $1 }
        !/^auto-/ { for (n = 5; n <= NF; n++) if (!(n in least) || $n < least[n]) least[n] = $n }
        $1 == "auto-predict" { for (n = 6; n <= NF; n++) predicted[n - 1] = $n }
        END {
            for (n in predicted) { phases++; worse += (predicted[n] < least[n]) }
            printf "`%s` %s | %s | %s | %s | %s | %s | %+.1f %% | %+.0f %% | %d %d", best, pair(best), pair("auto-predict"),
                pair("auto-bandit"), pair("auto-matrix"), pair("auto-ranking"), pair("auto-explore"),
                (mean["auto-predict"] / mean[best] - 1) * 100, (mean["auto-predict"] / mean["mq-deadline"] - 1) * 100, phases, worse
        }'
}

# table 'DISK …': a row for each disk and mix.
table() {
    local -a on
    read -ra on <<<"$1"
    local found
    echo '| disk | mix | best single | auto-predict | auto-bandit | auto-matrix | auto-ranking | auto-explore | gain of auto-predict | over mq-deadline | |'
    echo '|---|---|---|---|---|---|---|---|---|---|---|'
    for disk in "${on[@]}"; do
        for mix in "${mixes[@]}"; do
            found="$(phases --schedulers "$all,auto" --disk "$disk" --workload "phases:mix=$mix" | cells)"
            printf '| %s | %s | %s |\n' "$disk" "$mix" "$found"
        done
    done
}

# without_last: of a table, all but the last column.
without_last() { sed 's/[^|]*|$//'; }

# sums: of the rows of a table, a row for each disk.
sums() {
    echo '| disk | mixes | mixes where auto-predict gains 10 % or more | mixes where it has 92 or more | phases | phases where it is worse than every single one | worst phase of auto-predict | worst phase of the best single ones |'
    echo '|---|---|---|---|---|---|---|---|'
    awk -F '|' '
        $2 !~ /disk|---/ {
            if (!mixes[$2]++) order[++disks] = $2
            split($5, predict, "/")
            sub(/.*` /, "", $4)
            split($4, single, "/")
            gains[$2] += ($10 + 0 >= 10)
            near[$2] += (predict[1] + 0 >= 92)
            split($12, seen, " ")
            phases[$2] += seen[1]
            worse[$2] += seen[2]
            if (!($2 in worst) || predict[2] + 0 < worst[$2]) worst[$2] = predict[2] + 0
            if (!($2 in alone) || single[2] + 0 < alone[$2]) alone[$2] = single[2] + 0
        }
        END {
            for (n = 1; n <= disks; n++) {
                disk = order[n]
                printf "|%s| %d | %d | %d | %d | %d |", disk, mixes[disk], gains[disk], near[disk], phases[disk], worse[disk]
                printf " %.1f | %.1f |\n", worst[disk], alone[disk]
            }
        }'
}

cat <<TEXT
# Selectors on loads that change

\`scripts/selectors.sh\` makes this page. Each row comes from a command like this one, with $runs runs:

\`\`\`sh
idlewise compare --uncalibrated --disk hdd-18tb-7200 --workload phases:mix=tour --runs $runs --schedulers "$all,auto"
\`\`\`

Each cell is *mean / worst phase*, in percent of what the best scheduler of each phase did in that phase. 100 is what
somebody would get who always knew the best scheduler beforehand. In the mean each second counts the same: counted
in bytes, the phases in which the disk streams would be all that matters. More than 100 is possible: a phase
also pays for what the phase before has left in the queue.

What a selector predicts with is a model of the disk. Here that is the disk: a real drive differs from its model by a few percent
([models.md](models.md)). The last section shows what a wrong model does.

## Mixes of phases

auto-predict chooses among \`turns\`, \`mq-deadline\` and \`as\`, begins with the first and comes back to it whenever there is doubt
([selectors.md](selectors.md#auto-predict)). It avoids whoever would have somebody wait longer than a second and twice as long as
under \`mq-deadline\`; the single ones and the other selectors are not bound to that. The best single one is known only afterwards;
\`mq-deadline\` is what Linux uses if nobody chooses. In \`dwell\`, phases last a second, twice as long as auto-predict keeps to a
choice at least.

TEXT
found="$(table "${disks[*]}")"
sums <<<"$found"
echo
without_last <<<"$found"
cat <<TEXT

## Loads of the front

On every load of [front.md](front.md), a run of 20 s each, throughput is weighed together with waits. No rule and no setting
of auto-predict is tuned on loads that are *aside*, or on the loads below that are drawn at random (\`--drawn\`). *share*: bytes in a second as a part of
the best among those under which nobody waits longer than a second and twice as long as under \`mq-deadline\`, the geometric mean
over the loads; *too long*: loads in which somebody does.

TEXT
for disk in "${disks[@]::4}" sata-ssd; do
    for loads in '--set known' '--set aside' '--drawn 161-260'; do
        echo "$disk (\`front --bytes $loads\`):"
        echo
        # shellcheck disable=SC2086 # an option and its value
        quiet "$idlewise" front --bytes --disks "$disk" $loads --schedulers linux,turns,as,cas,auto-predict |
            sed -n '/^scheduler/,/^$/s/^./    &/p'
        echo
    done
done
cat <<TEXT
## Whether predictions come true

Switches that a prediction has led to, in all mixes, a run with each of $runs seeds: how many lasted long enough to measure what they
brought, and how many brought the predicted throughput within a factor of 1.5.

| disk | measured | within a factor of 1.5 |
|---|---|---|
TEXT
for disk in "${disks[@]}"; do
    for mix in "${mixes[@]}"; do
        for ((seed = 1; seed <= runs; seed++)); do
            quiet "$idlewise" run --uncalibrated --disk "$disk" --workload "phases:mix=$mix" --seed "$seed" --scheduler auto-predict
        done
    done | sed -n 's/^predictions .*; \([0-9,]*\) of \([0-9,]*\) switches.*/\1 \2/p' |
        awk -v disk="$disk" '{ gsub(",", ""); kept += $1; all += $2 } END { print disk, all, kept }'
done | awk '
    function row(name, all, kept) { printf "| %s | %d | %d (%.0f %%) |\n", name, all, kept, all ? 100 * kept / all : 100 }
    { row($1, $2, $3); all += $2; kept += $3 } END { row("all", all, kept) }'
echo
cat <<TEXT
## A recording

The demo recording (\`compare --trace traces/demo.ftrace.zst\`), many processes that come and go. Predictions of it are often wrong by
far: what was played again is not what comes next. So the reality guard does not believe them for most of the time.

| disk | mq-deadline | turns | auto-predict |
|---|---|---|---|
TEXT
for disk in "${disks[@]}"; do
    told="$(quiet "$idlewise" compare --uncalibrated --trace traces/demo.ftrace.zst --disk "$disk" \
        --schedulers mq-deadline,turns,auto-predict)"
    printf '| %s |' "$disk"
    for name in mq-deadline turns auto-predict; do
        awk -v name="$name" '$1 == name && !found++ {
            gsub(/[*,]/, "")
            printf " %s s, p99 of reads %s ms, longest wait %s ms |", $2, $5, $7
        }' <<<"$told"
    done
    echo
done
cat <<TEXT

## Steady loads

One phase of 60 seconds, in percent of the best single one, also if somebody starves under that one. What is missing is the price of
patience, and what choosing a little wrong costs.

TEXT
printf '| disk |'
printf ' %s |' "${steady[@]}"
printf '\n|---|'
printf -- '---|%.0s' "${steady[@]}"
echo
for disk in "${disks[@]}"; do
    printf '| %s |' "$disk"
    for kind in "${steady[@]}"; do
        found="$(phases --disk "$disk" --workload "phases:mix=$kind=60" --schedulers "$all,auto-predict" |
            figures auto-predict '%s')"
        printf ' %s |' "$found"
    done
    echo
done
cat <<TEXT

## What switching costs

Carried over, as here; drained as in Linux 2.6.11; frozen as today. Mean share and switches in the mix \`tour\`, then seconds
in which nothing could enter the queue.

| disk | selector | carried over | drained | frozen |
|---|---|---|---|---|
TEXT
for disk in "${disks[@]}"; do
    for selector in auto-matrix auto-bandit auto-predict; do
        printf '| %s | %s |' "$disk" "$selector"
        for way in carry drain freeze; do
            options=(--disk "$disk" --workload phases:mix=tour --switching "$way")
            share="$(phases "${options[@]}" --schedulers "$all,$selector" |
                awk -v name="$selector" '$1 == name { print $2 ", " $5 " switches" }')"
            blocked="$(quiet "$idlewise" run --uncalibrated "${options[@]}" --scheduler "$selector" |
                awk '/^blocked by switches/ { print ", " $4 " " $5 }')"
            printf ' %s%s |' "$share" "$blocked"
        done
        echo
    done
done
cat <<TEXT

## A wrong model

auto-predict on one disk, with the model of another (\`--model\`), in the mix \`tour\`: mean / worst phase. A model without
a buffer does not read ahead either: in it, hardly anything is gained by waiting for who reads in order.

| disk | its own model | without its buffer | without queueing | hdd-18tb-7200 |
|---|---|---|---|---|
TEXT
for disk in "${disks[@]}"; do
    printf '| %s |' "$disk"
    for model in "$disk" "$disk:cache=off" "$disk:depth=1" hdd-18tb-7200; do
        found="$(phases --disk "$disk" --model "$model" --workload phases:mix=tour \
            --schedulers "$all,auto-predict" | figures auto-predict '%s / %s')"
        printf ' %s |' "$found"
    done
    echo
done
cat <<TEXT

In all mixes, a run each: throughput with the model of another drive of the kind, and with one of another kind altogether, as a
multiple of what auto-predict has with its own model (geometric mean, and the least) and of \`mq-deadline\`'s (the least); and in how many
mixes somebody waits longer than a second and twice as long as under \`mq-deadline\`. A smaller drive gets more platters.

| disk | model | of its own model's | least | least of mq-deadline's | too long |
|---|---|---|---|---|---|
TEXT
# outcome DISK MIX SCHEDULER [OPTION…]: bytes in a second and the longest wait.
outcome() {
    quiet "$idlewise" run --uncalibrated --disk "$1" --workload "phases:mix=$2" --scheduler "$3" "${@:4}" --json |
        awk -F '[:,]' '/"throughput_bytes_per_s"/ && !rate { rate = $2 } /"longest_wait_ns"/ && !wait { wait = $2 } END { print rate, wait }'
}
for pair in hdd-18tb-7200=hdd-4tb-7200 hdd-18tb-7200=hdd-2400gb-10k hdd-4tb-7200=hdd-18tb-7200 maxtor-40g=cheetah-st318451lw \
    sata-ssd=nvme-ssd hdd-18tb-7200=maxtor-40g hdd-18tb-7200=sata-ssd hdd-4tb-7200=sata-ssd maxtor-40g=sata-ssd sata-ssd=hdd-4tb-7200; do
    disk=${pair%=*} model=${pair#*=}
    for mix in "${mixes[@]}"; do
        echo "$(outcome "$disk" "$mix" mq-deadline) $(outcome "$disk" "$mix" auto-predict) $(outcome "$disk" "$mix" auto-predict --model "$model")"
    done | awk -v disk="$disk" -v model="$model" '
        { own = $5 / $3; usual = $5 / $1; sum += log(own); if (!least || own < least) least = own; if (!worst || usual < worst) worst = usual }
        $6 > 1e9 && $6 > 2 * $2 { late++ }
        END { printf "| %s | %s | %.3f | %.2f | %.2f | %d of %d |\n", disk, model, exp(sum / NR), least, worst, late, NR }'
done
