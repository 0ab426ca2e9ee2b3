#!/usr/bin/env python3
"""What Siconos reaches on the FCLib collection with exact Coulomb friction: bench/results/siconos.csv.

    tools/siconos_best.py [--collection DIR] [--seconds S]

Each solver runs in a process of its own with a limit of CPU time; the errors (Siconos and FAF norm) are computed here, from
the reaction it returns. Needs python3-siconos and python3-scipy. Three-dimensional contacts only."""
import argparse
import csv
import glob
import multiprocessing as mp
import os
import time

import h5py
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def matrix(g):
    m, n, nz = (int(g[k][0]) for k in ("m", "n", "nz"))
    p, i, x = (g[k][:] for k in ("p", "i", "x"))
    if nz >= 0:
        return sp.coo_matrix((x[:nz], (i[:nz], p[:nz])), shape=(m, n)).tocsc()
    return (sp.csr_matrix if nz == -2 else sp.csc_matrix)((x[: p[-1]], i[: p[-1]], p), shape=(m, n)).tocsc()


def load(path):
    with h5py.File(path) as f:
        g = f[[k for k in f if k.startswith("fclib_")][0]]
        if int(g["spacedim"][0]) != 3:
            return None
        mu = g["vectors/mu"][:]
        if "W" in g:
            return matrix(g["W"]).tocsr(), g["vectors/q"][:], mu
        M, H = matrix(g["M"]), matrix(g["H"])
        solve = spl.splu(M)
        inverse = sp.block_diag([np.linalg.inv(M[k:k + 6, k:k + 6].toarray()) for k in range(0, M.shape[0], 6)]) if rigid(M) else sp.csc_matrix(solve.solve(np.eye(M.shape[0])))
        return (H.T @ inverse @ H).tocsr(), H.T @ solve.solve(g["vectors/f"][:]) + g["vectors/w"][:], mu


def rigid(M):
    c = M.tocoo()
    return M.shape[0] % 6 == 0 and bool(np.all(c.row // 6 == c.col // 6))


def errors(W, q, mu, r):
    u = W @ r + q
    g = u.reshape(-1, 3).copy()
    g[:, 0] += mu * np.linalg.norm(g[:, 1:], axis=1)
    x = r.reshape(-1, 3) - g
    n, t = x[:, 0], np.linalg.norm(x[:, 1:], axis=1)
    z = np.maximum(0, np.where(t <= mu * n, n, (n + mu * t) / (1 + mu * mu)))
    foot = np.column_stack([z, x[:, 1:] * np.minimum(1, mu * z / np.maximum(t, 1e-300))[:, None]])
    d = np.linalg.norm(r - foot.ravel())
    return d / max(np.linalg.norm(q), np.linalg.norm(r), np.linalg.norm(u)), d / np.linalg.norm(q)


def run(path, name, seconds, pipe):
    import siconos.numerics as sn
    W, q, mu = load(path)
    calls = {"nsgs": (sn.SICONOS_FRICTION_3D_NSGS, sn.fc3d_nsgs), "prox": (sn.SICONOS_FRICTION_3D_PROX, sn.fc3d_proximal),
             "admm": (sn.SICONOS_FRICTION_3D_ADMM, sn.fc3d_admm), "nsn_ac": (sn.SICONOS_FRICTION_3D_NSN_AC, sn.fc3d_nonsmooth_Newton_AlartCurnier)}
    kind, call = calls[name]
    dense = W.shape[0] <= 2500
    problem = sn.FrictionContactProblem(3, len(mu), np.asfortranarray(W.toarray()) if dense else W, q, mu)
    r, u, best = np.zeros(len(q)), np.zeros(len(q)), (float("inf"), float("inf"))
    end = time.process_time() + seconds
    # bursts, each from where the last one ended, so that a limit of time still leaves the best so far
    iterations = 10
    while time.process_time() < end:
        options = sn.SolverOptions(kind)
        options.dparam[0], options.iparam[0] = 1e-12, iterations
        call(problem, r, u, options)
        e = errors(W, q, mu, r)
        if not np.all(np.isfinite(r)):
            break
        best = (min(best[0], e[0]), min(best[1], e[1]))
        pipe.send(best)
        if best[1] < 1e-9:
            break
        iterations = min(2 * iterations, 20000)


if __name__ == "__main__":
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--collection", default=os.path.join(ROOT, "..", "shared", "fclib"))
    a.add_argument("--seconds", type=float, default=5)
    a.add_argument("--out", default=os.path.join(ROOT, "bench", "results", "siconos.csv"))
    args = a.parse_args()
    rows = []
    for path in sorted(glob.glob(os.path.join(args.collection, "*.hdf5"))):
        if load(path) is None:
            continue
        for name in ("nsgs", "prox", "admm", "nsn_ac"):
            receive, send = mp.Pipe(False)
            p = mp.Process(target=run, args=(path, name, args.seconds, send))
            p.start()
            p.join(10 * args.seconds + 30)  # the limit itself is on CPU time; a burst may overrun it
            if p.is_alive():
                p.terminate()
                p.join()
            best = ("", "")
            while receive.poll():
                best = receive.recv()
            rows.append([os.path.basename(path)[:-5], name, *(f"{e:.2e}" if e != "" else "" for e in best)])
            print(*rows[-1], flush=True)
    with open(args.out, "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["problem", "solver", "natural_siconos", "natural_faf"])
        w.writerows(rows)
