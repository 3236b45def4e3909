# Makes recordings (.loops) of what the guest printed for processes that wait for their requests: how much of
# the disk each got, how long the disk idled though requests waited, how fast the machine is, and the depths
# of kyber.
# Usage: awk -f to-loops.awk -v scenarios=FOLDER -v out=FOLDER CONSOLE
#
# Also writes NAME.turns, for looking at differences: whose requests were served, how many in a row, since when.

# The least gap in us that counts as idling: shorter ones are the time that the machine computes.
BEGIN { LEAST = 500 }

# A time such as 2ms or 500us, in us.
function us(text) { return text ~ /us$/ ? text + 0 : text * 1000 }

function begin(file,    line, i, words, pair) {
    name = file
    sub(/\.txt$/, "", name)
    path = scenarios "/" file
    split("", think); split("", issued); split("", replies); split("", services); split("", turns)
    split("", first); split("", served); split("", sectors); split("", flying); split("", done_at)
    split("", whose); split("", came); split("", jitters) split("", length_of)
    header = ""
    processes = run = 0
    while ((getline line < path) > 0) {
        if (line !~ /^service /) header = header line "\n"
        if (line ~ /^run /) run = us(substr(line, 5))
        if (line !~ /^process /) continue
        split(line, words, " ")
        order[++processes] = words[2]
        think[words[2]] = 0
        for (i = 5; i in words; i++) {
            split(words[i], pair, "=")
            if (pair[1] == "think") think[words[2]] = us(pair[2])
            if (pair[1] == "jitter") jitters[words[2]] = 1
        }
    }
    close(path)
    now = waiting = idling = busy = 0
    start = free = since = -1
    looped = processes > 0
    trail = depths = ""
}

# The middle one of the values in `list`, which are separated by spaces; the least if `least`.
function median(list, least,    values, count, i, j, value) {
    count = split(list, values, " ")
    for (i = 2; i <= count; i++) {
        value = values[i] + 0
        for (j = i - 1; j > 0 && values[j] + 0 > value; j--) values[j + 1] = values[j]
        values[j + 1] = value
    }
    return values[least ? 1 : int((count + 1) / 2)] + 0
}

# Adds to a list, unless it is long enough to tell the middle.
function sample(lists, key, value) {
    if (counted[name, key]++ < 201) lists[key] = lists[key] " " value
}

function insert(id, sectors_of, who) {
    if (start < 0) start = now
    if (!(who in first)) first[who] = now - start
    else if (!flying[who]) sample(replies, who, now - done_at[who] - think[who])
    flying[who]++
    whose[id] = who
    came[id] = now
    length_of[id] = sectors_of
    if (!waiting++ && !busy) since = now
}

function dispatch(id,    gap) {
    gap = now - (since > free ? since : free)
    if (free >= 0 && gap >= LEAST && now - start <= run) idling += gap
    sample(turns, "all", now - (came[id] > free ? came[id] : free))
    waiting--
    busy = 1
    sent = now
    if (whose[id] == running) row++
    else {
        if (row) trail = trail sprintf("%s %d %d\n", running, row, began)
        running = whose[id]; row = 1; began = now - start
    }
}

function complete(id,    who) {
    who = whose[id]
    sample(services, "all", now - sent)
    busy = 0
    free = now
    flying[who]--
    done_at[who] = now
    if (now - start <= run) { served[who]++; sectors[who] += length_of[id] }
}

function finish(    i, who, target) {
    if (!looped) return
    target = out "/" name ".loops"
    printf "%s# Recorded from Linux %s. Made by scripts/kernel-compare/run.sh.\n\n", header, version > target
    printf "machine service=%dus turn=%dus\n", median(services["all"]), median(turns["all"]) > target
    for (i = 1; i <= processes; i++) {
        who = order[i]
        printf "served %s requests=%d sectors=%d begin=%dus reply=%dus\n", who, served[who], sectors[who], first[who], \
            median(replies[who], who in jitters) > target
    }
    printf "idled %dus\n%s", idling, depths > target
    close(target)
    target = out "/" name ".turns"
    printf "%s%s %d %d\n", trail, running, row, began > target
    close(target)
}

/^version / { version = $2 }
/^scenario / { begin($2); running = ""; row = 0; next }
/^end/ { finish(); looped = 0 }
looped && /^k / {
    now += $2
    if (now - start <= run) depths = depths sprintf("depth %s %d since=%dus\n", $3, $4, now - start)
}
looped && /^[idc] / {
    now += $2
    id = $3 " " $4
    if ($1 == "i") insert(id, $5, substr($6, 2))
    else if ($1 == "d") dispatch(id)
    else complete(id)
}
