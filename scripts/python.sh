#!/usr/bin/env bash
# Builds the Python package, and tests it as somebody has it who installs it.
#
#   scripts/python.sh wheel [FOLDER]     the wheel, built for speed, into FOLDER (default: target/wheels)
#   scripts/python.sh                    a wheel that is built as tests are, used in a fresh virtual environment: tests, notebooks,
#                                        examples of the manuals, types, lints
#
# Status 77 says that something cannot be had here, and the last line what.
set -euo pipefail
export LC_ALL=C.UTF-8 CARGO_TERM_PROGRESS_WHEN=never PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
package=crates/py
requirements=$package/requirements.txt

cannot() { echo "$*"; exit 77; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || cannot "no Python 3.11 or newer (apt-get install python3)"
python3 -c 'import ensurepip, venv' 2>/dev/null || cannot "Python has no venv (apt-get install python3-venv)"

# environment FOLDER [OPTION…]: a virtual environment with what the options of pip name.
environment() {
    local folder=$1
    shift
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet "$@" >&2 || cannot "pip could not install what $requirements names"
}
# wheel TOOLS PROFILE FOLDER
wheel() { (cd "$package" && CARGO_TARGET_DIR=$target "$1/bin/maturin" build --quiet --locked --profile "$2" --out "$3"); }

if [ "${1:-}" = wheel ]; then
    environment "$target/python" "$(grep '^maturin==' "$requirements")"
    out=$(realpath -m "${2:-$target/wheels}")
    wheel "$target/python" release "$out"
    ls "$out"/*.whl
    exit
fi

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
trap 'exit 130' INT TERM
environment "$box/env" --requirement "$requirements"
wheel "$box/env" dev "$box"
# The program as the tests have it.
CARGO_TARGET_DIR=$target cargo build --quiet --locked --workspace --bin idlewise
"$box/env/bin/pip" install --quiet --no-index --no-deps "$box"/*.whl

cd "$package"
export MPLCONFIGDIR=$box PYTHONDONTWRITEBYTECODE=1
status=0
"$box/env/bin/ruff" format --no-cache --check . || status=1
"$box/env/bin/ruff" check --no-cache --quiet . || status=1
"$box/env/bin/mypy" --strict --cache-dir="$box/mypy" || status=1
"$box/env/bin/python" -m mypy.stubtest --mypy-config-file pyproject.toml idlewise._native || status=1
IDLEWISE_CLI=$target/debug/idlewise "$box/env/bin/pytest" -q -p no:cacheprovider -rs || status=1
exit "$status"
