#!/usr/bin/env bash
# Makes report pages with the command and looks at them in a real browser.
# usage: [DAEDAL=command] tests/page/run.sh [folder for screenshots]
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
pictures="${1:-$root/target/page}"
mkdir -p "$pictures"
pictures="$(cd "$pictures" && pwd)"

browser="${CHROMIUM:-/usr/bin/chromium}"
missing=""
[ -x "$browser" ] || missing="chromium"
command -v npm > /dev/null || missing="$missing nodejs npm"
if [ -n "$missing" ]; then
  # shellcheck disable=SC2086
  apt-get update -q && apt-get install -y -q $missing
fi
(cd "$here" && npm ci --no-audit --no-fund)

# the files of uPlot are those of the package
for file in uPlot.iife.min.js uPlot.min.css; do
  cmp "$root/crates/run/assets/uplot/$file" "$here/node_modules/uplot/dist/$file"
done
cmp "$root/crates/run/assets/uplot/LICENSE" "$here/node_modules/uplot/LICENSE"

# and so are those of three.js
cmp "$root/crates/run/assets/three/three.module.min.js" "$here/node_modules/three/build/three.module.min.js"
cmp "$root/crates/run/assets/three/LICENSE" "$here/node_modules/three/LICENSE"

cd "$root"
# the command that DAEDAL names, else one that is built here
daedal="${DAEDAL:-}"
if [ -z "$daedal" ]; then
  cargo build -q -p daedal-cli
  daedal="$(cargo metadata --format-version 1 --no-deps | node -e '
    let text = ""; process.stdin.on("data", (part) => (text += part));
    process.stdin.on("end", () => console.log(JSON.parse(text).target_directory + "/debug/daedal"));')"
fi

pages="$(mktemp -d)"
trap 'rm -rf "$pages"' EXIT
"$daedal" solve pendulum --formulation psf+i -o "$pages/pendulum.html" > "$pages/log"
"$daedal" solve skateboard-1 -o "$pages/skateboard-1.html" -o "$pages/table.csv" -o "$pages/archive.npz" > "$pages/log"
"$daedal" solve slider-crank-redundant --method geoms --tend 0.5 -o "$pages/redundant.html" > "$pages/log"
# general systems: states, outputs with derivatives, residuals of hidden constraints, undetermined unknowns
models="$here/../../models"
"$daedal" solve "$models/pendulum-dae.toml" -o "$pages/general.html" > "$pages/log"
"$daedal" solve "$models/ring-modulator.toml" --tend 1e-5 --method bdf -o "$pages/circuit.html" > "$pages/log"
"$daedal" solve "$models/redundant-underdetermined.toml" -o "$pages/undetermined.html" > "$pages/log"
# modes: sliding with a generated mode, a variable that one mode lacks, a written sliding mode
"$daedal" solve "$models/friction-bodies.toml" -o "$pages/friction.html" > "$pages/log"
"$daedal" solve "$models/rope-cut.toml" -o "$pages/rope.html" -o "$pages/rope.npz" > "$pages/log"
"$daedal" solve "$models/mass-on-belt.toml" -o "$pages/belt.html" > "$pages/log"
"$daedal" report "$pages/rope.npz" -o "$pages/rope-again.html" > "$pages/log"
# this one must stop on the way
if "$daedal" solve slider-crank-equal-arms --method geoms --tend 2 -o "$pages/stopped.html" > "$pages/log" 2>&1; then
  echo "slider-crank-equal-arms should have stopped" && exit 1
fi
"$daedal" report "$pages/table.csv" -o "$pages/table.html" > "$pages/log"
"$daedal" report "$pages/archive.npz" -o "$pages/archive.html" > "$pages/log"
node "$here/odd.mjs" "$pages/odd.json" "$pages/large.json" "$pages/modes.json" "$pages/chattering.json"
"$daedal" report "$pages/odd.json" -o "$pages/odd.html" > "$pages/log"
for name in large modes chattering; do
  "$daedal" report "$pages/$name.json" -o "$pages/$name.html" > "$pages/log"
done

# pages of comparisons: known values, a computed reference with failures, redundant constraints
mkdir "$pages/compare"
"$daedal" compare pendulum --tolerances 1e-3..1e-6 --repeat 1 -o "$pages/compare/compare-pendulum.html" > "$pages/log"
"$daedal" compare truck --tend 1 --methods geoms,bdf --formulations psf,psf+i,ggl --tolerances 1e-3,1e-4 --repeat 1 -o "$pages/compare/compare-truck.html" > "$pages/log"
"$daedal" compare slider-crank-redundant --tend 0.2 --formulations psf,ggl --tolerances 1e-3..1e-5 --repeat 1 -o "$pages/compare/compare-redundant.html" > "$pages/log"

# pages of sweeps: one parameter, two with runs that stop, three of which one is spread by powers, with times
mkdir "$pages/sweep"
"$daedal" sweep "$models/pendulum.toml" --vary v0=1..3/15 -o "$pages/sweep/sweep-one.html" > "$pages/log"
"$daedal" sweep "$models/slider-crank.toml" --vary l2=1,1.5,2,3 --vary m2=1..4/12 --method geoms --tend 2 -o "$pages/sweep/sweep-stops.html" > "$pages/log"
"$daedal" sweep "$models/pendulum.toml" --vary L=0.5..1.5/5 --vary v0=1..3/4 --vary m=0.01,0.1,1,10,100 --save 21 -o "$pages/sweep/sweep-three.html" > "$pages/log"

# moving pictures: flat ones, in space, with modes, of a general system
mkdir "$pages/scenes"
for name in pendulum andrews-dae five-bar stephenson-six-bar chain rope-cut bouncing-ball-rest heavy-top-free rolling-disc skateboard-2; do
  "$daedal" solve "$models/$name.toml" -o "$pages/scenes/$name.html" > "$pages/log"
done
# bodies and joints: planar, spatial, with loops, rods, rolling and springs
for name in jansen-leg excavator bicycle delta-robot double-wishbone stewart-platform universal-joint-shaft; do
  "$daedal" solve "$here/../../gallery/$name.toml" -o "$pages/scenes/gallery-$name.html" > "$pages/log"
done

node "$here/bodies.mjs" "$pages/scenes/space.json" "$pages/scenes/plane.json" "$pages/scenes/many.json"
for name in space plane many; do
  "$daedal" report "$pages/scenes/$name.json" -o "$pages/scenes/$name.html" > "$pages/log"
done

# both at the same time: each waits for its browser most of the time
node "$here/compare.mjs" "$browser" "$pages/compare" "$pictures" &
comparisons=$!
node "$here/check.mjs" "$browser" "$pages" "$pictures"
node "$here/scene.mjs" "$browser" "$pages/scenes" "$pictures"
node "$here/sweep.mjs" "$browser" "$pages/sweep" "$pictures"
wait "$comparisons"
