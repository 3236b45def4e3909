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
flash=(sata-ssd nvme-ssd)
# Ten schedulers and three other settings, and what Linux 6.1 has.
all=mq-deadline,noop,deadline,as,cfq,bfq,c-look,sptf,antic-c-look,antic-aged-sptf
all+=',as:read_batch_expire=2000,cfq:slice_sync=400,antic-aged-sptf:bound=5000'
linux=mq-deadline,noop,kyber,bfq
# auto-predict if throughput is all that counts: among all of these, however long somebody waits.
alone=(--set auto-predict.patience=86400000 --set auto-predict.margin=3 --set auto-predict.few=12)
greedy=("${alone[@]}" --candidates "$all")

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

# usual CANDIDATES OPTION…: rows of these and of all selectors.
usual() { phases --schedulers "$1,auto" "${@:2}"; }
# among_all CANDIDATES OPTION…: the same with a greedy auto-predict; the other selectors keep their own candidates.
among_all() {
    usual "$@" | grep -v '^auto-predict '
    phases --schedulers "$1,auto-predict" "${greedy[@]}" "${@:2}" | grep '^auto-predict '
}

# table ROWS 'DISK …' CANDIDATES [OPTION…]: a row for each disk and mix. ROWS: usual or among_all.
table() {
    local -a on
    read -ra on <<<"$2"
    local rows="$1" candidates="$3" found
    shift 3
    echo '| disk | mix | best single | auto-predict | auto-bandit | auto-matrix | auto-ranking | auto-explore | gain of auto-predict | over mq-deadline | |'
    echo '|---|---|---|---|---|---|---|---|---|---|---|'
    for disk in "${on[@]}"; do
        for mix in "${mixes[@]}"; do
            found="$("$rows" "$candidates" --disk "$disk" --workload "phases:mix=$mix" "$@" | cells)"
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
idlewise compare --uncalibrated --disk hdd-18tb-7200 --workload phases:mix=tour --runs $runs --schedulers "$all,turns,auto"
\`\`\`

Each cell is *mean / worst phase*, in percent of what the best scheduler of each phase did in that phase. 100 is what
somebody would get who always knew the best scheduler beforehand. In the mean each second counts the same: counted
in bytes, the phases in which the disk streams would be all that matters. More than 100 is possible: a phase
also pays for what the phase before has left in the queue.

What a selector predicts with is a model of the disk. Here that is the disk: a real drive differs from its model by a few percent
([models.md](models.md)). The last section shows what a wrong model does.

## Nobody waits too long

auto-predict chooses among \`turns\`, \`mq-deadline\` and \`as\`, and avoids whoever would have somebody wait longer than a second and
twice as long as under \`mq-deadline\`. The single ones are not bound to that: those with a bound of 5 s, a turn of 2 s or no bound at
all get more of a disk by letting somebody wait. The best single one is known only afterwards; \`mq-deadline\` is what Linux uses if
nobody chooses. In \`dwell\`, phases last a second, twice as long as auto-predict keeps to a choice at least. Beside \`turns\` alone
little is gained in these mixes; more is on the loads below.

TEXT
bounded="$(table usual "${disks[*]}" "$all,turns")"
sums <<<"$bounded"
echo
without_last <<<"$bounded"
cat <<TEXT

On every load of [front.md](front.md), a run of 20 s each, throughput is weighed together with waits. No scheduler and no setting
of auto-predict is tuned on loads that are *aside*. *share*: bytes in a second as a part of the best among those under which nobody
waits longer than a second and twice as long as under \`mq-deadline\`, the geometric mean over the loads; *too long*: loads in which
somebody does.

TEXT
for disk in "${disks[@]::4}" sata-ssd; do
    for set in known aside; do
        echo "$disk, loads that are $set (\`front --bytes --set $set\`):"
        echo
        quiet "$idlewise" front --bytes --disks "$disk" --set "$set" --schedulers \
            linux,turns,as,cas,cfq,antic-aged-sptf,antic-c-look,auto-predict | sed -n '/^scheduler/,/^$/s/^./    &/p'
        echo
    done
done
cat <<TEXT
Recordings are another matter. In the demo recording (\`compare --trace traces/demo.ftrace.zst\`) on hdd-18tb-7200 auto-predict takes a
tenth longer than \`mq-deadline\`, and so does \`turns\`.

## Throughput alone, among thirteen

Here and in all that follows auto-predict looks at throughput alone: \`${alone[*]}\`. It chooses among thirteen
(\`--candidates\`), ten schedulers and three other settings; the others among those that their sources name.

How much there is to gain depends on the disk. Where the best single one has 93 of 100 and more, as in most mixes on the
Maxtor and the Cheetah, nobody gains ten percent by choosing. On the disks of today, which order requests themselves and
have large buffers, no one is good at everything.

TEXT
among="$(table among_all "${disks[*]}" "$all")"
sums <<<"$among"
echo
without_last <<<"$among"
cat <<TEXT

A phase counts as worse than under every single one if auto-predict does less in it than the worst of the thirteen. Where
there is a mix in which it has less than 92, that is \`dwell\`.

With a longer dwell time auto-predict stays with what the last phase was best served with. So it is if the dwell time is as
long as a phase: on the two larger disks of today it then has less than 92.

| disk | flip, dwell 5 s | quick, dwell 6 s |
|---|---|---|
TEXT
for disk in "${disks[@]}"; do
    printf '| %s |' "$disk"
    for mix in flip=5000 quick=6000; do
        found="$(phases --disk "$disk" --workload "phases:mix=${mix%=*}" --schedulers "$all,auto-predict" \
            "${greedy[@]}" --set "auto-predict.dwell=${mix#*=}" | figures auto-predict '%s / %s')"
        printf ' %s |' "$found"
    done
    echo
done
cat <<TEXT

## Without heads

The same on flash devices. There is little to gain by order, and nothing by waiting ([flash.md](flash.md)). But who lets one
write at a time has the device collect less: what is written together is overwritten together. auto-predict sees that once
the device has begun to collect. It begins empty here.

TEXT
table among_all "${flash[*]}" "$all" | without_last
cat <<TEXT

## Among what Linux has today

All but auto-matrix choose among \`${linux//,/\`, \`}\` (\`--candidates\`). BFQ raises whoever is new for about ten
seconds, and lets processes that begin together share a queue for good while they are raised; so does Linux's (the recording
\`bfq-26-raised-streams\`). The processes of a phase begin together: BFQ waits for none of them, and these four differ little.
auto-matrix has anticipation in its tables: it is here only to show how much these four leave lying, far above 100.

TEXT
table usual "${disks[*]}" "$linux" --candidates "$linux" "${alone[@]}" | without_last
cat <<TEXT

## For reads that nobody shall wait long for

The same by the 99th percentile of synchronous reads, in percent of the best scheduler's of each phase: 50 is twice as long. A read
counts again for each tenth of a second that it waits, as else a scheduler that starves somebody would look good: whoever waits
issues nothing more. auto-predict with \`--set auto-predict.throughput=0 --set auto-predict.latency=100\`, and with both at 100, and in
brackets what the last one has of the throughput.

| disk | mix | best single | and its throughput | auto-predict for latency | for both |
|---|---|---|---|---|---|
TEXT
for disk in "${disks[@]}"; do
    for mix in "${mixes[@]}"; do
        load=(--disk "$disk" --workload "phases:mix=$mix" --schedulers "$all,auto-predict" "${greedy[@]}" --set auto-predict.latency=100)
        late="$(compare "${load[@]}" --set auto-predict.throughput=0)"
        both="$(compare "${load[@]}")"
        best="$(rows 2 <<<"$late" | awk '!/^auto-/ { print $1; exit }')"
        printf '| %s | %s | %s | %s | %s | %s |\n' "$disk" "$mix" \
            "\`$best\` $(rows 2 <<<"$late" | figures "$best" '%s / %s')" "$(rows 1 <<<"$late" | figures "$best" '%s')" \
            "$(rows 2 <<<"$late" | figures auto-predict '%s / %s')" \
            "$(rows 2 <<<"$both" | figures auto-predict '%s / %s') ($(rows 1 <<<"$both" | figures auto-predict '%s'))"
    done
done
cat <<TEXT

## Steady loads

One phase of 60 seconds, in percent of the best of the thirteen. What is missing is the first moments, and what choosing a little
wrong costs.

TEXT
printf '| disk |'
printf ' %s |' "${steady[@]}"
printf '\n|---|'
printf -- '---|%.0s' "${steady[@]}"
echo
for disk in "${disks[@]}"; do
    printf '| %s |' "$disk"
    for kind in "${steady[@]}"; do
        found="$(phases --disk "$disk" --workload "phases:mix=$kind=60" --schedulers "$all,auto-predict" "${greedy[@]}" |
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
            [ "$selector" != auto-predict ] || options+=("${greedy[@]}")
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
            --schedulers "$all,auto-predict" "${greedy[@]}" | figures auto-predict '%s / %s')"
        printf ' %s |' "$found"
    done
    echo
done
