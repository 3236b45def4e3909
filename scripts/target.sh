#!/usr/bin/env bash
# Measures what the latency target of `turns` buys and costs: prints a section of docs/front.md, and draws it.
#
#   scripts/target.sh [PATH OF idlewise] [PICTURE.svg] > section.md
#
# RUNS=N runs of each (5), DURATION=TIME of each (20s).
set -euo pipefail
export LC_ALL=C

idlewise="${1:-target/release/idlewise}" picture="${2:-docs/target.svg}"
targets=(20 80 160 250 350 500)
# One of today with a queue of its own, one of twenty years ago without.
disks=(hdd-18tb-7200 maxtor-40g)
loads=seq-readers,web,streams-2,start-streams,backup,video

schedulers=$(printf ',turns:target=%s' "${targets[@]}")
rows=$(
    for disk in "${disks[@]}"; do
        "$idlewise" front --disks "$disk" --loads "$loads" --runs "${RUNS:-5}" --duration "${DURATION:-20s}" \
            --schedulers "${schedulers#,}" --json 2>/dev/null |
            awk -v disk="$disk" '
                function value() { sub(/^[^:]*: */, ""); gsub(/[",]/, ""); return $0 }
                /"load":/ { load = value() }
                /"scheduler":/ { scheduler = value() }
                /"throughput_bytes_per_s":/ { rate = value() / 1e6 }
                /"slowest_read_ns_p99":/ && sub(/^turns:target=/, "", scheduler) {
                    printf "%s %s %s %.1f %.0f\n", disk, load, scheduler, rate, value() / 1e6
                }'
    done | sort -k1,1 -k2,2 -k3,3n
)

cat <<TEXT
## What a target buys

The one knob of \`turns\`: how long a round takes when many want the disk. MB/s and, in brackets, the 99th percentile of the
slowest process's reads in ms. Below about 80 ms nothing changes: no turn is shorter than 40 ms.

![throughput against latency for each target](target.svg)

TEXT
awk -v targets="${targets[*]}" '
    BEGIN {
        count = split(targets, each, " ")
        printf "| disk | load |"
        for (i = 1; i <= count; i++) printf " %s ms |", each[i]
        printf "\n|---|---|"
        for (i = 1; i <= count; i++) printf "---|"
    }
    $1 " " $2 != last { last = $1 " " $2; printf "\n| %s | %s |", $1, $2 }
    { printf " %s (%s) |", $4, $5 }
    END { print "" }' <<<"$rows"

# A panel for each disk and load, a line from the least target to the greatest.
awk -v across=6 '
    function panel(n) { return (n - 1) % across * 200 + 10 }
    { key = $1 " " $2 }
    key != last { last = key; names[++panels] = key; points[panels] = 0 }
    {
        n = ++points[panels]
        x[panels, n] = $5; y[panels, n] = $4; target[panels, n] = $3
        if ($5 > right[panels]) right[panels] = $5
        if ($4 > top[panels]) top[panels] = $4
    }
    END {
        rows = int((panels + across - 1) / across)
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"9\">\n", across * 200 + 10, rows * 190
        print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
        for (p = 1; p <= panels; p++) {
            left = panel(p); up = int((p - 1) / across) * 190 + 20
            printf "<text x=\"%d\" y=\"%d\">%s</text>\n", left, up - 6, names[p]
            printf "<path d=\"M%d %dv140h175\" fill=\"none\" stroke=\"gray\"/>\n", left + 5, up
            printf "<text x=\"%d\" y=\"%d\" fill=\"gray\">%s MB/s</text>\n", left + 8, up + 8, top[p]
            printf "<text x=\"%d\" y=\"%d\" fill=\"gray\" text-anchor=\"end\">p99 %s ms</text>\n", left + 180, up + 152, right[p]
            line = ""
            for (n = 1; n <= points[p]; n++) {
                px = left + 5 + x[p, n] / (right[p] + !right[p]) * 160
                py = up + 140 - y[p, n] / (top[p] + !top[p]) * 120
                line = line (n == 1 ? "M" : "L") sprintf("%.1f %.1f", px, py)
                printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"steelblue\"><title>%s ms</title></circle>\n", px, py, target[p, n]
                if (n == 1 || n == points[p]) printf "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", px + 4, py + 10, target[p, n]
            }
            printf "<path d=\"%s\" fill=\"none\" stroke=\"steelblue\"/>\n", line
        }
        print "</svg>"
    }' <<<"$rows" >"$picture.new"
mv "$picture.new" "$picture"
