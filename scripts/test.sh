#!/usr/bin/env bash
# Runs all tests and all checks, and closes with one line that counts them.
#
#   scripts/test.sh [ARGUMENTS FOR cargo test]
#
# With arguments only the tests run. Tests that need the public traces find them through
# IDLEWISE_TRACES. Where it is unset each says "skipped: REASON" and is counted as skipped, not as passed.
set -euo pipefail
export LC_ALL=C CARGO_TERM_PROGRESS_WHEN=never
cd "$(dirname "${BASH_SOURCE[0]}")/.."

log=$(mktemp) checks=$(mktemp)
beside=
# The checks are a process group, so that nothing of them is left when this ends before them.
leave() {
    [ -z "$beside" ] || kill -- "-$beside" 2>/dev/null || true
    rm -f "$log" "$checks"
}
trap leave EXIT
trap 'exit 130' INT TERM
status=0

# Beside the tests, of which some keep one processor busy; but not before all are compiled, since until then cargo lets nobody
# else build.
check() {
    until grep -q '^     Running' "$log"; do sleep 1; done
    exec scripts/check.sh
}
if [ $# = 0 ]; then
    set -m
    check </dev/null >"$checks" 2>&1 &
    beside=$!
    set +m
fi

# --no-fail-fast: one failure does not hide the next. In CI a Cargo.lock that is not up to date fails.
cargo test --workspace --no-fail-fast ${CI:+--locked} "$@" </dev/null 2>&1 | tee "$log" || status=1
if [ -n "$beside" ]; then
    # Also when the build broke.
    grep -q '^     Running' "$log" || echo '     Running nothing' >>"$log"
    tail -n +1 -f --pid="$beside" "$checks"
    wait "$beside" || status=1
    beside=
fi

awk -v status="$status" '
    /^test result:/ { passed += $4; failed += $6; skipped += $8 }
    /^skipped: /    { passed--; skipped++ }
    /^checks: /     { passed += $2; failed += $4; skipped += $6 }
    END {
        if (status && !failed) failed = 1    # A build that broke ran no test that could fail.
        printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
    }' "$log" "$checks"
[ "$status" = 0 ]
