"""SIGINT and SIGTERM: stop at the next solver iteration, discard the step, keep the state before it."""
import os, signal, subprocess, tempfile, time
from talus_runs import *

bad = Failures()
# a solve that would take for ever: no tolerance is low enough
ENDLESS = ["--tolerance", "1e-300", "--max-iterations", "100000000"]


def start(*args):
    return subprocess.Popen([TALUS, "run", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def has_rows(out, count):
    try:
        return sum(1 for _ in open(f"{out}/steps.csv")) > count
    except FileNotFoundError:
        return False


with tempfile.TemporaryDirectory() as d:
    scene = write_scene(d)
    options = ["--steps", "3000", "--threads", "1"]
    short = ["--steps", "100", "--threads", "1"]
    code, said = run(scene, "--out", f"{d}/whole", *short)
    bad.check("the uninterrupted run", code == 0, said)

    for number, wanted in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        out = f"{d}/between{wanted}"
        process = start(scene, "--out", out, *options)
        bad.check("it runs", wait_for(lambda: has_rows(out, 5)))
        process.send_signal(number)
        said = process.communicate(timeout=60)[1]
        bad.check(f"exit code of {number.name}", process.returncode == wanted, (process.returncode, said))
        bad.check("says what was kept", "--resume" in said and "discarded" in said, said)
        s = summary(out)
        bad.check("a summary says so", s["outcome"] == "interrupted" and s["steps"] == len(rows(out)), s["outcome"])
        done = s["steps"]
        code, said = run(scene, "--out", out, "--steps", done + 20, "--threads", "1", "--resume")
        bad.check("it resumes", code == 0, said)
        code, said = run(scene, "--out", f"{out}.whole", "--steps", done + 20, "--threads", "1")
        found = differences(f"{out}.whole", out)
        bad.check("and ends the same", not found, found)

    # in the middle of a solve: the first 20 steps are done with the scene's tolerance, the 21st never ends
    for number, wanted in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        out = f"{d}/within{wanted}"
        code, said = run(scene, "--out", out, "--steps", "60", "--threads", "1")
        process = start(scene, "--out", out, "--steps", "100", "--threads", "2", "--resume", *ENDLESS)
        time.sleep(1.5)
        bad.check("still solving", process.poll() is None)
        begin = time.monotonic()
        process.send_signal(number)
        said = process.communicate(timeout=60)[1]
        bad.check("exit code in mid-solve", process.returncode == wanted, (process.returncode, said))
        bad.check("within the iteration", time.monotonic() - begin < 10, time.monotonic() - begin)
        bad.check("the step is discarded", summary(out)["steps"] == 60 and len(rows(out)) == 60, summary(out)["steps"])
        code, said = run(scene, "--out", out, *short, "--resume")
        bad.check("it resumes after mid-solve", code == 0, said)
        found = differences(f"{d}/whole", out)
        bad.check("and ends the same after mid-solve", not found, found)

    # a second signal does not wait for anything
    out = f"{d}/twice"
    process = start(scene, "--out", out, *options)
    wait_for(lambda: has_rows(out, 5))
    process.send_signal(signal.SIGSTOP)  # so that both arrive before the first is seen
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    bad.check("a second signal ends it at once", process.returncode in (130, 143) and not os.path.exists(f"{out}/summary.json"), process.returncode)
bad.end("signals stop a run at once, with the state kept")
