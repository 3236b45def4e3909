#!/usr/bin/env bash
# Measures what the papers claim of anticipation, shares and chains, and prints docs/papers.md.
# Usage: scripts/papers.sh [path of idlewise] > docs/papers.md
set -euo pipefail

idlewise="${1:-target/release/idlewise}"
streams="file=1g,regions=16m,gap=1g,requests=1000000"

# report DISK SCHEDULER WORKLOAD [OPTION…]: the report of a run.
report() {
    local disk="$1" scheduler="$2" workload="$3"
    shift 3
    "$idlewise" run --disk "$disk" --scheduler "$scheduler" --workload "$workload" "$@"
}

# long SCHEDULER WORKLOAD [OPTION…]: the report of 200 seconds on the Deskstar.
long() {
    report deskstar-34gxp "$@" --duration 200s
}

# rate SCHEDULER WORKLOAD [OPTION…]: MB/s of that.
rate() {
    long "$@" | awk '/^throughput/ { print $2 }'
}

ratio() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'
}

# shares SCHEDULER WORKLOAD COLUMN: that column of the table of processes, by process, joined by colons.
shares() {
    long "$1" "$2" |
        awk -v column="$3" '/ stream[0-9]+ / { print $2, $column }' | sort | awk '{ print $2 }' | paste -sd: | sed 's/,//g'
}

# sweep NAME OPTION VALUE…: a row for each value, plain against anticipatory schedulers.
sweep() {
    local option="$1"
    shift
    for value in "$@"; do
        local workload="sync-streams:$streams,${option//@/$value}"
        local plain waits
        plain="$(rate aged-sptf "$workload")" waits="$(rate antic-aged-sptf "$workload")"
        printf '| %s | %s | %s | %s |\n' "$value" "$plain" "$waits" "$(ratio "$waits" "$plain")"
    done
}

# chain SCHEDULER WORKLOAD: a row with seconds and MB/s.
chain() {
    report deskstar-34gxp "$1" "$2" |
        awk -v name="$1" '/^run time/ { s = $3 } /^throughput/ { print "| `" name "` | " s " | " $2 " |" }'
}

# why SCHEDULER: some decisions from the middle of a short run with a chain.
why() {
    report deskstar-34gxp "$1" stream-and-chain:files=400,directories=20 --why 2>/dev/null |
        awk '/^[0-9.]+ s / { n++; line[n] = $0; if (!first && n > 600 && / of [0-9][0-9]+: /) first = n }
            END { for (i = first; i < first + 8; i++) print line[i] }'
}

cat <<TEXT
# The papers' experiments

What the papers measured on their machines, in the simulator. \`make papers\` makes this page. First stand all claims, by
\`idlewise papers --markdown\`; then the main experiments of SOSP'01 and OLS'05 in more detail, each row by a command like those
shown. There the disk is \`deskstar-34gxp\`, SOSP'01's, unless said.

## All claims

TEXT
"$idlewise" papers --markdown 2>/dev/null
cat <<TEXT

## Placement

SOSP'01 reads two files of 1 GB, 64 KB at a time, and gets 5 MB/s from the plain scheduler: 12 ms a request. It does
not say where the files lie. Here they lie 1 GB apart (\`gap=1g\`), in regions of 16 MB as FFS lays files out (\`regions=16m\`), which
gives about 12 ms. Of whole files, two readers would meet the platter in the same place again and again, and a request would take 9.8
or 14.0 ms by a hair's breadth of distance.
A run lasts 200 seconds. As in the paper (§3.6), schedulers know the disk's positioning times by distance beforehand.

## Two synchronous readers (SOSP'01 §4.1, figure 4)

\`\`\`sh
idlewise compare --disk deskstar-34gxp --duration 200s --schedulers aged-sptf,antic-aged-sptf \\
    --workload sync-streams:$streams,pattern=seq
\`\`\`

| pattern | aged-sptf, MB/s | antic-aged-sptf, MB/s | ratio |
|---|---|---|---|
TEXT
sweep 'pattern=@' seq alternate random
alone="$(rate noop "sync-streams:$streams,n=1")"
cat <<TEXT

The paper: 4 times, 2 times, 1.28 to 1.30 times. One reader alone gets $alone MB/s.

On the Cheetah X15 (\`cheetah-st318451lw\`), where the paper has 5.5 times:

| placement | aged-sptf, MB/s | antic-aged-sptf, MB/s | ratio |
|---|---|---|---|
TEXT
for gap in 1g 4g 14g; do
    both=()
    for scheduler in aged-sptf antic-aged-sptf; do
        both+=("$(report cheetah-st318451lw "$scheduler" "sync-streams:file=1g,gap=$gap,requests=1000000" --duration 200s \
            | awk '/^throughput/ { print $2 }')")
    done
    printf '| gap=%s | %s | %s | %s |\n' "$gap" "${both[0]}" "${both[1]}" "$(ratio "${both[1]}" "${both[0]}")"
done
cat <<TEXT

At the same distance this disk seeks faster than the Deskstar, so less is lost without anticipation. The gain comes near the
paper's only with the files at both ends of the disk. No placement gives 5.5.

## Think times (SOSP'01 §4.2)

Both processes think (figure 5). The paper: falls steadily, and meets the plain scheduler near 8 ms.
Here that is at 10 to 11 ms: a seek and half a turn to the other file take so long on the model.

| think= | aged-sptf, MB/s | antic-aged-sptf, MB/s | ratio |
|---|---|---|---|
TEXT
sweep 'think=@' 0ms 1ms 2ms 3ms 4ms 6ms 8ms 9ms 10ms 12ms 16ms
cat <<TEXT

One thinks, the other does not (figure 6). The paper has the lowest point at 4 ms; from there on only the quick
process is waited for. Here that is from 8 ms on: a seek to the other file is expected to take as long as that.

| think2= | aged-sptf, MB/s | antic-aged-sptf, MB/s | ratio |
|---|---|---|---|
TEXT
sweep 'think2=@' 0ms 2ms 3ms 4ms 5ms 6ms 7ms 8ms 12ms
cat <<TEXT

Uniform think times up to t (§4.2.3) do as well as t each time, or better; their mean is half of it.

| think= | aged-sptf, MB/s | antic-aged-sptf, MB/s | ratio |
|---|---|---|---|
TEXT
sweep 'dist=uniform,think=@' 2ms 4ms 8ms 12ms 16ms
cat <<TEXT

## The adversary (SOSP'01 §4.2.4, figure 7)

Two processes issue n rapid requests, then pause for a little longer than the disk waits. The paper loses about 20 % for
n from 1 to 4. Its waits cover 95 % of all think times (\`percentile=all\`): here up to 15 ms, so that a pause of 16.1 ms
makes each of them vain. By default they cover 95 % of those below 15 ms (\`percentile=short\`), and the disk does not wait
for such a pause.

\`\`\`sh
idlewise run --disk deskstar-34gxp --duration 200s --scheduler antic-aged-sptf \\
    --set antic-aged-sptf.percentile=all --workload adversary:$streams,pause=16100us,n=1
\`\`\`

| pause | n | aged-sptf, MB/s | antic-aged-sptf, percentile=all | percentile=short | antic-adaptive |
|---|---|---|---|---|---|
TEXT
all=(--set antic-aged-sptf.percentile=all)
for pause in 16100us ''; do
    for n in 0 1 2 3 4; do
        workload="adversary:$streams,n=$n${pause:+,pause=$pause}"
        printf '| %s | %s | %s | %s | %s | %s |\n' "${pause:-rising}" "$n" "$(rate aged-sptf "$workload")" \
            "$(rate antic-aged-sptf "$workload" "${all[@]}")" "$(rate antic-aged-sptf "$workload")" \
            "$(rate antic-adaptive "$workload")"
    done
done
cat <<TEXT

With one rapid request a third is lost. With more, the rapid requests gain more than the waits in vain cost, but less than
with \`percentile=short\`.

A rising pause is each time longer than the statistics expect that have seen the last one, up to 15 ms, and starts over. It
is too short to undo what the rapid requests gain.

The same with a timer that ticks seldom (\`timer=\`). The paper found 10 % between the best and the worst:

| n | 50 us, MB/s | 200 us | 500 us | 1 ms |
|---|---|---|---|---|
TEXT
for n in 1 2 3 4; do
    row="| $n |"
    for timer in 50us 200us 500us 1ms; do
        row+=" $(rate antic-aged-sptf "adversary:$streams,pause=16100us,n=$n" "${all[@]}" --set "antic-aged-sptf.timer=$timer") |"
    done
    echo "$row"
done
cat <<TEXT

## Shares (SOSP'01 §2, §4.7)

Two synchronous readers with weights 1:2, then three with 1:1:3. Time is the share of disk time in percent.

\`\`\`sh
idlewise run --disk deskstar-34gxp --duration 200s --scheduler antic-stride \\
    --workload sync-streams:$streams,weights=100:200
\`\`\`

| scheduler | 1:2, time | MB/s | 1:1:3, time | 1:1:3, requests |
|---|---|---|---|---|
TEXT
for scheduler in stride lottery yfq stride-sptf antic-stride antic-yfq antic-stride-sptf antic-aged-sptf; do
    two="sync-streams:$streams,weights=100:200" three="sync-streams:$streams,n=3,weights=100:100:300"
    printf '| %s | %s | %s | %s | %s |\n' "\`$scheduler\`" "$(shares "$scheduler" "$two" 5)" "$(rate "$scheduler" "$two")" \
        "$(shares "$scheduler" "$three" 5)" "$(shares "$scheduler" "$three" 3)"
done
cat <<TEXT

The paper: without anticipation 1:2 comes out close to 1:1, and 1:1:3 as 1:1:2 under stride and 2:2:3 under lottery
scheduling. \`yfq\` shares bytes, not time.

## Chains of short-lived processes (OLS'05 §5.5, §5.6)

A streaming reader beside \`find -type f -exec cat {} ;\` over 16 000 files; the run ends with the chain.

\`\`\`sh
idlewise compare --disk deskstar-34gxp --schedulers deadline-2.6.11,as-2.6.11,as,cas --workload stream-and-chain
\`\`\`

| scheduler | chain done, s | MB/s |
|---|---|---|
TEXT
for scheduler in deadline-2.6.11 as-2.6.11 as cas antic-aged-sptf antic-adaptive; do
    chain "$scheduler" stream-and-chain
done
cat <<TEXT

The paper: deadline 297 s and 9 MB/s, the anticipatory scheduler of Linux 4767 s and 35, the cooperative one 255 s and 34.
With \`--why\` the cause shows. Under \`as-2.6.11\` the stream, process 1, is always waited for and always comes; the chain is
served when it is overdue, and given up as most new processes exit. \`cas\` waits for the next process of the chain.

\`\`\`sh
idlewise run --disk deskstar-34gxp --scheduler as-2.6.11 --workload stream-and-chain --why
\`\`\`

\`\`\`text
$(why as-2.6.11)
\`\`\`

The same under \`cas\`:

\`\`\`text
$(why cas)
\`\`\`

Two chains over disjoint trees:

| scheduler | both done, s | MB/s |
|---|---|---|
TEXT
for scheduler in deadline-2.6.11 as-2.6.11 as cas antic-adaptive; do
    chain "$scheduler" two-chains
done
cat <<TEXT

The paper: 4.0 MB/s under both deadline and the anticipatory scheduler, 11.6 under the cooperative one.

A streaming writer beside a streaming reader (§5.4), with commands of 128 KB as on the paper's disk (\`--no-merges\`); the run
ends with the reader:

| scheduler | reader done, s | MB/s |
|---|---|---|
TEXT
for scheduler in deadline-2.6.11 as-2.6.11 cas; do
    report deskstar-34gxp "$scheduler" write-and-read --no-merges |
        awk -v name="$scheduler" '/^run time/ { s = $3 } /^throughput/ { print "| `" name "` | " s " | " $2 " |" }'
done
cat <<TEXT

The paper: deadline 129 s and 25 MB/s, the anticipatory scheduler 10 s and 33, the cooperative one 9 s and 33.
TEXT
