#!/usr/bin/env bash
# The papers' experiments twice: by real programs in a guest with Debian's kernel, our elevators and a disk that is
# a model, and by the simulator on the same model. Prints a table of both, and whether their ratios agree.
#
#   scripts/kernel/papers.sh [--short]
#
# Exit status: 0 what the papers found holds and both agree within 20 %, 1 not, 77 it cannot run here.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

disk=deskstar-34gxp seconds=10 files=400 large=700
export GUEST_MEMORY=512 GUEST_TIMEOUT=${GUEST_TIMEOUT:-7200}
kernels=none,mq-deadline,bfq,kyber
readers=$kernels,noop,iw-deadline,aged-sptf,antic-aged-sptf,as,cas,cfq
mapped=$readers
shares=$kernels,noop,iw-deadline,as,cas,cfq,iw-bfq,stride,antic-stride,antic-stride-sptf
chain=$kernels,noop,iw-deadline,deadline-2.6.11,as-2.6.11,as,cas,cfq
chains=$chain writing=$kernels,noop,iw-deadline,deadline-2.6.11,as-2.6.11,as,cas,cfq
case ${1:-} in
    --short)
        seconds=3 files=160 large=260
        export GUEST_MEMORY=320
        readers=iw-deadline,antic-aged-sptf mapped='' shares='' chain=as-2.6.11,cas chains='' writing=''
        ;;
    '') ;;
    *) sed -n 's/^# \{0,1\}//; 2,8p' "$0" >&2; exit 2 ;;
esac

status=0
# The seed says where on the disk ext4 puts the trees; with others the chain's ratio differs by some tens of percent.
report=$(scripts/kernel/run.sh papers "seed=${SEED:-1}" "seconds=$seconds" "files=$files" "large=$large" "readers=$readers" \
    "mapped=$mapped" "shares=$shares" "chain=$chain" "chains=$chains" "writing=$writing") || status=$?
[ "$status" = 0 ] || { echo "$report"; exit "$status"; }

# Built for speed if the caller has not built it already; the short form takes the program that the tests run.
build=(build --release --package idlewise)
[ "${1:-}" != --short ] || build=(test --no-run --workspace)
program=$(cargo "${build[@]}" --quiet --message-format json |
    sed -n '/"kind":\["bin"\]/ s/.*"executable":"\([^"]*\/idlewise\)".*/\1/p' | tail -n 1)
streams="sync-streams:file=1g,requests=1000000,runtime=${seconds}s"
# simulated_mapped SCHEDULER: KB/s of two readers of a page at a time, who think as long as a fault costs. Where the
# head comes back from a seek just too late for its page, it waits a turn of the disk; so the mean of some distances
# is taken.
simulated_mapped() {
    local gap
    for gap in 1342 1344 1346 1348 1350 1352 1354 1356; do
        "$program" run --disk "$disk" --scheduler "$1" --workload "$streams,gap=${gap}m,bs=4k,think=${fault}ns" --json |
            sed -n 's/ *"throughput_bytes_per_s": \([0-9.]*\).*/\1/p'
    done | awk '{sum += $1} END {print sum / NR / 1024}'
}
# simulated_shares SCHEDULER: hundredths of what a reader of weight 100 gets that one of weight 200 gets. By level
# cfq gives other slices, in the guest.
simulated_shares() {
    local set=()
    case $1 in cfq) return ;; bfq) set=(--set bfq.low_latency=0) ;; esac
    "$program" run --disk "$disk" --scheduler "$1" "${set[@]}" --workload "$streams,gap=1350m,pattern=random,weights=200:100" --json |
        sed -n '/"issuers"/,$ s/ *"bytes": \([0-9]*\).*/\1/p' | head -n 2 | awk '{bytes[NR] = $1} END {print 100 * bytes[1] / bytes[2]}'
}
fault=$(echo "$report" | sed -n 's/^result: fault null //p')
# simulated EXPERIMENT SCHEDULER: the same in the simulator and in the same unit; nothing if the scheduler is the
# kernel's own, which the simulator does not run.
simulated() {
    local name=${2#iw-} tree="files=$files,directories=$((files / 16)),groups=1,order=hash" workload key=elapsed_ns unit=10000000
    case $2 in none | mq-deadline | bfq | kyber) return ;; esac
    case $1 in
        readers) workload="$streams,gap=1350m" key=throughput_bytes_per_s unit=1024 ;;
        mapped) simulated_mapped "$name"; return ;;
        shares) simulated_shares "$name"; return ;;
        chain) workload="stream-and-chain:$tree" ;;
        chains) workload="two-chains:$tree" ;;
        *) return ;;
    esac
    "$program" run --disk "$disk" --scheduler "$name" --workload "$workload" --json |
        sed -n "s/ *\"$key\": \([0-9.]*\).*/\1/p" | awk -v unit=$unit '{print $1 / unit}'
}

table=$(echo "$report" | sed -n '/^result: fault/d; s/^result: //p' | while read -r experiment scheduler number; do
    echo "$experiment $scheduler $number $(simulated "$experiment" "$scheduler")"
done)
echo "$table" | awk '
    BEGIN {
        title["readers"] = "Two synchronous sequential readers, 64 KB (SOSP 2001, 4.1): MB/s"; scale["readers"] = 976.5625
        title["mapped"] = "The same through mmap, without read-ahead: MB/s"; scale["mapped"] = 976.5625
        title["shares"] = "Two readers with weights 2:1 (SOSP 2001, 4.7): the first of the second"; scale["shares"] = 100
        title["chain"] = "find -exec cat beside a streaming cat (OLS 2005, 5.5): seconds of find"; scale["chain"] = 100
        title["chains"] = "find -exec cat over two trees (OLS 2005, 5.6): seconds"; scale["chains"] = 100
        title["writing"] = "dd reads a stream while dd writes one (OLS 2005, 5.4): MB/s of the reader"; scale["writing"] = 976.5625
    }
    $1 != last { printf "\n%s\n%-18s %10s %10s\n", title[$1], "scheduler", "kernel", "simulator"; last = $1 }
    { printf "%-18s %10.2f", $2, $3 / scale[$1]; if ($4 != "") printf " %10.2f", $4 / scale[$1]; print "" }'
echo "$table" | awk '
    { kernel[$1, $2] = $3; model[$1, $2] = $4 }
    function ratio(what, a, b, least,    own, other, apart) {
        own = kernel[what, a] / kernel[what, b]
        other = model[what, a] / model[what, b]
        apart = own / other - 1
        printf "%s: %s / %s = %.2f in the kernel (at least %s), %.2f in the simulator, %+.0f %%\n", what, a, b, own, least, other, 100 * apart
        if (own < least || apart > 0.2 || apart < -0.2) wrong = 1
    }
    END {
        print ""
        ratio("readers", "antic-aged-sptf", "iw-deadline", 3)
        if (("mapped", "iw-deadline") in kernel) ratio("mapped", "antic-aged-sptf", "iw-deadline", 3)
        ratio("chain", "as-2.6.11", "cas", 5)
        exit wrong
    }'
