"""A resumed run is the uninterrupted one, bit for bit: state, tables, frames, summary; at any step, for every scene
that is shipped. And output, on or off, changes nothing."""
import os, pathlib, shutil, tempfile
from talus_runs import *

bad = Failures()
EACH_STEP = ["--set", "output.checkpoints.every_steps=1", "--set", "output.checkpoints.keep=1000"]


def resumed(scene, whole, out, step, *options):
    """A copy of the results as if the run had been killed after `step`, some rows and frames later, then resumed."""
    shutil.copytree(whole, out)
    os.remove(f"{out}/summary.json")
    for path in pathlib.Path(out, "checkpoints").iterdir():
        if int(path.stem.split("_")[1]) > step:
            path.unlink()
    return run(scene, "--out", out, "--resume", *options)


def compare(scene, steps, at, *options, output=EACH_STEP):
    with tempfile.TemporaryDirectory() as d:
        whole, again = f"{d}/whole", f"{d}/again"
        options = ["--steps", steps, "--threads", 1, *output, *options]
        code, said = run(scene, "--out", whole, *options)
        bad.check(f"{scene} runs", code == 0, said)
        for k in at:
            code, said = resumed(scene, whole, again, k, *options)
            bad.check(f"{scene} resumes at {k}", code == 0 and (f"resuming at step {k}," if k else "from the beginning") in said, said)
            found = differences(whole, again) if code == 0 else []
            bad.check(f"{scene} resumed at {k} is the same", not found, found)
            shutil.rmtree(again)


with tempfile.TemporaryDirectory() as d:
    scene = write_scene(d)
    compare(scene, 70, range(0, 71, 7))
    compare(scene, 70, (1, 64, 65), "--set", 'solver.model="lagged"')  # the term of the last step is state too
    # an unconverged step that is retried with shorter steps leaves the same traces
    compare(scene, 40, (29, 30), "--set", 'solver.on_unconverged="retry"', "--max-iterations", 300)

    outs = {}
    for name, options in {"all": [], "none": ["--set", "output.frames.every=0", "--set", "output.checkpoints.every_minutes=0"],
                          "much": ["--set", "output.frames.every_steps=1", *EACH_STEP]}.items():
        code, said = run(scene, "--out", f"{d}/{name}", "--steps", 80, "--threads", 1 + (name == "much"), "--quiet", *options)
        bad.check(f"output {name}", code == 0, said)
        outs[name] = state(f"{d}/{name}")
    bad.check("output changes nothing, nor do threads", len(set(outs.values())) == 1, outs)

    # the same results when the end is put off
    run(scene, "--out", f"{d}/far", "--steps", 90, "--threads", 1)
    run(scene, "--out", f"{d}/near", "--steps", 40, "--threads", 1)
    code, said = run(scene, "--out", f"{d}/near", "--steps", 90, "--threads", 1, "--resume")
    found = differences(f"{d}/far", f"{d}/near") if code == 0 else said
    bad.check("a run that is made longer", not found, found)

for scene in sorted((ROOT / "scenes").glob("*.toml")):
    compare(str(scene), 30, (10, 20), "--max-iterations", 100, output=["--set", "output.checkpoints.every_steps=10"])
bad.end("resumed runs are the uninterrupted ones, bit for bit")
