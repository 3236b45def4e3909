# Makes of lines `DISK LOAD ELEVATOR REQUESTS_A_SECOND P99_NS` the tables of docs/flash.md, and says which elevators miss which
# target. Status 1 if an elevator of ours is below a floor: then something waits that should not.
#
# Variable `short`: nothing but what is below a floor.
{
    if (!(($1, $3) in known)) { known[$1, $3]; elevators[$1] = elevators[$1] " " $3 }
    if (!($1 in disk)) { disk[$1]; disks[++count] = $1 }
    if (!($2 in load)) { load[$2]; loads[++wide] = $2 }
    rate[$1, $2, $3] = $4
    late[$1, $2, $3] = $5
}
function theirs(name) { return name ~ /^(none|mq-deadline|kyber|bfq)$/ }
function reads(name) { return name !~ /^writ/ }
function ratio(where, what, who) { return rate[where, what, who] / rate[where, what, "mq-deadline"] }
# Of none and mq-deadline: the higher rate, and the shorter time.
function best(where, what,    one, other) {
    one = rate[where, what, "none"]; other = rate[where, what, "mq-deadline"]
    return one > other ? one : other
}
function soonest(where, what,    one, other) {
    one = late[where, what, "none"]; other = late[where, what, "mq-deadline"]
    return one < other ? one : other
}
function table(where,    i, j, all, n, line) {
    line = "| |"
    for (j = 1; j <= wide; j++) line = line " " loads[j] " |"
    print line
    gsub(/[^|]+/, "---", line)
    print line
    n = split(elevators[where], all, " ")
    for (i = 1; i <= n; i++) {
        line = "| `" all[i] "` |"
        for (j = 1; j <= wide; j++) {
            line = line sprintf(" %.2f", ratio(where, loads[j], all[i]))
            if (where != "null" && reads(loads[j]))
                line = line sprintf(" / %.2f / %.2f", rate[where, loads[j], all[i]] / best(where, loads[j]),
                    late[where, loads[j], all[i]] / soonest(where, loads[j]))
            line = line " |"
        }
        print line
    }
}
# Counts one figure against a target; a miss is remembered by load.
function held(what, load, who, figure, good) {
    asked[what, load]++
    if (good) return
    missed[what, load]++
    misses[what, load] = misses[what, load] sprintf(" `%s` %.2f,", who, figure)
}
function judge(where, load, who,    own, other) {
    own = ratio(where, load, who)
    if (own < floor) { printf "%s: %s of %s is %.2f of mq-deadline, below the floor of %.2f\n", where, load, who, own, floor; wrong = 1 }
    if (where == "null") {
        held("null_blk: 0.97 of mq-deadline's rate", load, who, own, own >= 0.97)
        if (who ~ /^antic-/ && load == "batches") held("null_blk: `antic-*`: 0.9 of mq-deadline's rate", load, who, own, own >= 0.9)
        other = rate[where, load, who] / rate[where, load, "bfq"]
        if (who ~ /^(cfq|iw-bfq)$/) held("null_blk: `cfq` and `iw-bfq`: 1.1 of bfq's rate", load, who, other, other >= 1.1)
    } else if (reads(load)) {
        held(where ": 0.97 of mq-deadline's rate", load, who, own, own >= 0.97)
        other = rate[where, load, who] / best(where, load)
        held(where ": 0.97 of the better rate", load, who, other, other >= 0.97)
        other = late[where, load, who] / soonest(where, load)
        held(where ": p99 at most 1.1 of the shorter one", load, who, other, other <= 1.1)
    }
}
function verdict(    i, j, k, n, all, what, order, rows) {
    for (i = 1; i <= count; i++) {
        n = split(elevators[disks[i]], all, " ")
        for (j = 1; j <= wide; j++) for (k = 1; k <= n; k++) if (!theirs(all[k])) judge(disks[i], loads[j], all[k])
    }
    if (short) return
    print "\n## Targets\n\n| target | load | elevators that meet it | that miss it |\n|---|---|---|---|"
    for (what in asked) order[++rows] = what
    for (i = 1; i <= rows; i++) {
        for (j = i + 1; j <= rows; j++) if (order[j] < order[i]) { what = order[i]; order[i] = order[j]; order[j] = what }
        what = order[i]
        split(what, all, SUBSEP)
        sub(/,$/, "", misses[what])
        printf "| %s | %s | %d of %d |%s |\n", all[1], all[2], asked[what] - missed[what], asked[what],
            (missed[what] > 8 ? " " missed[what] ", see above" : misses[what])
    }
}
END {
    if (!count) { print "nothing was measured"; exit 1 }
    for (i = 1; i <= count && !short; i++) {
        print "\n## " (disks[i] == "null" ? "null_blk" : "`" disks[i] "`") "\n"
        table(disks[i])
    }
    verdict()
    exit wrong
}
