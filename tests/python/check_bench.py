"""`talus bench`: records of the documented shape in the table and in the file; a wrong name is told apart, exit 2."""
import json, pathlib, subprocess, sys, tempfile

TALUS = sys.argv[1]
KEYS = {"bench", "bodies", "contacts", "threads", "ranks", "precision", "metric", "value", "unit", "ratio_to", "ratio", "spread"}


def run(*arguments):
    return subprocess.run([TALUS, "bench", *arguments], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "records.json"
    done = run("stream", "--json", str(file))
    assert done.returncode == 0, done.stderr
    records = json.loads(file.read_text())
    assert records, "no records"
    for record in records:
        assert set(record) == KEYS, set(record) ^ KEYS
        assert record["bench"] == "stream" and record["unit"] == "GB/s" and record["value"] > 0
    assert "triad" in done.stdout

    wrong = run("strem", "--json", str(pathlib.Path(folder) / "nothing.json"))
    assert wrong.returncode == 2, wrong.returncode
    assert "strem" in wrong.stderr and "stream" in wrong.stderr, wrong.stderr
    assert not (pathlib.Path(folder) / "nothing.json").exists()
print("bench records hold")
