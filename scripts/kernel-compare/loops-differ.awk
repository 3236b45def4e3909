# Whether two recordings of processes that wait (.loops) are of the same behaviour: exit status 1, and what
# differs, if not. Where in a tick of the kernel a scenario begins changes a few requests; that is no difference.
# Usage: awk -f loops-differ.awk ONE OTHER

# Requests may differ by this part, or by a few, or by one turn of the scheduler, which the end of the run cuts
# off or not; idling by this time in us, or part.
BEGIN { PART = 0.05; FEW = 10; IDLING = 40000 }

function off(one, other, least,    way) {
    way = one > other ? one - other : other - one
    return way > least && way > PART * one
}

function value(word) { sub(/.*=/, "", word); return word + 0 }

FNR == 1 { file++; depths = 0 }
/^scheduler .*timeout_sync=/ { timeout = $0; sub(/.*timeout_sync=/, "", timeout) }
/^run / { run = $2 + 0 }
/^served / && file == 1 { served[$2] = value($3); before[$2] = $0; all += served[$2] }
/^served / && file == 2 { after[$2] = $0; serves[$2] = value($3) }
/^idled / && file == 1 { idled = $2 + 0 }
/^idled / && file == 2 && off(idled, $2 + 0, IDLING) { print "< idled " idled "us\n> " $0; differs = 1 }
/^depth / { depth[file, ++depths] = $2 " " $3; count[file] = depths }
# What is asked for must be the same.
/^(scheduler|rotational|run|process)/ && file == 1 { asked = asked $0 "\n" }
/^(scheduler|rotational|run|process)/ && file == 2 { asks = asks $0 "\n" }
END {
    turn = timeout * all / run
    for (who in before)
        if (off(served[who], serves[who], turn > FEW ? turn : FEW)) { print "< " before[who] "\n> " after[who]; differs = 1 }
    if (asked != asks) { print "another scenario"; differs = 1 }
    for (i = 1; i <= count[1] || i <= count[2]; i++)
        if (depth[1, i] != depth[2, i]) { print "< depth " depth[1, i] "\n> depth " depth[2, i]; differs = 1 }
    exit differs + 0
}
