#include "talus/solvers/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <type_traits>

#include "talus/base/error.hpp"

namespace talus {
namespace {

template <class T>
std::string_view type_name() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, int>) return "int";
  if constexpr (std::is_same_v<T, Real>) return "real";
  return "choice";
}

/// f(options) of one group; throws when there is none.
template <class Self, class F>
void with_group(Self& all, std::string_view group, F&& f) {
  bool found = false;
  SolverOptions::each(all, [&](std::string_view name, auto& options) {
    if (name == group) {
      found = true;
      f(options);
    }
  });
  if (!found)
    throw InputError(fmt::format("there are no solver options \"{}\"; there are: {}", group,
                                 fmt::join(option_groups(), ", ")));
}

/// f(field, choices) of one option; throws when there is none.
template <class Self, class F>
void with_option(Self& all, std::string_view group, std::string_view option, F&& f) {
  with_group(all, group, [&](auto& options) {
    bool found = false;
    std::vector<std::string_view> names;
    std::remove_const_t<std::remove_reference_t<decltype(options)>>::each(
        options, [&](std::string_view name, auto& field, std::string_view, Choices choices) {
          names.push_back(name);
          if (name == option) {
            found = true;
            f(field, choices);
          }
        });
    if (!found)
      throw InputError(
          fmt::format("solver.{} has no option \"{}\"; it has: {}", group, option, fmt::join(names, ", ")));
  });
}

}  // namespace

std::vector<std::string> option_groups() {
  std::vector<std::string> groups;
  SolverOptions defaults;
  SolverOptions::each(defaults, [&](std::string_view name, auto&) { groups.emplace_back(name); });
  return groups;
}

std::vector<OptionInfo> option_infos(std::string_view group) {
  std::vector<OptionInfo> infos;
  SolverOptions defaults;
  with_group(defaults, group, [&](auto& options) {
    std::remove_reference_t<decltype(options)>::each(
        options, [&](std::string_view name, auto& field, std::string_view doc, Choices choices) {
          using T = std::remove_reference_t<decltype(field)>;
          infos.push_back({std::string(name), type_name<T>(), OptionValue(field), std::string(doc),
                           std::vector<std::string>(choices.begin(), choices.end())});
        });
  });
  return infos;
}

void set_option(SolverOptions& all, std::string_view group, std::string_view option, const OptionValue& value) {
  with_option(all, group, option, [&](auto& field, Choices choices) {
    using T = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_same_v<T, Real>) {
      if (const int* i = std::get_if<int>(&value)) {
        field = *i;
        return;
      }
    }
    const T* typed = std::get_if<T>(&value);
    if (!typed)
      throw InputError(
          fmt::format("solver.{}.{} = {} must be a {}", group, option, option_text(value), type_name<T>()));
    if constexpr (std::is_same_v<T, std::string>) {
      bool known = false;
      for (std::string_view c : choices) known |= c == *typed;
      if (!known)
        throw InputError(
            fmt::format("solver.{}.{} = \"{}\" must be one of: {}", group, option, *typed, fmt::join(choices, ", ")));
    }
    field = *typed;
  });
}

OptionValue get_option(const SolverOptions& all, std::string_view group, std::string_view option) {
  OptionValue value;
  with_option(all, group, option, [&](const auto& field, Choices) { value = field; });
  return value;
}

std::string option_text(const OptionValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

}  // namespace talus
