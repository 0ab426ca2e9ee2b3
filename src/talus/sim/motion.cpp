#include "talus/sim/motion.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <numbers>

#include "talus/base/error.hpp"

namespace talus {
namespace {

class ConstantMotion : public Motion {
 public:
  explicit ConstantMotion(const Twist& velocity) : velocity_(velocity) {}
  Twist at(Real) const override { return velocity_; }

 private:
  Twist velocity_;
};

class TableMotion : public Motion {
 public:
  TableMotion(std::vector<Real> times, std::vector<Twist> velocities)
      : times_(std::move(times)), velocities_(std::move(velocities)) {}

  Twist at(Real t) const override {
    const auto next = std::upper_bound(times_.begin(), times_.end(), t);
    if (next == times_.begin()) return velocities_.front();
    if (next == times_.end()) return velocities_.back();
    const std::size_t k = next - times_.begin();
    const Real s = (t - times_[k - 1]) / (times_[k] - times_[k - 1]);
    const Twist &a = velocities_[k - 1], &b = velocities_[k];
    return {(1 - s) * a.linear + s * b.linear, (1 - s) * a.angular + s * b.angular};
  }

 private:
  std::vector<Real> times_;
  std::vector<Twist> velocities_;
};

class ExpressionMotion : public Motion {
 public:
  explicit ExpressionMotion(const std::array<std::string, 6>& expressions) {
    for (int k = 0; k < 6; ++k) {
      empty_[k] = expressions[k].empty();
      if (!empty_[k]) compile(k, expressions[k]);
    }
  }

  Twist at(Real t) const override {
    time_ = t;
    Real v[6];
    for (int k = 0; k < 6; ++k) v[k] = empty_[k] ? 0 : parser_[k].Eval();
    return {Vec3(v[0], v[1], v[2]), Vec3(v[3], v[4], v[5])};
  }

 private:
  void compile(int k, const std::string& text) {
    constexpr std::size_t longest = 1000;  // muparser recurses into parentheses: nobody writes this by hand
    if (text.size() > longest)
      throw InputError(fmt::format("the expression of {} characters is too long; at most {} are allowed",
                                   text.size(), longest));
    // muparser would let an expression assign to t
    for (std::size_t i = text.find('='); i != std::string::npos; i = text.find('=', i + 2)) {
      const bool compares = (i > 0 && (text[i - 1] == '<' || text[i - 1] == '>' || text[i - 1] == '!')) ||
                            (i + 1 < text.size() && text[i + 1] == '=');
      if (!compares)
        throw InputError(fmt::format("the expression \"{}\" has a lone '='; compare with ==", text));
    }
    try {
      mu::Parser& p = parser_[k];
      p.DefineConst("pi", std::numbers::pi);
      p.DefineVar("t", &time_);
      p.SetExpr(text);
      p.Eval();  // compiles
      if (p.GetNumResults() != 1)
        throw InputError(
            fmt::format("the expression \"{}\" gives {} values; one is needed", text, p.GetNumResults()));
      for (const auto& [name, address] : p.GetUsedVar())
        if (address != &time_)
          throw InputError(fmt::format("the expression \"{}\" has an unknown name '{}'", text, name));
    } catch (const mu::Parser::exception_type& e) {
      throw InputError(
          fmt::format("the expression \"{}\" cannot be read: {} It may use t (s), pi, + - * / ^, sin, cos, "
                      "exp, sqrt, abs, min, max and conditions like t < 1 ? 0.1 : 0",
                      text, e.GetMsg()));
    }
  }

  mutable Real time_ = 0;
  mutable std::array<mu::Parser, 6> parser_;
  std::array<bool, 6> empty_{};
};

}  // namespace

std::unique_ptr<Motion> constant_motion(const Twist& velocity) {
  return std::make_unique<ConstantMotion>(velocity);
}

std::unique_ptr<Motion> table_motion(std::vector<Real> times, std::vector<Twist> velocities) {
  if (times.empty() || times.size() != velocities.size())
    throw InputError(
        fmt::format("a motion table needs as many velocities as times and at least one row; it has {} times "
                    "and {} velocities",
                    times.size(), velocities.size()));
  for (std::size_t k = 1; k < times.size(); ++k)
    if (!(times[k] > times[k - 1]))
      throw InputError(
          fmt::format("the times of a motion table must ascend; {} follows {}", times[k], times[k - 1]));
  return std::make_unique<TableMotion>(std::move(times), std::move(velocities));
}

std::unique_ptr<Motion> expression_motion(const std::array<std::string, 6>& expressions) {
  return std::make_unique<ExpressionMotion>(expressions);
}

}  // namespace talus
