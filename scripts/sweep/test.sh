#!/usr/bin/env bash
# Tests sweeps on Ray with two workers, and in an object store: in an environment of their own, which takes about 1 GB.
#
#   scripts/sweep/test.sh [WHEEL]         (default: the newest that `make wheel` has built)
#
# Exit status 77 says that it cannot run here, and the last line why.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

skip() { echo "$*"; exit 77; }
wheel=${1:-$(find "${CARGO_TARGET_DIR:-target}/wheels" -name 'idlewise-*.whl' -printf '%T@ %p\n' 2>/dev/null |
    sort -n | tail -n 1 | cut -d ' ' -f 2-)}
[ -n "$wheel" ] || skip "no wheel: make wheel"
[ -e "$wheel" ] || { echo "$wheel: there is no such wheel" >&2; exit 2; }

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
python3 -m venv "$box/venv" >"$box/log" 2>&1 || skip "python3 has no venv (apt-get install python3-venv)"
"$box/venv/bin/pip" install -q "${wheel}[ray,pandas]" pytest s3fs 'moto[server]' >"$box/log" 2>&1 || {
    cat "$box/log"
    skip "Ray cannot be had for this Python"
}
"$box/venv/bin/python" -m pytest -q -p no:cacheprovider crates/py/tests/test_sweep.py crates/py/tests/test_sweep_ray.py
