# Makes event sequences (.ops) of what the guest printed: what came when, and what the kernel gave out.
# Usage: awk -f to-ops.awk -v scenarios=FOLDER -v out=FOLDER CONSOLE

# The scenario that the trace events which follow are of.
function begin(file,    line, words, extent, id) {
    name = file
    sub(/\.txt$/, "", name)
    path = scenarios "/" file
    delete request
    comment = scheduler = ""
    while ((getline line < path) > 0) {
        if (line ~ /^#/) comment = comment line "\n"
        else if (line ~ /^scheduler /) scheduler = line
        else if (line ~ /^[0-9]+ms /) {
            split(line, words, " ")
            split(words[4], extent, "+")
            # One letter, first sector and length tell requests apart.
            id = words[3] " " extent[1] "+" extent[2]
            request[id] = " by=" words[2] (words[3] == "W" ? " sync" : "")
            if (words[5] != "" && words[5] != "prio=be/4") request[id] = request[id] " " words[5]
        }
    }
    close(path)
    target = out "/" name ".ops"
    printf "%s# Recorded from Linux %s. Made by scripts/kernel-compare/run.sh.\n", comment, version > target
    printf "device merging=off\nqueue 128\n%s\n\n", scheduler > target
    ids = 0
    last = -1
    delete known
}

# The time since the event before, as a line of the format begins.
function after(time,    span) {
    span = last < 0 ? 0 : time - last
    last = time
    if (span <= 0) return ""
    # The unit that the format itself would choose.
    if (span % 1000000 == 0) return "+" span / 1000000 "s "
    return span % 1000 == 0 ? "+" span / 1000 "ms " : "+" span "us "
}

/^\033|scenario / { sub(/.*scenario /, "scenario ") }
/^version / { version = $2 }
/^scenario / { begin($2) }
/^end/ { close(target) }
/: block_rq_/ {
    split($3, clock, /[.:]/)
    time = clock[1] * 1000000 + clock[2]
    event = $4
    # The extent stands before the process that did it: SECTOR + LENGTH [NAME].
    match($0, /[0-9]+ \+ [0-9]+ \[/)
    split(substr($0, RSTART, RLENGTH), extent, " ")
    kind = $6 ~ /W/ ? "W" : "R"
    id = kind " " extent[1] "+" extent[3]
    if (event == "block_rq_insert:") {
        if (!(id in request)) { print "unknown request " id " in " name > "/dev/stderr"; exit 1 }
        known[id] = ids++
        printf "%sinsert %d %s%s = queued\n", after(time), known[id], id, request[id] > target
    } else if (event == "block_rq_issue:")
        printf "%sdispatch = %d\n", after(time), known[id] > target
    else if (event == "block_rq_complete:")
        printf "%scomplete %d\n", after(time), known[id] > target
}
