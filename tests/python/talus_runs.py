"""What the checks of `talus run` share: a small scene with everything that moves, and ways to run and compare."""
import csv, json, os, pathlib, subprocess, sys, tempfile

TALUS = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2]).resolve()

# Spheres, a box and a cylinder fall into an open bin with a moving paddle: every kind of state there is.
SMALL = """
title = "a bit of everything"
[simulation]
step = 1e-3
duration = 0.1
[materials.rock]
density = 2500
friction = 0.5
[[containers]]
name = "bin"
shape = "box"
min = [-0.1, -0.1, 0]
max = [0.1, 0.1, 0.4]
open = ["top"]
material = "rock"
[[bodies]]
name = "crate"
shape = "box"
size = [0.04, 0.05, 0.03]
position = [0.02, 0.01, 0.02]
material = "rock"
[[bodies]]
name = "paddle"
shape = "box"
size = [0.02, 0.02, 0.1]
position = [-0.08, 0, 0.08]
material = "rock"
motion = { velocity = ["0.3*cos(20*t)", 0, 0] }
[[fills]]
name = "grains"
arrangement = "jittered"
min = [-0.05, -0.09, 0.05]
max = [0.09, 0.09, 0.2]
count = 60
radius = { uniform = [0.006, 0.009] }
material = "rock"
velocity = [0, 0, -1]
[output.frames]
every = 0.01
"""


class Failures:
    """Collects what does not hold; `end()` prints and exits."""

    def __init__(self):
        self.count = 0

    def check(self, what, holds, detail=""):
        if not holds:
            self.count += 1
            print(f"FAIL  {what}  {str(detail)[:2000]}")

    def end(self, said):
        print(said if not self.count else f"{self.count} checks fail")
        sys.exit(1 if self.count else 0)


def write_scene(directory, text=SMALL, name="scene.toml"):
    path = pathlib.Path(directory) / name
    path.write_text(text)
    return str(path)


def run(*args, timeout=300, **more):
    done = subprocess.run([TALUS, "run", *map(str, args)], capture_output=True, text=True, timeout=timeout, **more)
    return done.returncode, done.stdout + done.stderr


def summary(out):
    return json.loads((pathlib.Path(out) / "summary.json").read_text())


def state(out):
    return summary(out)["state_hash"]


def rows(out, table="steps.csv"):
    """Rows without the columns that tell times of the machine."""
    clock = {"detect_s", "build_s", "solve_s", "integrate_s", "exchange_s", "output_s"}
    with open(pathlib.Path(out) / table, newline="") as f:
        return [{k: v for k, v in row.items() if k not in clock} for row in csv.DictReader(f)]


def frames(out):
    return {p.name: p.read_bytes() for p in sorted((pathlib.Path(out) / "frames").iterdir())}


def differences(a, b):
    """What differs between two result directories, apart from times of the machine."""
    found = []
    if state(a) != state(b):
        found.append(f"state {state(a)} / {state(b)}")
    for table in ("steps.csv", "forces.csv"):
        if rows(a, table) != rows(b, table):
            found.append(f"{table}: {len(rows(a, table))} / {len(rows(b, table))} rows")
    if frames(a) != frames(b):
        found.append(f"frames {sorted(frames(a))} / {sorted(frames(b))}")
    skip = {"wall_s", "cpu_s", "phase_s", "peak_rss_bytes", "options", "threads"}
    for key, value in summary(a).items():
        if key not in skip and summary(b).get(key) != value:
            found.append(f"summary {key}: {value} / {summary(b).get(key)}")
    return found
