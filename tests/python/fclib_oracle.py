"""FCLib files and residuals written independently of Talus: numpy, and Siconos where it is installed."""
import h5py
import numpy as np


def _matrix(group):
    m, n, nz = (int(group[k][0]) for k in ("m", "n", "nz"))
    p, i, x = (group[k][:] for k in ("p", "i", "x"))
    out = np.zeros((m, n))
    if nz >= 0:
        np.add.at(out, (i[:nz], p[:nz]), x[:nz])
    else:
        lines = np.repeat(np.arange(len(p) - 1), np.diff(p))
        rows, columns = (lines, i[: p[-1]]) if nz == -2 else (i[: p[-1]], lines)
        np.add.at(out, (rows, columns), x[: p[-1]])
    return out


class Problem:
    """u = W r + q with friction mu (and mu_r), `block` rows per contact; `solution` where the file has one."""

    def __init__(self, path):
        with h5py.File(path) as f:
            root = f[[k for k in f if k.startswith("fclib_")][0]]
            self.block = int(root["spacedim"][0])
            self.mu = root["vectors/mu"][:]
            self.mu_r = root["vectors/mu_r"][:] if "mu_r" in root["vectors"] else np.zeros_like(self.mu)
            if "W" in root:
                self.W, self.q = _matrix(root["W"]), root["vectors/q"][:]
            else:
                M, H = _matrix(root["M"]), _matrix(root["H"])
                f_, w = root["vectors/f"][:], root["vectors/w"][:]
                X = np.linalg.solve(M, np.column_stack([H, f_]))
                self.W, self.q = H.T @ X[:, :-1], H.T @ X[:, -1] + w
            self.solution = {k: f["solution"][k][:] for k in f["solution"]} if "solution" in f else {}

    def blocks(self, x):
        return x.reshape(-1, self.block)

    def parts(self, x):
        """normal, tangential and rolling parts of every contact"""
        b = self.blocks(x)
        return b[:, 0], b[:, 1:3] if self.block != 2 else b[:, 1:2], b[:, 3:5]

    def corrected(self, u):
        """u with De Saxce's term"""
        n, t, r = self.parts(u)
        out = self.blocks(u).copy()
        out[:, 0] += self.mu * np.linalg.norm(t, axis=1) + self.mu_r * np.linalg.norm(r, axis=1)
        return out.ravel()

    def project(self, x, mu=None, mu_r=None):
        """Euclidean projection on the product of cones, by bisection on the height of the foot: for one contact the
        foot at height z has parts of length min(t, mu z), and the derivative z - x_n - sum mu (t - mu z)_+ rises."""
        mu = self.mu if mu is None else mu
        mu_r = self.mu_r if mu_r is None else mu_r
        n, t, r = self.parts(x)
        T, R = np.linalg.norm(t, axis=1), np.linalg.norm(r, axis=1)
        slope = lambda z: z - n - mu * np.maximum(0, T - mu * z) - mu_r * np.maximum(0, R - mu_r * z)
        low, high = np.zeros_like(n), np.maximum(n, 0) + mu * T + mu_r * R + 1e-300
        for _ in range(200):
            middle = 0.5 * (low + high)
            up = slope(middle) < 0
            low, high = np.where(up, middle, low), np.where(up, high, middle)
        z = np.where(slope(np.zeros_like(n)) >= 0, 0.0, 0.5 * (low + high))
        return self.clipped(x, z, mu, mu_r)

    def clipped(self, x, z, mu, mu_r):
        """normal part z, the other parts cut to length mu z and mu_r z"""
        _, t, r = self.parts(x)
        factor = lambda part, limit: np.minimum(1, limit / np.maximum(np.linalg.norm(part, axis=1), 1e-300))[:, None]
        columns = [z[:, None], t * factor(t, mu * z)]
        if self.block == 5:
            columns.append(r * factor(r, mu_r * z))
        return np.hstack(columns).ravel()

    def natural(self, r, u, model):
        """|r - Pi_P(r - P u)| in the norm of 1/P over |q| in the norm of P, P = 1/diag(N) by normal, tangential and rolling means"""
        diagonal = self.blocks(np.diag(self.W))
        P = np.empty_like(diagonal)
        P[:, 0] = 1 / diagonal[:, 0]
        end = 2 if self.block == 2 else 3
        P[:, 1:end] = 1 / diagonal[:, 1:end].mean(axis=1, keepdims=True)
        if self.block == 5:
            P[:, 3:5] = 1 / diagonal[:, 3:5].mean(axis=1, keepdims=True)
        x = r - P.ravel() * u
        if model == "ncp":
            foot = self.clipped(x, np.maximum(0, self.blocks(x)[:, 0]), self.mu, self.mu_r)
        else:
            root = np.sqrt(P).ravel()
            mu_r = self.mu_r * np.sqrt(P[:, 0] / P[:, 3]) if self.block == 5 else None
            foot = root * self.project(x / root, self.mu * np.sqrt(P[:, 0] / P[:, 1]), mu_r)
        return np.sqrt(np.sum((r - foot) ** 2 / P.ravel()) / np.sum(self.q**2 * P.ravel()))

    def residuals(self, r, model):
        """The residuals of the answer r. The relaxed problem is that of N, the symmetric part of W."""
        N = 0.5 * (self.W + self.W.T)
        u = (self.W if model == "ncp" else N) @ r + self.q
        g = self.corrected(u) if model == "ncp" else u
        nc = len(self.mu)
        out = {"natural": self.natural(r, u, model)}
        natural_map = np.linalg.norm(r - self.project(r - g))
        out["natural_faf"] = natural_map / np.linalg.norm(self.q)
        out["natural_siconos"] = natural_map / max(np.linalg.norm(self.q), np.linalg.norm(r), np.linalg.norm(u))
        d = 1e-6
        out["heyn13"] = np.linalg.norm(r - self.project(r - d * g)) / d
        out["mazhar15"] = out["heyn13"] / (3 * nc) if self.block == 3 else None
        n, t, _ = self.parts(r)
        gn, gt, _ = self.parts(g)
        if self.block != 5:
            T, GT = np.linalg.norm(t, axis=1), np.linalg.norm(gt, axis=1)
            smooth = self.mu == 0
            mu = np.where(smooth, 1, self.mu)
            r_p = np.where(smooth, np.maximum(0, -n), np.maximum(0, T - self.mu * n))
            r_d = np.where(smooth, np.maximum(0, -gn), np.maximum(0, GT - gn / mu))
            out["de20"] = max(r_p.max(), r_d.max(), abs(r @ g) / nc)
        out["objective"] = 0.5 * r @ (N @ r) + self.q @ r
        out["velocity_norm"] = np.linalg.norm(u)
        return out

    def siconos_error(self, r):
        """Siconos's own error of r for the exact law, or None where Siconos is not installed or has no such cone."""
        try:
            import siconos.numerics as sn
        except ImportError:
            return None
        u = self.W @ r + self.q
        if self.block == 3:
            problem = sn.FrictionContactProblem(3, len(self.mu), np.asfortranarray(self.W), self.q, self.mu)
            options = sn.SolverOptions(sn.SICONOS_FRICTION_3D_NSGS)
            return sn.fc3d_compute_error(problem, r.copy(), u, 1e-8, options, float(np.linalg.norm(self.q)))[1]
        return None
