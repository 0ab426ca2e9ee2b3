"""Problems Talus writes are read by FCLib's own reader (libfclib) and solved by Siconos.
Usage: check_fclib_reader.py TALUS SOURCE_DIR"""
import ctypes as c
import glob
import os
import sys

try:
    import numpy as np
    import h5py  # noqa: F401
    import fclib_oracle
except ImportError as e:
    print("SKIPPED:", e)
    sys.exit(77)


class Matrix(c.Structure):
    _fields_ = [("nzmax", c.c_int), ("m", c.c_int), ("n", c.c_int), ("p", c.POINTER(c.c_int)), ("i", c.POINTER(c.c_int)),
                ("x", c.POINTER(c.c_double)), ("nz", c.c_int), ("info", c.c_void_p)]

    def dense(self):
        out = np.zeros((self.m, self.n))
        assert self.nz == -2, "Talus writes compressed rows"
        for row in range(self.m):
            for k in range(self.p[row], self.p[row + 1]):
                out[row, self.i[k]] += self.x[k]
        return out


class Info(c.Structure):
    _fields_ = [("title", c.c_char_p), ("description", c.c_char_p), ("math_info", c.c_char_p)]


class Global(c.Structure):
    _fields_ = [("M", c.POINTER(Matrix)), ("H", c.POINTER(Matrix)), ("G", c.POINTER(Matrix)), ("mu", c.POINTER(c.c_double)),
                ("f", c.POINTER(c.c_double)), ("b", c.POINTER(c.c_double)), ("w", c.POINTER(c.c_double)), ("spacedim", c.c_int),
                ("info", c.POINTER(Info))]


class Solution(c.Structure):
    _fields_ = [("v", c.POINTER(c.c_double)), ("u", c.POINTER(c.c_double)), ("r", c.POINTER(c.c_double)), ("l", c.POINTER(c.c_double))]


def array(pointer, n):
    return np.ctypeslib.as_array(pointer, (n,)).copy()


files = sorted(glob.glob(os.path.join(sys.argv[2], "tests", "problems", "*.hdf5")))
if not files:
    print("FAIL: the project ships no problems under tests/problems")
    sys.exit(1)
bad = 0
try:
    library = c.CDLL("libfclib.so.0")
except OSError:
    library = None
    print("SKIPPED in part: libfclib is not installed (Debian: libfclib-dev); its reader was not tried")
for path in files:
    name, ours = os.path.basename(path), fclib_oracle.Problem(path)
    if library:
        library.fclib_read_global.restype = c.POINTER(Global)
        library.fclib_read_solution.restype = c.POINTER(Solution)
        p = library.fclib_read_global(path.encode()).contents
        M, H = p.M.contents.dense(), p.H.contents.dense()
        n, m, nc = M.shape[0], H.shape[1], H.shape[1] // p.spacedim
        f, w, mu = array(p.f, n), array(p.w, m), array(p.mu, nc)
        X = np.linalg.solve(M, np.column_stack([H, f]))
        W, q = H.T @ X[:, :-1], H.T @ X[:, -1] + w
        s = library.fclib_read_solution(path.encode()).contents
        v, u, r = array(s.v, n), array(s.u, m), array(s.r, m)
        checks = {"spacedim": p.spacedim == 3, "friction": np.array_equal(mu, ours.mu), "W": np.allclose(W, ours.W, rtol=1e-12, atol=0),
                  "q": np.allclose(q, ours.q, rtol=1e-12, atol=1e-14 * np.abs(q).max()),
                  "M v = H r + f": np.linalg.norm(M @ v - H @ r - f) <= 1e-9 * np.linalg.norm(f),
                  "u = H' v + w": np.linalg.norm(H.T @ v + w - u) <= 1e-9 * np.linalg.norm(w) + 1e-9 * np.linalg.norm(q),
                  "title": b"Talus" in p.info.contents.title}
        for what, ok in checks.items():
            if not ok:
                bad += 1
                print(f"FAIL {name}: FCLib's reader and ours disagree on {what}")
        print(f"{name}: {nc} contacts, {n} degrees of freedom, read by libfclib")
    try:
        import siconos.numerics as sn
    except ImportError:
        print("SKIPPED in part: python3-siconos is not installed; nothing was solved by it")
        continue
    problem = sn.FrictionContactProblem(3, len(ours.mu), np.asfortranarray(ours.W), ours.q, ours.mu)
    options = sn.SolverOptions(sn.SICONOS_FRICTION_3D_NSGS)
    options.dparam[0], options.iparam[0] = 1e-5, 20000
    r, u = np.zeros(len(ours.q)), np.zeros(len(ours.q))
    info = sn.fc3d_nsgs(problem, r, u, options)
    error = ours.residuals(r, "ncp")["natural_siconos"]
    print(f"{name}: Siconos NSGS ends with {info}, error {error:.1e}")
    if not error <= 2e-5:
        bad += 1
        print(f"FAIL {name}: Siconos does not solve it")
sys.exit(bool(bad))
