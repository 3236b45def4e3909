#!/usr/bin/env bash
# Makes Debian packages: idlewise (program, manual pages, completions) and idlewise-dkms (both kernel modules, as DKMS
# wants them). Prints where they are. Nothing is installed.
#
#   scripts/deb.sh [--as-tested]        (the program as the tests have it, not built for speed)
#
# Exit status 77: they cannot be made here (the last line says why).
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/kernel/packages.sh

for tool in dpkg-buildpackage dh dh_dkms; do
    command -v "$tool" >/dev/null || cannot "no $tool (apt-get install dpkg-dev debhelper dh-dkms, on Debian)"
done
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
place=$kernel_work/deb
stage=$place/idlewise
rm -rf "$place"
mkdir -p "$stage"/built/{bin,man,bash,zsh,fish,doc,examples}

build=(build --release --locked --package idlewise)
[ "${1:-}" != --as-tested ] || build=("${as_tested[@]}")
program=$(program idlewise "${build[@]}")
built=$stage/built
cp "$program" "$built/bin/"
"$program" manual "$built/man"
"$program" completions bash >"$built/bash/idlewise"
"$program" completions zsh >"$built/zsh/_idlewise"
"$program" completions fish >"$built/fish/idlewise.fish"
cp README.md CHANGELOG.md LICENSE-MIT docs/*.md "$built/doc/"
cp traces/demo.ftrace.zst packaging/examples/* "$built/examples/"
DESTDIR=$built scripts/kernel/install.sh >"$place/modules.log" 2>&1 || { status=$?; tail -n 5 "$place/modules.log"; exit "$status"; }

cp -r packaging/debian "$stage/"
mv "$built/usr/src/idlewise-$version/dkms.conf" "$stage/debian/idlewise-dkms.dkms"
date=$(git log -1 --format=%cD 2>/dev/null || date -R)
printf 'idlewise (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' "$version" \
    "$(sed -n 's/^Maintainer: //p' packaging/debian/control)" "$date" >"$stage/debian/changelog"

# What is packed is built already, without debugging information.
export DEB_BUILD_OPTIONS=noautodbgsym
(cd "$stage" && dpkg-buildpackage --build=binary --unsigned-changes --unsigned-buildinfo) >"$place/package.log" 2>&1 ||
    { tail -n 20 "$place/package.log"; exit 1; }
ls "$place"/*.deb
