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

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0

# --no-fail-fast: one failure does not hide the next. In CI a Cargo.lock that is not up to date fails.
cargo test --workspace --no-fail-fast ${CI:+--locked} "$@" </dev/null 2>&1 | tee "$log" || status=1
if [ $# = 0 ]; then
    scripts/check.sh </dev/null 2>&1 | tee -a "$log" || status=1
fi

awk -v status="$status" '
    /^test result:/ { passed += $4; failed += $6; skipped += $8 }
    /^skipped: /    { passed--; skipped++ }
    /^checks: /     { passed += $2; failed += $4; skipped += $6 }
    END {
        if (status && !failed) failed = 1    # A build that broke ran no test that could fail.
        printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
    }' "$log"
exit "$status"
