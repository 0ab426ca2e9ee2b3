#!/usr/bin/env bash
# Makes tests/problems/*.hdf5 anew: small steps of shipped scenes, written by output.problems.
set -eu
cd "$(dirname "$0")/.."
talus=${1:-build/release/talus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() {  # name scene step [settings...]
  local name=$1 scene=$2 number=$3
  shift 3
  "$talus" run "$scene" --out "$work/$name" --steps "$number" --quiet --set output.problems="$number" --set output.frames.every=0 "$@"
  cp "$work/$name/problems/problem_$(printf %07d "$number").hdf5" "tests/problems/$name.hdf5"
}
mkdir -p tests/problems
step stack scenes/stack.toml 4                                                                          # boxes, hyperstatic, mass ratio 100
step incline scenes/incline.toml 3                                                                      # one brick sliding
step ball scenes/ball.toml 2                                                                            # one contact
step bed scenes/sedimentation.toml 400 --set fills.beads.count=60 --set containers.box.size='[0.08, 0.08, 0.5]'  # spheres coming to rest
step slab scenes/slab.toml 420 --set fills.bed.count=40 --set containers.container.max='[1.2, 1.2, 30]' \
  --set fills.bed.max='[1.2, 1.2, 3]' --set bodies.slab.size='[1.16, 1.16, 0.5]' --set bodies.slab.position='[0.6, 0.6, 3.4]'  # mass ratio 1000
ls -l tests/problems
