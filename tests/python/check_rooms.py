"""The house plan: a room includes only rooms of a lower level; `#pragma omp` and mpi.h stay where docs/design.md puts them."""
import pathlib, re, sys

ROOT = pathlib.Path(sys.argv[2]) / "src" / "talus"
LEVEL = {"base": 0, "math": 1, "algebra": 2, "shapes": 2, "bodies": 2, "linear": 3, "collision": 3, "domain": 3,
         "problem": 4, "solvers": 5, "interior": 5, "sim": 6, "io": 7, "app": 8, "python": 8, "viewer": 8}
OMP_ALLOWED = {"base/team.hpp"}
MPI_ALLOWED = re.compile(r"^(domain/.*|io/parallel_hdf5\.cpp|linear/distributed_.*)$")


def complaints():
    for path in sorted(ROOT.rglob("*.[ch]pp")):
        name = path.relative_to(ROOT).as_posix()
        room = name.split("/")[0]
        if room not in LEVEL:
            yield f"{name}: '{room}' is no room of the house plan"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"src/talus/{name}:{number}"
            include = re.match(r'\s*#\s*include\s*"talus/(\w+)/', line)
            if include:
                other = include.group(1)
                if other not in LEVEL:
                    yield f"{where}: includes unknown room '{other}'"
                elif other != room and LEVEL[other] >= LEVEL[room]:
                    yield f"{where}: {room} (level {LEVEL[room]}) includes {other} (level {LEVEL[other]})"
            if re.match(r"\s*#\s*pragma\s+omp", line) and name not in OMP_ALLOWED:
                yield f"{where}: #pragma omp outside base"
            if re.match(r"\s*#\s*include\s*[<\"](mpi\.h|mpi/)", line) and not MPI_ALLOWED.match(name):
                yield f"{where}: mpi.h outside domain"
            if room in ("solvers", "interior") and re.search(r"\b(omp_|MPI_|num_threads|\.rank\(\))", line):
                yield f"{where}: a solver text mentions threads or ranks"


found = list(complaints())
print("\n".join(found) or "include rule holds")
sys.exit(1 if found else 0)
