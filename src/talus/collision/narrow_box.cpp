// Box against box, and against the plates of a hollow box.
//
// The separating axes (three faces of each, nine pairs of edges) give the direction in which the boxes are
// farthest apart or overlap least. A face axis clips the other box's nearest face to the prism over it: up to
// eight points. An edge axis gives one. Where the boxes are apart and neither applies (corner to corner,
// corner to edge) the nearest points are found by trying them all.
//
// Faces are preferred over edges, and the first box's over the second's, by `slack` (a small part of the
// smaller box), and clipping is generous by as much: boxes exactly in line keep their contacts from step to
// step.
#include <algorithm>
#include <cmath>
#include <limits>

#include "talus/collision/narrow_phase.hpp"

namespace talus {
namespace {

/// A box with its centre relative to the first box's, so that nothing is lost far from the origin.
struct Box {
  Vec3 centre;
  Mat33 axes;  ///< columns: unit vectors along the edges
  Vec3 half;

  Vec3 corner(int c) const {
    return centre + axes * Vec3(c & 1 ? half.x() : -half.x(), c & 2 ? half.y() : -half.y(),
                                c & 4 ? half.z() : -half.z());
  }
  /// The corner farthest along a direction.
  int support(const Vec3& direction) const {
    const Vec3 d = axes.transpose() * direction;
    return (d.x() > 0) | (d.y() > 0) << 1 | (d.z() > 0) << 2;
  }
  /// The point of the box nearest to p.
  Vec3 nearest(const Vec3& p) const {
    return centre + axes * (axes.transpose() * (p - centre)).cwiseMax(-half).cwiseMin(half);
  }
};

/// Edges are numbered by their direction and the two signs that fix them: 4·axis + 2·(second sign) + first
/// sign.
int edge_id(int axis, int corner) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  return 4 * axis + 2 * (corner >> v & 1) + (corner >> u & 1);
}
int edge_corner(int edge) {  // the end with the negative coordinate along the edge
  const int axis = edge / 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
  return (edge & 1) << u | (edge >> 1 & 1) << v;
}

// Features: 0-1023 clipped points, then edge pairs, nearest points, deepest corners.
constexpr std::uint32_t edge_pair_feature = 1u << 10, nearest_feature = 2u << 10, deepest_feature = 3u << 10;

struct SegmentPair {
  Vec3 p, q;  ///< nearest points
  Real s, t;  ///< where on the lines, −1…1 within the segments; before clamping
};

/// Nearest points of the segments centre ± half·direction, which must not be parallel.
SegmentPair nearest_on_segments(const Vec3& ca, const Vec3& da, const Vec3& cb, const Vec3& db) {
  const Vec3 r = ca - cb;
  const Real a = da.squaredNorm(), b = da.dot(db), c = db.squaredNorm(), d = da.dot(r), e = db.dot(r);
  const Real det = a * c - b * b;
  SegmentPair out;
  if (!(det > 1e-12 * a * c)) {  // parallel, or a segment without length: any of the nearest will do
    out.s = 0;
    out.t = c > 0 ? e / c : 0;
  } else {
    out.s = (b * e - c * d) / det;
    out.t = (a * e - b * d) / det;
  }
  Real s = std::clamp(out.s, -1.0, 1.0);
  const Real t = c > 0 ? std::clamp((b * s + e) / c, -1.0, 1.0) : 0.0;
  s = a > 0 ? std::clamp((b * t - d) / a, -1.0, 1.0) : 0.0;
  out.p = ca + s * da;
  out.q = cb + t * db;
  return out;
}

/// A point of the polygon that is clipped: coordinates over the reference face, height above it.
struct ClipPoint {
  Vec3 uvw;
  int id;  ///< 0-7 a corner of the incident box, 8-55 one of its edges on a side of the reference face, 56-59
           ///< a corner of that
  int edge;  ///< the edge that leaves this point: 0-11 of the incident box, 12-15 a side of the reference
             ///< face
};

struct Polygon {
  int size = 0;
  ClipPoint points[12];
};

int crossing_id(int edge, int side) {
  if (edge < 12) return 8 + 4 * edge + side;
  // two sides of the reference face meet: its corner, by the signs along u and v
  const int other = edge - 12, on_u = side < 2 ? side : other, on_v = side < 2 ? other : side;
  return 56 + (on_u & 1) + 2 * (on_v & 1);
}

/// Keeps what lies within ±bound along u (sides 0, 1) or v (sides 2, 3): one round of Sutherland and Hodgman.
void clip(const Polygon& in, int side, Real bound, Polygon& out) {
  const int axis = side / 2;
  const Real sign = side % 2 ? 1 : -1;
  out.size = 0;
  for (int i = 0; i < in.size; ++i) {
    const ClipPoint &p = in.points[i], &q = in.points[(i + 1) % in.size];
    const Real dp = sign * p.uvw[axis] - bound, dq = sign * q.uvw[axis] - bound;
    if (dp <= 0) out.points[out.size++] = p;
    if ((dp <= 0) != (dq <= 0)) {
      const Vec3 at = p.uvw + (q.uvw - p.uvw) * (dp / (dp - dq));
      // leaving, the polygon goes on along the side; entering, along the edge it came from
      out.points[out.size++] = {at, crossing_id(p.edge, side), dp <= 0 ? 12 + side : p.edge};
    }
  }
}

/// Contacts of the face of `ref` along its `axis` with the nearest face of `other`. `second`: ref is the
/// second box.
void face_contacts(const Box& ref, const Box& other, int axis, bool second, Real reach, Real slack,
                   const Vec3& origin, Manifold& out) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  const bool positive = ref.axes.col(axis).dot(other.centre - ref.centre) >= 0;
  const Vec3 n = positive ? Vec3(ref.axes.col(axis)) : Vec3(-ref.axes.col(axis));
  Mat33 frame;
  frame << ref.axes.col(u), ref.axes.col(v), n;
  const Vec3 face_centre = ref.centre + ref.half[axis] * n;

  // the face of the other box that looks most against n, its corners in cyclic order
  int k;
  const Vec3 along = other.axes.transpose() * n;
  along.cwiseAbs().maxCoeff(&k);
  const int ku = (k + 1) % 3, kv = (k + 2) % 3, base = (along[k] < 0) << k;
  const int ring[4] = {base, base | 1 << ku, base | 1 << ku | 1 << kv, base | 1 << kv};
  Polygon polygon, clipped;
  for (int i = 0; i < 4; ++i)
    polygon.points[polygon.size++] = {frame.transpose() * (other.corner(ring[i]) - face_centre), ring[i],
                                      edge_id(i % 2 ? kv : ku, ring[i])};
  clip(polygon, 0, ref.half[u] + slack, clipped);
  clip(clipped, 1, ref.half[u] + slack, polygon);
  clip(polygon, 2, ref.half[v] + slack, clipped);
  clip(clipped, 3, ref.half[v] + slack, polygon);

  const std::uint32_t face = (second ? 8 : 0) + 2 * axis + positive;
  for (int i = 0; i < polygon.size; ++i) {
    const ClipPoint& p = polygon.points[i];
    const Real gap = p.uvw.z();
    if (!(gap < reach)) continue;
    const Vec3 mid = face_centre + frame * Vec3(p.uvw.x(), p.uvw.y(), 0.5 * gap);
    out.add(second ? Vec3(-n) : n, origin + mid, gap, face << 6 | static_cast<std::uint32_t>(p.id));
  }
}

/// The nearest points of two boxes that are apart, by trying corners against boxes and edges against edges.
void nearest_contact(const Box& a, const Box& b, Real reach, Real slack, const Vec3& origin, Manifold& out) {
  Real best = std::numeric_limits<Real>::infinity();
  Vec3 p = Vec3::Zero(), q = p;
  std::uint32_t feature = 0;
  const auto consider = [&](const Vec3& on_a, const Vec3& on_b, Real handicap, std::uint32_t id) {
    const Real d = (on_b - on_a).norm();
    if (d + handicap < best) best = d + handicap, p = on_a, q = on_b, feature = id;
  };
  for (int c = 0; c < 8; ++c) {
    const Vec3 corner_b = b.corner(c), corner_a = a.corner(c);
    consider(a.nearest(corner_b), corner_b, 0, c);
    consider(corner_a, b.nearest(corner_a), 0, 8 + c);
  }
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) {
      const int ai = i / 4, bj = j / 4;
      const Vec3 da = a.half[ai] * a.axes.col(ai), db = b.half[bj] * b.axes.col(bj);
      const SegmentPair s =
          nearest_on_segments(a.corner(edge_corner(i)) + da, da, b.corner(edge_corner(j)) + db, db);
      consider(s.p, s.q, 1e-3 * slack, 16 + 12 * i + j);
    }
  const Real gap = (q - p).norm();
  if (!(gap < reach) || !(gap > 0)) return;
  out.add((q - p) / gap, origin + 0.5 * (p + q), gap, nearest_feature | feature);
}

struct Axis {
  Real separation = -std::numeric_limits<Real>::infinity();
  int i = 0, j = 0;
};

void box_box_reach(const Solid& first, const Solid& second, Real reach, Manifold& out) {
  const Vec3& origin = first.position;
  const Box a{Vec3::Zero(), first.orientation.toRotationMatrix(), first.shape.half};
  const Box b{second.position - origin, second.orientation.toRotationMatrix(), second.shape.half};
  const Mat33 R = a.axes.transpose() * b.axes, Q = R.cwiseAbs();
  const Vec3 t = a.axes.transpose() * b.centre, tb = b.axes.transpose() * b.centre;

  Axis face_a, face_b, edges;
  const Vec3 extent_b = Q * b.half, extent_a = Q.transpose() * a.half;
  for (int i = 0; i < 3; ++i) {
    const Real sa = std::abs(t[i]) - a.half[i] - extent_b[i], sb = std::abs(tb[i]) - b.half[i] - extent_a[i];
    if (sa >= reach || sb >= reach) return;
    if (sa > face_a.separation) face_a = {sa, i, 0};
    if (sb > face_b.separation) face_b = {sb, i, 0};
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const Real length2 = 1 - R(i, j) * R(i, j);
      if (length2 < 1e-6) continue;  // parallel edges: a face axis does as well
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      const Real along = std::abs(t[i2] * R(i1, j) - t[i1] * R(i2, j));
      const Real ra = a.half[i1] * Q(i2, j) + a.half[i2] * Q(i1, j),
                 rb = b.half[j1] * Q(i, j2) + b.half[j2] * Q(i, j1);
      const Real s = (along - ra - rb) / std::sqrt(length2);
      if (s >= reach) return;
      if (s > edges.separation) edges = {s, i, j};
    }

  // slack: a small part of the smaller box; a plate without thickness does not count
  Real smallest = std::numeric_limits<Real>::infinity();
  for (const Box* box : {&a, &b})
    for (int i = 0; i < 3; ++i)
      if (box->half[i] > 0) smallest = std::min(smallest, box->half[i]);
  const Real slack = 1e-3 * smallest;

  const bool use_b = face_b.separation > face_a.separation + slack;
  const Real face_separation = use_b ? face_b.separation : face_a.separation;
  if (edges.separation > face_separation + slack) {
    Vec3 n = a.axes.col(edges.i).cross(b.axes.col(edges.j)).normalized();
    if (n.dot(b.centre) < 0) n = -n;
    const int edge_a = edge_id(edges.i, a.support(n)), edge_b = edge_id(edges.j, b.support(-n));
    const Vec3 da = a.half[edges.i] * a.axes.col(edges.i), db = b.half[edges.j] * b.axes.col(edges.j);
    const SegmentPair s =
        nearest_on_segments(a.corner(edge_corner(edge_a)) + da, da, b.corner(edge_corner(edge_b)) + db, db);
    if (edges.separation > 0 && (std::abs(s.s) > 1 || std::abs(s.t) > 1))
      return nearest_contact(a, b, reach, slack, origin, out);
    out.add(n, origin + 0.5 * (s.p + s.q), n.dot(s.q - s.p), edge_pair_feature | edge_a << 4 | edge_b);
    return;
  }
  const int before = out.size();
  if (use_b)
    face_contacts(b, a, face_b.i, true, reach, slack, origin, out);
  else
    face_contacts(a, b, face_a.i, false, reach, slack, origin, out);
  Real least = std::numeric_limits<Real>::infinity();
  for (int i = before; i < out.size(); ++i) least = std::min(least, out[i].gap);
  if (least <= face_separation + slack) return;
  // the nearest corner is not over the face: apart, the nearest points are elsewhere
  if (std::max(face_separation, edges.separation) > 0)
    return nearest_contact(a, b, std::min(reach, least), slack, origin, out);
  if (least < 0) return;
  // overlapping, but the nearest face misses the prism: the deepest corner speaks for the pair
  const Box &ref = use_b ? b : a, &other = use_b ? a : b;
  Vec3 n = ref.axes.col(use_b ? face_b.i : face_a.i);
  if (n.dot(other.centre - ref.centre) < 0) n = -n;
  const int deepest = other.support(-n);
  out.add(use_b ? Vec3(-n) : n, origin + other.corner(deepest) - 0.5 * face_separation * n, face_separation,
          deepest_feature | use_b << 3 | deepest);
}

}  // namespace

void box_box(const Solid& a, const Solid& b, const Reach& reach, Manifold& out) {
  box_box_reach(a, b, reach.edge, out);
}

// Each wall is a plate without thickness, i.e. a flat box; its feature carries the face in the low bits.
void box_hollow_box(const Solid& box, const Solid& container, const Reach& reach, Manifold& out) {
  const Vec3& half = container.shape.half;
  const Vec3 local = container.orientation.conjugate() * (box.position - container.position);
  for (int f = 0; f < 6; ++f) {
    const Face face = static_cast<Face>(f);
    if (container.shape.open & face_bit(face)) continue;
    const int axis = f / 2;
    Shape plate{.kind = ShapeKind::box, .half = half};
    plate.half[axis] = 0;
    Vec3 centre = Vec3::Zero();
    centre[axis] = f % 2 ? half[axis] : -half[axis];
    bool over_plate = true;  // a body beside the plate may pass its edge
    for (int k = 0; k < 3; ++k) over_plate &= k == axis || std::abs(local[k]) < half[k];
    const Solid wall{plate, 0, container.position + container.orientation * centre, container.orientation};
    const int before = out.size();
    box_box_reach(box, wall, over_plate ? reach.flat : reach.edge, out);
    for (int i = before; i < out.size(); ++i)
      out[i].feature = out[i].feature << 3 | static_cast<std::uint32_t>(f);
  }
}

}  // namespace talus
