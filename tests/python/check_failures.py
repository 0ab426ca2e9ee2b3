"""What goes wrong in a run is told with the right exit code, and the last good state is kept."""
import os, pathlib, resource, subprocess, tempfile
from talus_runs import *

bad = Failures()
EACH_STEP = ["--set", "output.checkpoints.every_steps=1", "--set", "output.checkpoints.keep=5"]
QUICK = ["--steps", 30, "--threads", 1]


def checkpoints(out):
    return sorted(p.name for p in pathlib.Path(out, "checkpoints").glob("*.hdf5"))


def limited(size):
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))}


with tempfile.TemporaryDirectory() as d:
    scene = write_scene(d)
    code, said = run(scene, "--out", f"{d}/whole", *QUICK)
    bad.check("the undisturbed run", code == 0, said)

    # ---- disk full: in a checkpoint, in a table
    out = f"{d}/full"
    code, said = run(scene, "--out", out, "--steps", 10, "--threads", 1, *EACH_STEP)
    kept = checkpoints(out)
    size = os.path.getsize(f"{out}/checkpoints/{kept[-1]}")
    code, said = run(scene, "--out", out, *QUICK, *EACH_STEP, "--resume", **limited(size - 100))
    bad.check("a full disk: exit 1", code == 1, (code, said))
    bad.check("a full disk is said", "File too large" in said and "step 10 is kept" in said, said)
    bad.check("a full disk keeps the last good", checkpoints(out) == kept, checkpoints(out))
    bad.check("a full disk leaves no halves", not list(pathlib.Path(out, "checkpoints").glob("*.part")))
    code, said = run(scene, "--out", out, *QUICK, "--resume")
    bad.check("with room again it resumes", code == 0, said)
    found = differences(f"{d}/whole", out)
    bad.check("and ends the same", not found, found)
    code, said = run(scene, "--out", f"{d}/tiny", *QUICK, **limited(3000))
    bad.check("a disk full from the start: exit 1", code == 1 and "too large" in said, (code, said))

    # ---- damaged checkpoints: the one before is used, said aloud
    out = f"{d}/damaged"
    code, said = run(scene, "--out", out, "--steps", 10, "--threads", 1, *EACH_STEP)
    names = checkpoints(out)
    with open(f"{out}/checkpoints/{names[-1]}", "r+b") as f:
        f.truncate(2000)
    with open(f"{out}/checkpoints/{names[-2]}", "r+b") as f:
        f.seek(3000)
        f.write(b"\xff")
    code, said = run(scene, "--out", out, *QUICK, "--resume")
    bad.check("damaged ones are passed over", code == 0 and "resuming at step 8," in said, said)
    bad.check("damage is said aloud", "bytes where" in said and "checksum" in said, said)
    found = differences(f"{d}/whole", out)
    bad.check("and it ends the same", not found, found)
    for name in checkpoints(out):
        pathlib.Path(out, "checkpoints", name).write_bytes(b"TALUS CHECKPOINT 1\n" + bytes(2000))
    code, said = run(scene, "--out", out, *QUICK, "--resume")
    bad.check("all damaged: exit 2, results untouched", code == 2 and len(rows(out)) == 30, (code, said))
    code, said = run(scene, "--out", f"{d}/new", "--steps", 3, "--threads", 1, "--resume")
    bad.check("nothing to resume: from the beginning, said aloud", code == 0 and "from the beginning" in said, said)

    # ---- a changed scene
    out = f"{d}/changed"
    run(scene, "--out", out, "--steps", 5, "--threads", 1)
    code, said = run(scene, "--out", out, *QUICK, "--resume", "--set", "materials.rock.friction=0.4")
    bad.check("a changed scene is refused with its key", code == 2 and "materials.rock.friction" in said and "0.5" in said, (code, said))
    code, said = run(scene, "--out", out, *QUICK, "--resume", "--tolerance", "1e-4")
    bad.check("what may change is taken and told", code == 0 and "solver.tolerance" in said, (code, said))
    code, said = run(scene, "--out", out, "--steps", 2, "--resume")
    bad.check("an end before the checkpoint: exit 2", code == 2, (code, said))

    # ---- two runs into one directory
    first = subprocess.Popen([TALUS, "run", scene, "--out", f"{d}/shared", "--steps", "100000", "--threads", "1", "--quiet"])
    while not os.path.exists(f"{d}/shared/steps.csv"):
        pass
    code, said = run(scene, "--out", f"{d}/shared", "--steps", 2)
    bad.check("a second run into the same directory: exit 2", code == 2 and "another run" in said, (code, said))
    first.kill()
    first.wait()

    # ---- not converged
    few = ["--max-iterations", 2]
    out = f"{d}/warn"
    code, said = run(scene, "--out", out, "--steps", 60, "--threads", 1, *few)
    s = summary(out)
    status = [r["status"] for r in rows(out)]
    bad.check("warn: goes on, says it, counts it", code == 0 and "did not converge" in said and "UNCONVERGED" in said, (code, said))
    bad.check("warn: count in the summary and per step", s["unconverged_steps"] == sum(x != "converged" for x in status) > 0, s["unconverged_steps"])
    out = f"{d}/stop"
    code, said = run(scene, "--out", out, "--steps", 60, "--threads", 1, *few, "--set", 'solver.on_unconverged="stop"')
    first_bad = next(k for k, x in enumerate(status) if x != "converged")
    bad.check("stop: exit 3 at the first", code == 3 and f"step {first_bad + 1} did not converge" in said, (code, said))
    bad.check("stop: the state before is kept", checkpoints(out) == [f"step_{first_bad:012}.hdf5"] and len(rows(out)) == first_bad, checkpoints(out))
    out = f"{d}/retry"
    code, said = run(scene, "--out", out, "--steps", 60, "--threads", 1, *few, "--set", 'solver.on_unconverged="retry"')
    bad.check("retry that fails: exit 3", code == 3 and "not even with a step" in said, (code, said))
    # a limit that whole steps meet now and then, and half steps do not
    out = f"{d}/halved"
    most = max(int(r["iterations"]) for r in rows(f"{d}/whole"))
    for limit in (int(0.9 * most), int(0.8 * most), int(0.7 * most), int(0.6 * most), int(0.5 * most)):
        code, said = run(scene, "--out", out, *QUICK, "--max-iterations", limit, "--set", 'solver.on_unconverged="retry"')
        if code == 0 and summary(out)["retried_steps"] > 0:
            break
    r = rows(out)
    bad.check("retry that helps", code == 0 and summary(out)["retried_steps"] == sum(int(x["pieces"]) > 1 for x in r) > 0, (code, said))
    bad.check("retry: all converged, on the grid, h as before",
              all(x["status"] == "converged" and abs(float(x["time_s"]) - 1e-3 * int(x["step"])) < 1e-12 and abs(float(x["step_s"]) - 1e-3) < 1e-15 for x in r), r[-1])

    # ---- guards
    escape = SMALL.replace("velocity = [0, 0, -1]", "velocity = [0, 0, 5]")
    cases = {"escape": (escape + "[guards]\nmin = [-1, -1, -1]\nmax = [1, 1, 0.3]\n", "left the box"),
             "penetration": (SMALL + "[guards]\npenetration = 1e-7\n", "overlap by"),
             "energy": (SMALL.replace('velocity = ["0.3*cos(20*t)", 0, 0]', 'velocity = ["0.3*cos(20*t)", 0, 0]')
                        .replace('position = [0.02, 0.01, 0.02]', 'position = [0.02, 0.01, 0.6]\nangular_velocity = [300, 2000, 10]')
                        + "[guards]\nenergy = 1e-3\n", "from nothing")}
    for name, (text, words) in cases.items():
        out = f"{d}/{name}"
        code, said = run(write_scene(d, text, f"{name}.toml"), "--out", out, "--steps", 100, "--threads", 1)
        bad.check(f"guard {name}: exit 4 with the step and bodies", code == 4 and words in said and "step " in said and "bod" in said, (code, said))
        if code == 4:
            steps = len(rows(out))
            bad.check(f"guard {name}: the state before is kept", checkpoints(out)[-1] == f"step_{steps:012}.hdf5" and summary(out)["outcome"] == "guard", checkpoints(out))

    # ---- usage
    for args in ([], ["--no-such"], [scene, "--steps", "-1"], [scene, "--steps", "1", "--until", "1"], [scene, "--threads", "0"],
                 [scene, "--set", "solver.tolerence=1"], [f"{d}/missing.toml"], [scene, "--solver", "nonsense"]):
        code, said = run(*args, "--out", f"{d}/usage")
        bad.check(f"usage {args}: exit 2, nothing written", code == 2 and not os.path.exists(f"{d}/usage"), (code, said))
    for path, words in ((f"{d}/whole", "finished"), (f"{d}/whole/steps.csv", "rows"), (scene, "bodies"),
                        (f"{d}/whole/frames/bodies_000000.vtp", "points"), (f"{d}/whole/frames/bodies.pvd", "frames"),
                        (f"{d}/whole/checkpoints/{checkpoints(d + '/whole')[-1]}", "checkpoint, whole")):
        done = subprocess.run([TALUS, "info", path], capture_output=True, text=True)
        bad.check(f"info {os.path.basename(path)}", done.returncode == 0 and words in done.stdout, done.stdout + done.stderr)
    damaged = pathlib.Path(d, "damaged.hdf5")
    damaged.write_bytes(pathlib.Path(d, "whole", "checkpoints", checkpoints(d + "/whole")[-1]).read_bytes()[:5000])
    done = subprocess.run([TALUS, "info", damaged], capture_output=True, text=True)
    bad.check("info of a damaged checkpoint: exit 2", done.returncode == 2 and "bytes where" in done.stderr, done.stdout + done.stderr)
bad.end("failures are told, and the last good state is kept")
