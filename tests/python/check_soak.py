"""20 000 steps of a small scene without growth of memory."""
import os, subprocess, sys, tempfile, time
from talus_runs import *

with open(TALUS, "rb") as binary:
    text = binary.read()
    if b"__asan_init" in text or b"__tsan_init" in text:
        print("a sanitizer keeps freed memory on purpose: growth is not looked at")
        sys.exit(77)

STEPS = 20000
bad = Failures()
SCENE = SMALL.replace("count = 60", "count = 12").replace("every = 0.01", "every_steps = 500") \
    + "[output.checkpoints]\nevery_steps = 1000\n"


def resident_kb(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


with tempfile.TemporaryDirectory() as d:
    out = f"{d}/out"
    process = subprocess.Popen([TALUS, "run", write_scene(d, SCENE), "--out", out, "--steps", str(STEPS), "--threads", "1", "--quiet"])
    seen = []  # (steps done, kB)
    while process.poll() is None:
        time.sleep(0.005)  # the whole run may take only a second
        try:
            newest = max((int(n.split("_")[1].split(".")[0]) for n in os.listdir(f"{out}/checkpoints") if n.endswith(".hdf5")), default=0)
            seen.append((newest, resident_kb(process.pid)))
        except (FileNotFoundError, StopIteration, ProcessLookupError):
            pass
    bad.check("it ends well", process.returncode == 0, process.returncode)
    early = [kb for step, kb in seen if 2000 <= step < 6000]
    late = [kb for step, kb in seen if step >= STEPS - 4000]
    bad.check("memory was seen early and late", early and late, len(seen))
    if early and late:
        # frames' times grow by 8 bytes each; the rest must not grow at all (0.5 MB: pages of the allocator)
        bad.check("memory does not grow", min(late) <= max(early) + 512, (max(early), min(late)))
        print(f"resident {max(early)} kB after 2000-6000 steps, {min(late)} to {max(late)} kB at the end")
bad.end("20 000 steps without growth")
