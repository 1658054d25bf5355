#!/usr/bin/env bash
# Make the book: the pages of the comparisons by the command itself, then the chapters by mdbook.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release -p daedal-cli
target=${CARGO_TARGET_DIR:-target}
daedal=$(cd "$target/release" && pwd)/daedal
mkdir -p docs/src/comparisons
cd docs/src/comparisons
# the same commands stand in choose.md, and a test compares them
"$daedal" compare pendulum -o pendulum.html
"$daedal" compare slider_crank --tend 10 -o slider-crank.html
"$daedal" compare skateboard --tend 10 -o skateboard.html
"$daedal" compare andrews -o andrews.html
cd ../..
if command -v mdbook > /dev/null; then
    mdbook build
else
    echo "mdbook is not installed: the chapters stay as they are in docs/src, the comparisons are in docs/src/comparisons" >&2
fi
