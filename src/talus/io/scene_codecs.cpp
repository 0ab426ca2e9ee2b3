#include "talus/io/scene_codecs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace talus {
namespace {

Value number(Real x) {
  return Value(Value::Data(x));
}
Value list_of(const std::vector<Real>& xs) {
  List list;
  for (Real x : xs) list.push_back(number(x));
  return Value(Value::Data(std::move(list)));
}

/// Numbers of a list, any count.
bool read_numbers(const Value& v, std::vector<Real>& out, const ReadAt& where) {
  const List* list = v.as<List>();
  if (!list) return where.wrong_kind(v, "a list of numbers"), false;
  out.clear();
  for (const Value& item : *list) {
    Real x = 0;
    if (!read_number(item, x, where)) return false;
    out.push_back(x);
  }
  return true;
}

/// Complains about keys of an inline table that are not in `known`.
bool only_keys(const Value& v, const std::vector<std::string>& known, const ReadAt& where) {
  for (const Member& m : *v.as<Table>())
    if (std::find(known.begin(), known.end(), m.key) == known.end()) {
      const std::string near = nearest_word(m.key, known);
      where.complaints.error(m.key_at,
                             fmt::format("unknown key '{}.{}'; {}", where.path, m.key,
                                         near.empty() ? fmt::format("known here: {}", fmt::join(known, ", "))
                                                      : fmt::format("did you mean '{}'?", near)));
      return false;
    }
  return true;
}

Quat unit(Quat q) {
  // A quaternion that is already unit to rounding stays as written, so that a file gives exactly what it
  // says.
  const Real n2 = q.squaredNorm();
  if (std::abs(n2 - 1) > 16 * std::numeric_limits<Real>::epsilon()) q.coeffs() /= std::sqrt(n2);
  return q;
}

}  // namespace

// ---- auto
// -------------------------------------------------------------------------------------------------------

nlohmann::json Codec<AutoReal>::json() {
  return {{"oneOf", {{{"type", "number"}}, {{"const", "auto"}}}}};
}

void Codec<AutoReal>::read(const Value& v, AutoReal& out, const ReadAt& where) {
  if (const std::string* word = v.as<std::string>()) {
    if (*word == "auto")
      out.value.reset();
    else
      where.wrong(v, fmt::format("= \"{}\" is unknown; it must be a number or \"auto\"", *word));
    return;
  }
  Real x = 0;
  if (read_number(v, x, where)) out.value = x;
}

std::optional<Value> Codec<AutoReal>::write(const AutoReal& x) {
  return x.value ? number(*x.value) : Value(Value::Data(std::string("auto")));
}

// ---- orientation
// ------------------------------------------------------------------------------------------------

nlohmann::json Codec<SceneOrientation>::json() {
  const nlohmann::json quaternion = {
      {"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 4}, {"maxItems", 4}};
  const nlohmann::json axis_angle = {{"type", "object"},
                                     {"properties", {{"axis", json_vector()}, {"angle", json_number()}}},
                                     {"required", {"axis", "angle"}},
                                     {"additionalProperties", false}};
  const nlohmann::json euler = {{"type", "object"},
                                {"properties", {{"euler", json_vector()}}},
                                {"required", {"euler"}},
                                {"additionalProperties", false}};
  return {{"oneOf", {quaternion, axis_angle, euler}}};
}

void Codec<SceneOrientation>::read(const Value& v, SceneOrientation& out, const ReadAt& where) {
  constexpr Real degree = std::numbers::pi / 180;
  if (const List* list = v.as<List>()) {
    std::vector<Real> q;
    if (!read_numbers(v, q, where)) return;
    if (q.size() != 4)
      return where.wrong(
          v, fmt::format("is a list of {}; a quaternion has four numbers [w, x, y, z]", list->size()));
    const Quat quat(q[0], q[1], q[2], q[3]);
    const Real n2 = quat.squaredNorm();
    if (!(std::abs(n2 - 1) < 1e-2))
      return where.wrong(
          v, fmt::format("has the norm {:.6g}; the numbers [w, x, y, z] of a rotation have the norm 1",
                         std::sqrt(n2)));
    out.value = unit(quat);
    return;
  }
  if (!v.as<Table>())
    return where.wrong_kind(
        v, "a quaternion [w, x, y, z], { axis = [x, y, z], angle = degrees } or { euler = [x, y, z] }");
  if (!only_keys(v, {"axis", "angle", "euler"}, where)) return;
  const Value *axis = v.find("axis"), *angle = v.find("angle"), *euler = v.find("euler");
  if (axis && angle && !euler) {
    Vec3 a;
    Real degrees = 0;
    if (!read_vector(*axis, a, where) || !read_number(*angle, degrees, where)) return;
    const Real length = a.stableNorm();
    if (!(length > 0)) return where.wrong(*axis, ".axis is zero; give a direction like [0, 0, 1]");
    const Real half = 0.5 * degree * degrees;
    const Vec3 s = std::sin(half) * (a / length);
    out.value = unit(Quat(std::cos(half), s.x(), s.y(), s.z()));
  } else if (euler && !axis && !angle) {
    Vec3 e;
    if (!read_vector(*euler, e, where)) return;
    e *= degree;
    out.value = unit(Quat(Eigen::AngleAxisd(e.z(), Vec3::UnitZ()) * Eigen::AngleAxisd(e.y(), Vec3::UnitY()) *
                          Eigen::AngleAxisd(e.x(), Vec3::UnitX())));
  } else {
    where.wrong(v, "must be either { axis = [x, y, z], angle = degrees } or { euler = [x, y, z] }");
  }
}

std::optional<Value> Codec<SceneOrientation>::write(const SceneOrientation& x) {
  return list_of({x.value.w(), x.value.x(), x.value.y(), x.value.z()});
}

// ---- sizes
// ------------------------------------------------------------------------------------------------------

nlohmann::json Codec<SizeDistribution>::json() {
  const nlohmann::json n = {{"type", "number"}, {"exclusiveMinimum", 0}},
                       list = {{"type", "array"}, {"items", n}};
  auto object = [](nlohmann::json properties, nlohmann::json required) {
    return nlohmann::json{{"type", "object"},
                          {"properties", properties},
                          {"required", required},
                          {"additionalProperties", false}};
  };
  return {{"oneOf",
           {n,
            object({{"uniform", {{"type", "array"}, {"items", n}, {"minItems", 2}, {"maxItems", 2}}}},
                   {"uniform"}),
            object({{"lognormal", n}, {"sigma", n}, {"min", n}, {"max", n}},
                   {"lognormal", "sigma", "min", "max"}),
            object({{"values", list}, {"weights", list}}, {"values", "weights"})}}};
}

void Codec<SizeDistribution>::read(const Value& v, SizeDistribution& out, const ReadAt& where) {
  constexpr Real smallest = 1e-12, greatest = 1e9;
  bool good = true;
  auto radius = [&](const Value& at, Real r) {
    if (!(r >= smallest && r <= greatest)) {
      where.complaints.error(
          at.at,
          fmt::format(
              "{} = {} is not allowed; a radius must be above 0 and at most {} m: lengths are in metres",
              where.path, r, greatest));
      good = false;
    }
  };
  using Kind = SizeDistribution::Kind;
  SizeDistribution d;
  if (!v.as<Table>()) {
    if (!read_number(v, d.value, where)) return;
    radius(v, d.value);
    if (good) out = d;
    return;
  }
  const Value *uniform = v.find("uniform"), *lognormal = v.find("lognormal"), *values = v.find("values");
  if ((uniform != nullptr) + (lognormal != nullptr) + (values != nullptr) != 1) {
    if (only_keys(v, {"uniform", "lognormal", "sigma", "min", "max", "values", "weights"}, where))
      where.wrong(
          v,
          "must be a number or one of { uniform = [min, max] }, { lognormal = median, sigma = s, min = a, "
          "max = b }, { values = [..], weights = [..] }");
    return;
  }
  if (uniform) {
    d.kind = Kind::uniform;
    std::vector<Real> ends;
    if (!only_keys(v, {"uniform"}, where) || !read_numbers(*uniform, ends, where)) return;
    if (ends.size() != 2 || !(ends[0] <= ends[1]))
      return where.wrong(*uniform, ".uniform must be [min, max] with min ≤ max");
    d.min = ends[0];
    d.max = ends[1];
    radius(*uniform, d.min), radius(*uniform, d.max);
  } else if (lognormal) {
    d.kind = Kind::lognormal;
    const Value *sigma = v.find("sigma"), *low = v.find("min"), *high = v.find("max");
    if (!only_keys(v, {"lognormal", "sigma", "min", "max"}, where)) return;
    if (!sigma || !low || !high)
      return where.wrong(v,
                         "lacks sigma, min or max; a lognormal size needs { lognormal = median, sigma = s, "
                         "min = a, max = b }");
    if (!read_number(*lognormal, d.median, where) || !read_number(*sigma, d.sigma, where) ||
        !read_number(*low, d.min, where) || !read_number(*high, d.max, where))
      return;
    radius(*lognormal, d.median), radius(*low, d.min), radius(*high, d.max);
    if (!(d.sigma > 0 && d.sigma <= 3))
      return where.wrong(*sigma,
                         ".sigma is the standard deviation of ln(radius); it must be above 0 and at most 3");
    if (!(d.min <= d.median && d.median <= d.max)) return where.wrong(v, "must have min ≤ median ≤ max");
  } else {
    d.kind = Kind::discrete;
    const Value* weights = v.find("weights");
    if (!only_keys(v, {"values", "weights"}, where)) return;
    if (!weights) return where.wrong(v, "lacks weights; give as many as values");
    if (!read_numbers(*values, d.values, where) || !read_numbers(*weights, d.weights, where)) return;
    if (d.values.empty() || d.values.size() != d.weights.size())
      return where.wrong(
          v, fmt::format("has {} values and {} weights; give as many weights as values, at least one",
                         d.values.size(), d.weights.size()));
    for (Real r : d.values) radius(*values, r);
    Real total = 0;
    for (Real w : d.weights) {
      if (!(w >= 0)) return where.wrong(*weights, ".weights must not be negative");
      total += w;
    }
    if (!(total > 0)) return where.wrong(*weights, ".weights must have a positive sum");
  }
  if (good) out = d;
}

std::optional<Value> Codec<SizeDistribution>::write(const SizeDistribution& x) {
  using Kind = SizeDistribution::Kind;
  switch (x.kind) {
    case Kind::uniform:
      return Value(Value::Data(Table{{"uniform", list_of({x.min, x.max}), {}}}));
    case Kind::lognormal:
      return Value(Value::Data(Table{{"lognormal", number(x.median), {}},
                                     {"sigma", number(x.sigma), {}},
                                     {"min", number(x.min), {}},
                                     {"max", number(x.max), {}}}));
    case Kind::discrete:
      return Value(
          Value::Data(Table{{"values", list_of(x.values), {}}, {"weights", list_of(x.weights), {}}}));
    default:
      return x.value > 0 ? std::optional(number(x.value)) : std::nullopt;
  }
}

// ---- motion
// -----------------------------------------------------------------------------------------------------

nlohmann::json Codec<std::array<SceneMotion::Component, 3>>::json() {
  return {{"type", "array"}, {"items", {{"type", {"number", "string"}}}}, {"minItems", 3}, {"maxItems", 3}};
}

void Codec<std::array<SceneMotion::Component, 3>>::read(const Value& v, Vector& out, const ReadAt& where) {
  const List* list = v.as<List>();
  if (!list || list->size() != 3)
    return where.wrong_kind(v, "three numbers or expressions, like [0, 0, \"0.1*sin(t)\"]");
  for (int k = 0; k < 3; ++k) {
    if (const std::string* expression = (*list)[k].as<std::string>()) {
      out[k] = *expression;
    } else {
      Real x = 0;
      if (!read_number((*list)[k], x, where)) return;
      out[k] = x;
    }
  }
}

std::optional<Value> Codec<std::array<SceneMotion::Component, 3>>::write(const Vector& x) {
  List list;
  for (const SceneMotion::Component& c : x)
    list.push_back(std::holds_alternative<Real>(c) ? number(std::get<Real>(c))
                                                   : Value(Value::Data(std::get<std::string>(c))));
  return Value(Value::Data(std::move(list)));
}

nlohmann::json Codec<std::vector<std::array<Real, 7>>>::json() {
  return {{"type", "array"},
          {"items", {{"type", "array"}, {"items", json_number()}, {"minItems", 4}, {"maxItems", 7}}}};
}

void Codec<std::vector<std::array<Real, 7>>>::read(const Value& v, Rows& out, const ReadAt& where) {
  const List* list = v.as<List>();
  if (!list || list->empty()) return where.wrong_kind(v, "a list of rows [t, vx, vy, vz, wx, wy, wz]");
  out.clear();
  for (const Value& row : *list) {
    std::vector<Real> numbers;
    if (!read_numbers(row, numbers, where)) return;
    if (numbers.size() != 7 && numbers.size() != 4)
      return where.wrong(
          row,
          fmt::format("has a row of {} numbers; it must be [t, vx, vy, vz] or [t, vx, vy, vz, wx, wy, wz]",
                      numbers.size()));
    if (!out.empty() && !(numbers[0] > out.back()[0]))
      return where.wrong(
          row, fmt::format("has the time {} after {}; times must ascend", numbers[0], out.back()[0]));
    std::array<Real, 7> r{};
    std::copy(numbers.begin(), numbers.end(), r.begin());
    out.push_back(r);
  }
}

std::optional<Value> Codec<std::vector<std::array<Real, 7>>>::write(const Rows& x) {
  if (x.empty()) return {};
  List list;
  for (const auto& row : x) list.push_back(list_of({row.begin(), row.end()}));
  return Value(Value::Data(std::move(list)));
}

}  // namespace talus
