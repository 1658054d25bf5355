#!/bin/sh
# Instructions of each run, in total and per accepted step, and where they go. Needs valgrind.
# usage: count.sh [NAME TOLERANCE]…
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
[ $# -gt 0 ] || set -- pendulum-long 1e-7 andrews 1e-7 skateboard-1 1e-7 wheelset 1e-6
cargo build --release --quiet --bin run
run=${CARGO_TARGET_DIR:-target}/release/run

# the 20 largest: sums, or the largest of each, over lines with the same name
top() {
    awk -v how="$1" -v total="$total" '
        { n = $1; gsub(",", "", n); n += 0; $1 = ""; if (how == "sum") most[$0] += n; else if (n > most[$0] + 0) most[$0] = n }
        END { for (name in most) printf "%12.0f %5.1f %%%s\n", most[name], 100 * most[name] / total, name }' |
        sort -rn | head -20 | cut -c1-160
}

while [ $# -gt 1 ]; do
    name=$1 tolerance=$2
    shift 2
    profile=$out/$name
    counters=$(valgrind --tool=callgrind --callgrind-out-file="$profile" "$run" "$name" "$tolerance" 2>"$out/log")
    steps=${counters%% *}
    total=$(awk '/^(summary|totals):/ { n = $2 } END { print n }' "$profile")
    printf '\n== %s %s: %s\n%s instructions, %s per accepted step\n' \
        "$name" "$tolerance" "$counters" "$total" "$((total / steps))"
    # "INSTRUCTIONS FILE:FUNCTION", one line per function and file it is made of
    for kind in no yes; do
        callgrind_annotate --auto=no --threshold=100 --inclusive=$kind "$profile" |
            sed -nE 's/^ *([0-9,]+) +\([ 0-9.]+%\) +([^:]*):(.*)$/\1 \2 \3/p' | sed -E 's/ \[[^]]*\]$//' >"$out/$kind"
    done
    echo '-- self, by function'
    cut -d' ' -f1,3- "$out/no" | top sum
    echo '-- self, by source file: inlined library code shows here'
    cut -d' ' -f1,2 "$out/no" | sed -E 's# [^ ]*/((crates|library)/)# \1#; s# [^ ]*/registry/src/[^/]*/# #' | top sum
    echo '-- inclusive'
    cut -d' ' -f1,3- "$out/yes" | grep -vE 'main$|^[0-9,]+ (std::|\(below|0x|_dl|__libc)' | top largest
done
