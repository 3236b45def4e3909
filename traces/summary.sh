#!/usr/bin/env bash
# Counts a trace made by record-demo.sh: requests by phase and program, span, sizes.
#
#   traces/summary.sh [TRACE]        (default: demo.ftrace.zst beside this script)
#
# A request counts when it is inserted, for the program that inserted it. Requests that the kernel
# issues without inserting them (cache flushes) count under "issued" only.
set -euo pipefail
trace=${1:-$(dirname "${BASH_SOURCE[0]}")/demo.ftrace.zst}

echo "compressed: $(stat -c %s "$trace") bytes; text: $(zstd -dc "$trace" | wc -c) bytes"
zstd -dc "$trace" | awk '
    /^#/ { if (/entries-in-buffer/) print substr($0, 3); next }
    # "COMM-PID [CPU] FLAGS TIME: EVENT: ...": COMM may hold spaces, so fields count from the event.
    !match($0, / [0-9]+\.[0-9]+: /) { next }
    {
        time = substr($0, RSTART + 1, RLENGTH - 3) + 0
        rest = substr($0, RSTART + RLENGTH)
        if (!first) first = time
        last = time
        split(rest, f, " ")
    }
    f[1] == "tracing_mark_write:" { phase = rest; sub(/^[^:]*: /, "", phase); next }
    { events[f[1]]++ }
    f[1] == "block_rq_insert:" {
        comm = rest; sub(/^.*\[/, "", comm); sub(/\]$/, "", comm)
        sub(/^kworker.*/, "kworker", comm); sub(/^jbd2.*/, "jbd2", comm)
        key = phase "|" comm
        if (f[3] ~ /R/) { reads[key]++; read_bytes[key] += f[4] } else { writes[key]++; write_bytes[key] += f[4] }
        keys[key] = 1
    }
    END {
        printf "span: %.1f s\n", last - first
        for (e in events) printf "%-26s %7d\n", e, events[e] | "sort"
        close("sort")
        printf "\n%-32s %-12s %8s %10s %8s %10s\n", "phase", "program", "reads", "KiB", "writes", "KiB"
        for (k in keys) {
            split(k, part, "|")
            printf "%-32s %-12s %8d %10d %8d %10d\n", part[1], part[2], reads[k], read_bytes[k] / 1024, writes[k], write_bytes[k] / 1024 | "sort"
        }
    }'
