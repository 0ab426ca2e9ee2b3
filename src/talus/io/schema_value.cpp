#include "talus/io/schema_value.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "talus/base/error.hpp"

namespace talus {
namespace {

namespace fs = std::filesystem;
using FileName = std::shared_ptr<const std::string>;

Position position(const toml::source_region& region, const FileName& file) {
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

Value convert(const toml::node& node, const FileName& file) {
  const Position at = position(node.source(), file);
  switch (node.type()) {
    case toml::node_type::boolean:
      return {Value::Data(node.as_boolean()->get()), at};
    case toml::node_type::integer:
      return {Value::Data(node.as_integer()->get()), at};
    case toml::node_type::floating_point:
      return {Value::Data(node.as_floating_point()->get()), at};
    case toml::node_type::string:
      return {Value::Data(node.as_string()->get()), at};
    case toml::node_type::array: {
      List list;
      for (const auto& item : *node.as_array()) list.push_back(convert(item, file));
      return {Value::Data(std::move(list)), at};
    }
    case toml::node_type::table: {
      Table table;
      for (const auto& [key, item] : *node.as_table())
        table.push_back({std::string(key.str()), convert(item, file), position(key.source(), file)});
      // toml++ sorts by name; people expect the order in which they wrote
      std::stable_sort(table.begin(), table.end(), [](const Member& a, const Member& b) {
        return std::pair(a.key_at.line, a.key_at.column) < std::pair(b.key_at.line, b.key_at.column);
      });
      return {Value::Data(std::move(table)), at};
    }
    default:
      return {Value::Data(std::monostate{}), at};  // dates and times: no key takes one
  }
}

bool is_table_list(const Value& v) {
  const List* list = v.as<List>();
  return list && !list->empty() &&
         std::all_of(list->begin(), list->end(), [](const Value& i) { return i.as<Table>() != nullptr; });
}

/// `over` wins; tables are merged key by key, lists of tables ([[bodies]]) are joined.
void merge(Value& under, const Value& over) {
  Table* table = under.as<Table>();
  const Table* other = over.as<Table>();
  if (!table || !other) {
    if (is_table_list(under) && is_table_list(over)) {
      under.as<List>()->insert(under.as<List>()->end(), over.as<List>()->begin(), over.as<List>()->end());
    } else {
      under = over;
    }
    return;
  }
  for (const Member& m : *other) {
    if (Value* mine = under.find(m.key)) {
      merge(*mine, m.value);
    } else {
      under.as<Table>()->push_back(m);
    }
  }
}

std::string read_text(const fs::path& path, const Position& asked_at) {
  const std::string where = asked_at.file ? asked_at.text() + ": error: " : "error: ";
  std::error_code ec;
  if (!fs::exists(path, ec)) throw InputError(fmt::format("{}there is no file '{}'", where, path.string()));
  if (!fs::is_regular_file(path, ec))
    throw InputError(fmt::format("{}'{}' is not a file", where, path.string()));
  constexpr std::uintmax_t limit = 64u << 20;
  if (const auto size = fs::file_size(path, ec); !ec && size > limit)
    throw InputError(
        fmt::format("{}'{}' has {} MB, which is no scene; bodies belong in a CSV or HDF5 file that the "
                    "scene names in [[files]]",
                    where, path.string(), size >> 20));
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw InputError(fmt::format("{}'{}' cannot be read", where, path.string()));
  return std::move(text).str();
}

/// Paths written in a file are relative to that file; they are made absolute here, where the file is known.
Value read_with_includes(const fs::path& path, const Position& asked_at, std::vector<fs::path>& open) {
  std::error_code ec;
  const fs::path canonical = fs::weakly_canonical(path, ec);
  if (std::find(open.begin(), open.end(), canonical) != open.end()) {
    std::string chain;
    for (const fs::path& p : open) chain += p.filename().string() + " → ";
    throw InputError(fmt::format("{}: error: '{}' includes itself: {}{}; remove one of these includes",
                                 asked_at.text(), path.filename().string(), chain,
                                 canonical.filename().string()));
  }
  open.push_back(canonical);
  Value own = parse_toml(read_text(path, asked_at), path.string());
  Value result{Value::Data(Table{}), own.at};
  if (const Value* include = own.find("include")) {
    const List* names = include->as<List>();
    if (!names)
      throw InputError(include->at.text() +
                       ": error: include must be a list of file names, like [\"common.toml\"]");
    for (const Value& name : *names) {
      const std::string* text = name.as<std::string>();
      if (!text) throw InputError(name.at.text() + ": error: include must be a list of file names");
      const fs::path other = fs::path(*text).is_absolute() ? fs::path(*text) : path.parent_path() / *text;
      merge(result, read_with_includes(other, name.at, open));
    }
    std::erase_if(*own.as<Table>(), [](const Member& m) { return m.key == "include"; });
  }
  merge(result, own);
  result.at = own.at;
  open.pop_back();
  return result;
}

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string key_text(const std::string& key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-';
  });
  return bare ? key : quoted(key);
}

void write_table(const Table& table, const std::string& prefix, std::string& out) {
  for (const Member& m : table)
    if (!m.value.as<Table>() && !is_table_list(m.value))
      out += fmt::format("{} = {}\n", key_text(m.key), to_toml_inline(m.value));
  for (const Member& m : table) {
    const std::string name = prefix.empty() ? key_text(m.key) : prefix + "." + key_text(m.key);
    if (const Table* child = m.value.as<Table>()) {
      // a table that only holds tables needs no header of its own
      const bool header = child->empty() || std::any_of(child->begin(), child->end(), [](const Member& c) {
                            return !c.value.as<Table>() && !is_table_list(c.value);
                          });
      if (header) out += fmt::format("\n[{}]\n", name);
      write_table(*child, name, out);
    } else if (is_table_list(m.value)) {
      for (const Value& item : *m.value.as<List>()) {
        out += fmt::format("\n[[{}]]\n", name);
        for (const Member& i :
             *item.as<Table>())  // what is inside stays on one line: a list of bodies is a list
          out += fmt::format("{} = {}\n", key_text(i.key), to_toml_inline(i.value));
      }
    }
  }
}

}  // namespace

std::string Position::text() const {
  if (!file) return "scene";
  if (line == 0) return *file;
  return fmt::format("{}:{}:{}", *file, line, column);
}

const Value* Value::find(std::string_view key) const {
  if (const Table* table = as<Table>())
    for (const Member& m : *table)
      if (m.key == key) return &m.value;
  return nullptr;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

std::string_view Value::kind_name() const {
  constexpr std::string_view names[] = {"a date or time", "true or false", "a whole number", "a number",
                                        "text",           "a list",        "a table"};
  return names[data.index()];
}

bool Value::operator==(const Value& other) const {
  return data == other.data;
}

void Complaints::error(const Position& at, const std::string& what) {
  errors_.push_back({at, what});
}

void Complaints::warn(const Position& at, const std::string& what) {
  warnings_.push_back(fmt::format("{}: warning: {}", at.text(), what));
}

void Complaints::raise_if_any() const {
  if (errors_.empty()) return;
  std::vector<Entry> sorted = errors_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) {
    const std::string fa = a.at.file ? *a.at.file : "", fb = b.at.file ? *b.at.file : "";
    return std::tie(fa, a.at.line, a.at.column) < std::tie(fb, b.at.line, b.at.column);
  });
  constexpr std::size_t shown = 20;
  std::string all;
  for (std::size_t i = 0; i < std::min(shown, sorted.size()); ++i)
    all += fmt::format("{}{}: error: {}", i ? "\n" : "", sorted[i].at.text(), sorted[i].text);
  if (sorted.size() > shown) all += fmt::format("\n... and {} more errors", sorted.size() - shown);
  throw InputError(all);
}

Value parse_toml(std::string_view text, const std::string& file_name) {
  const auto file = std::make_shared<const std::string>(file_name);
  try {
    return convert(toml::parse(text, file_name), file);
  } catch (const toml::parse_error& e) {
    throw InputError(
        fmt::format("{}: error: this is not TOML: {}", position(e.source(), file).text(), e.description()));
  }
}

Value read_toml_file(const std::string& path) {
  std::vector<fs::path> open;
  return read_with_includes(path, {}, open);
}

void apply_override(Value& root, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  auto trim = [](std::string s) {
    const auto from = s.find_first_not_of(" \t"), to = s.find_last_not_of(" \t");
    return from == std::string::npos ? std::string() : s.substr(from, to - from + 1);
  };
  const std::string path = trim(assignment.substr(0, equals));
  if (equals == std::string::npos || path.empty())
    throw InputError(
        fmt::format("--set {}: error: expected key.path=value, like solver.tolerance=1e-4", assignment));
  const std::string text = trim(assignment.substr(equals + 1));
  const Position at{std::make_shared<const std::string>("--set " + path), 0, 0};
  auto fail = [&](const std::string& what) {
    throw InputError(fmt::format("{}: error: {}", at.text(), what));
  };

  // The value is TOML; a word that is not (solver.name=apgd) is taken as text, so that no shell quoting is
  // needed.
  Value value;
  try {
    toml::table parsed = toml::parse("value = " + text);
    if (parsed.size() != 1 || !parsed.contains("value")) fail("the value must be one TOML value");
    value = convert(*parsed.get("value"), at.file);
  } catch (const toml::parse_error& e) {
    if (text.empty() || text.find_first_of("\"'[]{}=\n#") != std::string::npos)
      fail(fmt::format("'{}' is no TOML value: {}", text, e.description()));
    value = Value(Value::Data(text));
  }
  // the place of everything in it is the override itself
  auto relocate = [&](auto& self, Value& v) -> void {
    v.at = at;
    if (List* list = v.as<List>())
      for (Value& i : *list) self(self, i);
    if (Table* table = v.as<Table>())
      for (Member& m : *table) m.key_at = at, self(self, m.value);
  };
  relocate(relocate, value);

  Value* node = &root;
  std::size_t from = 0;
  for (;;) {
    const std::size_t dot = path.find('.', from);
    const std::string key = trim(path.substr(from, dot == std::string::npos ? dot : dot - from));
    if (key.empty()) fail("the key path has an empty part");
    Value* next = nullptr;
    if (List* list = node->as<List>()) {
      if (std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isdigit(c); }) &&
          key.size() < 10) {
        const std::size_t index = std::stoul(key);
        if (index >= list->size())
          fail(fmt::format("there is no element {}; the list has {}, counted from 0", index, list->size()));
        next = &(*list)[index];
      } else {
        std::vector<std::string> names;
        for (Value& item : *list)
          if (const Value* name = item.find("name"); name && name->as<std::string>()) {
            names.push_back(*name->as<std::string>());
            if (!next && names.back() == key) next = &item;
          }
        if (!next) {
          const std::string near = nearest_word(key, names);
          fail(fmt::format("no element of the list is named '{}'; {}", key,
                           near.empty() ? "use its name or its number counted from 0"
                                        : fmt::format("did you mean '{}'?", near)));
        }
      }
    } else if (Table* table = node->as<Table>()) {
      next = node->find(key);
      if (!next) {
        table->push_back({key, Value(Value::Data(Table{}), at), at});
        next = &table->back().value;
      }
    } else {
      fail(fmt::format("'{}' is {}, it has no keys", path.substr(0, from - 1), node->kind_name()));
    }
    node = next;
    if (dot == std::string::npos) break;
    from = dot + 1;
  }
  *node = std::move(value);
}

std::string to_toml_inline(const Value& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return "\"\""; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return fmt::format("{}", i); }
    std::string operator()(double x) const {
      std::string s = fmt::format("{}", x);  // the shortest text that reads back as the same bits
      if (std::isfinite(x) && s.find_first_of(".e") == std::string::npos) s += ".0";
      return s;
    }
    std::string operator()(const std::string& s) const { return quoted(s); }
    std::string operator()(const List& list) const {
      std::string s = "[";
      for (std::size_t i = 0; i < list.size(); ++i) s += (i ? ", " : "") + to_toml_inline(list[i]);
      return s + "]";
    }
    std::string operator()(const Table& table) const {
      std::string s = "{";
      for (std::size_t i = 0; i < table.size(); ++i)
        s += fmt::format("{} {} = {}", i ? "," : "", key_text(table[i].key), to_toml_inline(table[i].value));
      return s + " }";
    }
  };
  return std::visit(Writer{}, value.data);
}

std::string to_toml(const Value& root) {
  std::string out;
  if (const Table* table = root.as<Table>()) write_table(*table, "", out);
  return out;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  // Damerau-Levenshtein distance (neighbours swapped count once): typos are what it measures.
  if (word.size() > 64) return "";
  auto distance = [](std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i)
      for (std::size_t j = 1; j <= b.size(); ++j) {
        d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
          d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    return d[a.size()][b.size()];
  };
  std::string best;
  std::size_t best_distance = word.size();
  for (const std::string& c : candidates) {
    std::size_t d = distance(word, c);
    // half a word ("max_iter", "gauss") counts as near
    if (word.size() >= 3 && (c.starts_with(word) || word.starts_with(c)) && c.size() >= 3)
      d = std::min<std::size_t>(d, 1);
    if (d < best_distance && d <= 1 + std::max(word.size(), c.size()) / 4) best = c, best_distance = d;
  }
  return best;
}

}  // namespace talus
