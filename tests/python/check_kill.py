"""SIGKILL at random moments, 30 times, also during checkpoint writes: the resumed run ends in the same state."""
import os, random, signal, subprocess, tempfile, time
from talus_runs import *

bad = Failures()
random.seed(20)
OPTIONS = ["--steps", "100", "--threads", "1", "--set", "output.checkpoints.every_steps=2", "--set", "output.checkpoints.keep=2",
           "--set", "output.frames.every_steps=5"]

with tempfile.TemporaryDirectory() as d:
    scene = write_scene(d)
    begin = time.monotonic()
    code, said = run(scene, "--out", f"{d}/whole", *OPTIONS)
    length = time.monotonic() - begin
    bad.check("the uninterrupted run", code == 0, said)

    kills = begun_again = in_write = 0
    out = None
    while kills < 30:
        if out is None:
            begun_again += 1
            out, resume = f"{d}/killed{begun_again}", []
        process = subprocess.Popen([TALUS, "run", scene, "--out", out, *OPTIONS, *resume], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if kills % 3 == 0:  # in the middle of a checkpoint, where the moment can be caught
            end = time.monotonic() + length
            while time.monotonic() < end and process.poll() is None:
                try:
                    if any(name.endswith(".part") for name in os.listdir(f"{out}/checkpoints")):
                        if random.random() < 0.1:
                            break
                except FileNotFoundError:
                    pass
        else:
            time.sleep(random.uniform(0, 0.6 * length))
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[0]
        if process.returncode == 0:  # it was done before
            found = differences(f"{d}/whole", out)
            bad.check("a run that was killed and resumed", not found, found)
            out = None
            continue
        bad.check("killed, not failed", process.returncode == -signal.SIGKILL, said)
        kills += 1
        if os.path.isdir(f"{out}/checkpoints"):
            in_write += any(name.endswith(".part") for name in os.listdir(f"{out}/checkpoints"))
        resume = ["--resume"]
    if out is not None:
        code, said = run(scene, "--out", out, *OPTIONS, "--resume")
        bad.check("the last resume", code == 0, said)
        found = differences(f"{d}/whole", out) if code == 0 else []
        bad.check("the last run", not found, found)
        bad.check("nothing half-written stays", not [n for n in os.listdir(f"{out}/checkpoints") if not n.endswith(".hdf5")])
bad.end(f"30 runs killed ({in_write} while a checkpoint was being written), all resumed to the same state")
