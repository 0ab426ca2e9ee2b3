// Value: a parsed TOML tree in which every node knows where it was written, so that any later complaint can
// name file, line and column. Includes and command-line overrides are merged at this level.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace talus {

/// Where something was written: a file with line and column, or an override (then `file` is "--set
/// key.path").
struct Position {
  std::shared_ptr<const std::string> file;
  int line = 0, column = 0;
  /// "scene.toml:12:3", "--set solver.tolerance", or "scene" when nothing is known.
  std::string text() const;
};

class Value;
struct Member;
using List = std::vector<Value>;
using Table = std::vector<Member>;  ///< in the order of writing

class Value {
 public:
  using Data = std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Table>;
  Value();
  Value(Data d, Position p = {});
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  Data data;
  Position at;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&data);
  }
  /// Member of a table, null when this is no table or has no such key.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  /// "a number", "text", ...: for messages.
  std::string_view kind_name() const;
  /// Equal data, wherever it was written.
  bool operator==(const Value& other) const;
};

struct Member {
  std::string key;
  Value value;
  Position key_at;
  bool operator==(const Member& other) const { return key == other.key && value == other.value; }
};

// defined where Member is complete
inline Value::Value() = default;
inline Value::Value(Data d, Position p) : data(std::move(d)), at(std::move(p)) {}
inline Value::Value(const Value&) = default;
inline Value::Value(Value&&) noexcept = default;
inline Value& Value::operator=(const Value&) = default;
inline Value& Value::operator=(Value&&) noexcept = default;
inline Value::~Value() = default;

/// Collects complaints so that a user sees all of them at once.
class Complaints {
 public:
  /// "at: error: what"
  void error(const Position& at, const std::string& what);
  void warn(const Position& at, const std::string& what);
  bool any() const { return !errors_.empty(); }
  /// Throws one InputError with all errors, in the order of the text, when there are any.
  void raise_if_any() const;
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Entry {
    Position at;
    std::string text;
  };
  std::vector<Entry> errors_;
  std::vector<std::string> warnings_;
};

/// Parses TOML text. Throws InputError with file:line:column.
Value parse_toml(std::string_view text, const std::string& file_name);

/// Reads a scene file and all it includes (`include = ["other.toml"]`, relative to the file that says so;
/// what the file itself says wins over what it includes). Throws InputError; cycles are errors.
Value read_toml_file(const std::string& path);

/// Applies "key.path=value" to the tree; a list element is named by its index or by its `name`.
void apply_override(Value& root, const std::string& assignment);

/// TOML text of a tree; numbers are written so that reading gives the same bits.
std::string to_toml(const Value& root);
std::string to_toml_inline(const Value& value);

/// The candidate nearest to `word`, empty when none is near: for "did you mean".
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace talus
