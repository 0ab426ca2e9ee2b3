// How the scene's own types appear in a file: words of enums, "auto", orientations, size distributions,
// motions.
#pragma once
#include "talus/io/scene.hpp"
#include "talus/io/schema.hpp"

namespace talus {

template <>
struct EnumWords<Model> {
  static constexpr const char* words[] = {"relaxed", "exact", "lagged"};
};
template <>
struct EnumWords<OnUnconverged> {
  static constexpr const char* words[] = {"warn", "stop", "retry"};
};
template <>
struct EnumWords<ContainerShape> {
  static constexpr const char* words[] = {"box", "cylinder", "half_space"};
};
template <>
struct EnumWords<BodyShape> {
  static constexpr const char* words[] = {"sphere", "box", "cylinder"};
};
template <>
struct EnumWords<Arrangement> {
  static constexpr const char* words[] = {"lattice", "jittered", "random", "hcp"};
};

template <>
struct Codec<AutoReal> {
  static std::string type() { return "number or \"auto\""; }
  static nlohmann::json json();
  static void read(const Value& v, AutoReal& out, const ReadAt& where);
  static std::optional<Value> write(const AutoReal& x);
};

template <>
struct Codec<SceneOrientation> {
  static std::string type() { return "quaternion or table"; }
  static nlohmann::json json();
  static void read(const Value& v, SceneOrientation& out, const ReadAt& where);
  static std::optional<Value> write(const SceneOrientation& x);
};

template <>
struct Codec<SizeDistribution> {
  static std::string type() { return "number or table"; }
  static nlohmann::json json();
  static void read(const Value& v, SizeDistribution& out, const ReadAt& where);
  static std::optional<Value> write(const SizeDistribution& x);
};

/// A vector of numbers or expressions of t.
template <>
struct Codec<std::array<SceneMotion::Component, 3>> {
  using Vector = std::array<SceneMotion::Component, 3>;
  static std::string type() { return "[x, y, z] of numbers or expressions of t"; }
  static nlohmann::json json();
  static void read(const Value& v, Vector& out, const ReadAt& where);
  static std::optional<Value> write(const Vector& x);
};

template <>
struct Codec<std::vector<std::array<Real, 7>>> {
  using Rows = std::vector<std::array<Real, 7>>;
  static std::string type() { return "list of rows"; }
  static nlohmann::json json();
  static void read(const Value& v, Rows& out, const ReadAt& where);
  static std::optional<Value> write(const Rows& x);
};

}  // namespace talus
