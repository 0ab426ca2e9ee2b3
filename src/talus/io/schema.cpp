#include "talus/io/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace talus {
namespace {

std::string join(const std::vector<std::string>& words, std::string_view separator = ", ") {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string in_quotes(const std::vector<std::string>& words) {
  std::vector<std::string> q;
  for (const std::string& w : words) q.push_back('"' + w + '"');
  return join(q);
}

std::string with_unit(const std::string& unit) {
  return unit.empty() ? "" : " " + unit;
}

/// "> 0", "between 0 and 1", ...
std::string limits_text(const Limits& l) {
  if (l.min && l.max)
    return fmt::format("{} {} and at most {}", l.above_min ? "above" : "at least", *l.min, *l.max);
  if (l.min) return fmt::format("{} {}", l.above_min ? "above" : "at least", *l.min);
  if (l.max) return fmt::format("at most {}", *l.max);
  return "";
}

bool check_limits(const Value& v, Real x, const ReadAt& where) {
  const Limits& l = where.key.limits;
  const bool low = l.min && (l.above_min ? x <= *l.min : x < *l.min);
  const bool high = l.max && x > *l.max;
  if (low || high) {
    where.complaints.error(
        v.at, fmt::format("{} = {} is not allowed; it must be {}{}{}", where.path, x, limits_text(l),
                          with_unit(where.key.unit), l.hint.empty() ? "" : ": " + l.hint));
    return false;
  }
  if ((l.odd_below && x < *l.odd_below) || (l.odd_above && x > *l.odd_above))
    where.complaints.warn(v.at, fmt::format("{} = {}{} is unusual; is the unit right?", where.path, x,
                                            with_unit(where.key.unit)));
  return true;
}

std::string child_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

}  // namespace

// ---- Key
// --------------------------------------------------------------------------------------------------------

Key& Key::limit(std::optional<Real> low, std::optional<Real> high, bool open, std::string hint) {
  if (low) limits.min = low, limits.above_min = open;
  if (high) limits.max = high;
  if (!hint.empty()) limits.hint = std::move(hint);
  return *this;
}

Key& Key::at_most(Real high, std::string hint) {
  return limit({}, high, limits.above_min, std::move(hint));
}

Key& Key::odd_outside(Real low, Real high) {
  limits.odd_below = low;
  limits.odd_above = high;
  return *this;
}

Key& Key::only(std::string key, std::vector<std::string> values) {
  selector = std::move(key);
  selected_by = std::move(values);
  return *this;
}

Key& Key::one_of(std::vector<std::string> words, std::vector<std::string> later) {
  if (!words.empty()) choices = std::move(words);
  later_choices = std::move(later);
  return *this;
}

// ---- reading values
// ---------------------------------------------------------------------------------------------

void ReadAt::wrong_kind(const Value& v, std::string_view wanted) const {
  complaints.error(v.at, fmt::format("{} is {}; it must be {}{}", path, v.kind_name(), wanted,
                                     key.unit.empty() ? "" : " in " + key.unit));
}

void ReadAt::wrong(const Value& v, const std::string& what) const {
  complaints.error(v.at, path + " " + what);
}

bool read_number(const Value& v, Real& out, const ReadAt& where) {
  Real x = 0;
  if (const double* d = v.as<double>())
    x = *d;
  else if (const std::int64_t* i = v.as<std::int64_t>())
    x = static_cast<Real>(*i);
  else
    return where.wrong_kind(v, "a number"), false;
  if (!std::isfinite(x)) return where.wrong(v, fmt::format("is {}; it must be a finite number", x)), false;
  if (!check_limits(v, x, where)) return false;
  out = x;
  return true;
}

bool read_whole(const Value& v, std::int64_t& out, std::int64_t low, std::int64_t high, const ReadAt& where) {
  std::int64_t i = 0;
  if (const std::int64_t* whole = v.as<std::int64_t>()) {
    i = *whole;
  } else if (const double* d = v.as<double>(); d && std::abs(*d) < 9e15 && *d == std::floor(*d)) {
    i = static_cast<std::int64_t>(*d);  // 1e6 is a handy way to write a million
  } else {
    return where.wrong_kind(v, "a whole number"), false;
  }
  if (i < low || i > high)
    return where.wrong(v, fmt::format("= {} is out of range; it must be {} to {}", i, low, high)), false;
  if (!check_limits(v, static_cast<Real>(i), where)) return false;
  out = i;
  return true;
}

bool read_vector(const Value& v, Vec3& out, const ReadAt& where) {
  const List* list = v.as<List>();
  if (!list || list->size() != 3) {
    where.wrong(v, fmt::format("is {}; it must be three numbers [x, y, z]{}",
                               list ? fmt::format("a list of {}", list->size()) : std::string(v.kind_name()),
                               where.key.unit.empty() ? "" : " in " + where.key.unit));
    return false;
  }
  Vec3 x;
  for (int k = 0; k < 3; ++k)
    if (!read_number((*list)[k], x[k], where)) return false;
  out = x;
  return true;
}

bool read_word(const Value& v, std::string& out, const ReadAt& where) {
  const std::string* word = v.as<std::string>();
  if (!word) return where.wrong_kind(v, "text in quotes"), false;
  const std::vector<std::string>& choices = where.key.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), *word) == choices.end()) {
    if (std::count(where.key.later_choices.begin(), where.key.later_choices.end(), *word)) {
      where.wrong(v, fmt::format("= \"{}\" is not supported yet; use one of {}", *word, in_quotes(choices)));
    } else {
      const std::string near = nearest_word(*word, choices);
      where.wrong(v, fmt::format("= \"{}\" is unknown; {}{}", *word,
                                 near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near),
                                 "it must be one of " + in_quotes(choices)));
    }
    return false;
  }
  out = *word;
  return true;
}

Value write_vector(const Vec3& v) {
  List list;
  for (int k = 0; k < 3; ++k) list.push_back(Value(Value::Data(v[k])));
  return Value(Value::Data(std::move(list)));
}

nlohmann::json json_number() {
  return {{"type", "number"}};
}
nlohmann::json json_vector() {
  return {{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 3}, {"maxItems", 3}};
}

void Codec<std::array<int, 3>>::read(const Value& v, std::array<int, 3>& out, const ReadAt& where) {
  const List* list = v.as<List>();
  if (!list || list->size() != 3) return where.wrong_kind(v, "three whole numbers [nx, ny, nz]");
  for (int k = 0; k < 3; ++k) {
    std::int64_t i = 0;
    if (!read_whole((*list)[k], i, 1, 1000000, where)) return;
    out[k] = static_cast<int>(i);
  }
}

std::optional<Value> Codec<std::array<int, 3>>::write(const std::array<int, 3>& x) {
  List list;
  for (int i : x) list.push_back(Value(Value::Data(std::int64_t{i})));
  return Value(Value::Data(std::move(list)));
}

void Codec<std::vector<std::string>>::read(const Value& v, std::vector<std::string>& out,
                                           const ReadAt& where) {
  const List* list = v.as<List>();
  if (!list) return where.wrong_kind(v, "a list of words, like [\"a\", \"b\"]");
  out.clear();
  for (const Value& item : *list) {
    std::string word;
    if (!read_word(item, word, where)) return;
    out.push_back(word);
  }
}

std::optional<Value> Codec<std::vector<std::string>>::write(const std::vector<std::string>& x) {
  List list;
  for (const std::string& s : x) list.push_back(Value(Value::Data(s)));
  return Value(Value::Data(std::move(list)));
}

// ---- tables
// -----------------------------------------------------------------------------------------------------

Key& TableSchema::add(std::string name, std::string type, std::string unit, std::string doc) {
  Key k;
  k.name = std::move(name);
  k.type = std::move(type);
  k.unit = std::move(unit);
  k.doc = std::move(doc);
  keys_.push_back(std::move(k));
  return keys_.back();
}

Key& TableSchema::table_at(std::string name, std::ptrdiff_t offset,
                           std::shared_ptr<const TableSchema> child) {
  Key& k = add(std::move(name), "table", "", "");
  k.form = Key::Form::table;
  k.child = std::move(child);
  k.read = [offset](const Value& v, void* object, const Key& key, const std::string& path,
                    Complaints& complaints) {
    key.child->read(v, static_cast<char*>(object) + offset, path, complaints);
  };
  k.write = [offset, c = k.child](const void* object) -> std::optional<Value> {
    return c->write(static_cast<const char*>(object) + offset);
  };
  return k;
}

bool TableSchema::applies(const Key& key, const void* object) const {
  if (key.selector.empty()) return true;
  for (const Key& k : keys_)
    if (k.name == key.selector) {
      const std::optional<Value> v = k.write(object);
      const std::string* word = v ? v->as<std::string>() : nullptr;
      return word && std::count(key.selected_by.begin(), key.selected_by.end(), *word);
    }
  return false;
}

void TableSchema::complain_unknown(const Member& member, const std::string& path,
                                   Complaints& complaints) const {
  const bool is_table = member.value.as<Table>() || member.value.as<List>();
  const std::string what =
      fmt::format("{} '{}'", is_table && path.empty() ? "table" : "key", child_path(path, member.key));
  if (std::count(later_.begin(), later_.end(), member.key)) {
    complaints.error(member.key_at, fmt::format("{} is not supported yet; remove it", what));
    return;
  }
  std::vector<std::string> names;
  for (const Key& k : keys_) names.push_back(k.name);
  const std::string near = nearest_word(member.key, names);
  std::string advice;
  if (!near.empty()) {
    advice = fmt::format("did you mean '{}'?", child_path(path, near));
  } else {
    for (const Key& k : keys_)  // right key, wrong table
      if (k.form == Key::Form::table && k.child)
        for (const Key& inner : k.child->keys())
          if (inner.name == member.key)
            advice = fmt::format("did you mean '{}'?", child_path(path, k.name + "." + inner.name));
    if (advice.empty()) advice = fmt::format("known here: {}", join(names));
  }
  complaints.error(member.key_at, fmt::format("unknown {}; {}", what, advice));
}

void TableSchema::read(const Value& value, void* object, const std::string& path,
                       Complaints& complaints) const {
  const Table* table = value.as<Table>();
  if (!table) {
    complaints.error(value.at, fmt::format("{} is {}; it must be a table", path, value.kind_name()));
    return;
  }
  if (locate_) locate_(object, value.at);
  for (const Member& m : *table)
    if (std::none_of(keys_.begin(), keys_.end(), [&](const Key& k) { return k.name == m.key; }))
      complain_unknown(m, path, complaints);
  for (const Key& k : keys_)
    if (const Value* v = value.find(k.name)) k.read(*v, object, k, child_path(path, k.name), complaints);
  for (const Key& k : keys_) {
    const Value* v = value.find(k.name);
    const bool fits = applies(k, object);
    if (v && !fits) {
      std::vector<std::string> names;
      for (const Key& other : keys_)
        if (!other.selector.empty() && applies(other, object)) names.push_back(other.name);
      complaints.error(v->at, fmt::format("{} is for {} = {} only; {}", child_path(path, k.name), k.selector,
                                          in_quotes(k.selected_by),
                                          names.empty() ? "remove it" : "here there are: " + join(names)));
    }
    if (!v && fits && k.is_required)
      complaints.error(value.at, fmt::format("{} is missing; it is {}{}: {}", child_path(path, k.name),
                                             k.choices.empty() ? k.type : "one of " + in_quotes(k.choices),
                                             k.unit.empty() ? "" : " in " + k.unit, k.doc));
  }
}

Value TableSchema::write(const void* object) const {
  Table out;
  for (const Key& k : keys_)
    if (applies(k, object))
      if (std::optional<Value> v = k.write(object)) out.push_back({k.name, std::move(*v), {}});
  return Value(Value::Data(std::move(out)));
}

nlohmann::json TableSchema::json_schema() const {
  nlohmann::json properties = nlohmann::json::object(), required = nlohmann::json::array();
  for (const Key& k : keys_) {
    nlohmann::json j = k.json.is_null() ? nlohmann::json::object() : k.json;
    if (k.form == Key::Form::table) j = k.child->json_schema();
    if (k.form == Key::Form::list_of_tables) j = {{"type", "array"}, {"items", k.child->json_schema()}};
    if (k.form == Key::Form::named_tables)
      j = {{"type", "object"}, {"additionalProperties", k.child->json_schema()}};
    std::string doc = k.doc;
    if (!k.unit.empty()) doc += fmt::format(" Unit: {}.", k.unit);
    if (!k.selector.empty())
      doc += fmt::format(" Only with {} = {}.", k.selector, join(k.selected_by, " or "));
    j["description"] = doc;
    if (!k.choices.empty()) (j.value("type", "") == "array" ? j["items"] : j)["enum"] = k.choices;
    if (j.value("type", "") == "number" || j.value("type", "") == "integer") {
      if (k.limits.min) j[k.limits.above_min ? "exclusiveMinimum" : "minimum"] = *k.limits.min;
      if (k.limits.max) j["maximum"] = *k.limits.max;
    }
    if (k.write_default && !k.is_required)
      if (const auto v = k.write_default(nullptr)) {
        if (const double* d = v->as<double>()) j["default"] = *d;
        if (const std::int64_t* i = v->as<std::int64_t>()) j["default"] = *i;
        if (const bool* b = v->as<bool>()) j["default"] = *b;
        if (const std::string* s = v->as<std::string>()) j["default"] = *s;
      }
    properties[k.name] = j;
    if (k.is_required && k.selector.empty()) required.push_back(k.name);
  }
  nlohmann::json j = {
      {"type", "object"}, {"description", doc_}, {"additionalProperties", false}, {"properties", properties}};
  if (!required.empty()) j["required"] = required;
  return j;
}

// ---- what else follows from the description
// ---------------------------------------------------------------------

namespace {

std::string cell(std::string text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

void markdown_section(const TableSchema& schema, const std::string& heading, std::string& out) {
  const bool any_values = std::any_of(schema.keys().begin(), schema.keys().end(),
                                      [](const Key& k) { return k.form == Key::Form::value; });
  out += fmt::format("### `{}`\n\n{}\n", heading, schema.doc());
  if (any_values) {
    out += "\n| key | type | unit | default | meaning |\n|---|---|---|---|---|\n";
    for (const Key& k : schema.keys()) {
      if (k.form != Key::Form::value) continue;
      std::string fallback = k.is_required ? "**required**" : "–";
      if (!k.is_required && k.write_default)
        if (const auto v = k.write_default(nullptr)) fallback = fmt::format("`{}`", to_toml_inline(*v));
      std::string type = k.type;
      if (!k.choices.empty()) type = (k.type.starts_with("list") ? "list of " : "") + in_quotes(k.choices);
      std::string doc = k.doc;
      if (const std::string l = limits_text(k.limits); !l.empty()) doc += fmt::format(" Must be {}.", l);
      if (!k.selector.empty())
        doc += fmt::format(" Only with `{} = {}`.", k.selector, in_quotes(k.selected_by));
      out += fmt::format("| `{}`{} | {} | {} | {} | {} |\n", k.name, k.allowed_on_resume ? " ↻" : "",
                         cell(type), cell(k.unit.empty() ? "–" : k.unit), cell(fallback), cell(doc));
    }
  }
  for (const Key& k : schema.keys())
    if (k.form == Key::Form::table && k.child && heading.starts_with("[["))
      out += fmt::format("\n`{}` is a table: {} Its keys are listed under `{}`.\n", k.name, k.doc,
                         k.child->name());
  out += "\n";
}

void markdown_tables(const TableSchema& schema, const std::string& path, std::vector<std::string>& seen,
                     std::string& out) {
  for (const Key& k : schema.keys()) {
    if (!k.child) continue;
    const std::string full = child_path(path, k.name);
    if (std::count(seen.begin(), seen.end(), k.child->name())) continue;
    seen.push_back(k.child->name());
    std::string heading = "[" + full + "]";
    if (k.form == Key::Form::list_of_tables) heading = "[[" + full + "]]";
    if (k.form == Key::Form::named_tables) heading = "[" + full + ".NAME]";
    if (k.child->name().find(' ') != std::string::npos) heading = k.child->name();
    markdown_section(*k.child, heading, out);
    markdown_tables(*k.child, full, seen, out);
  }
}

void compare_into(const TableSchema& schema, const Value* a, const Value* b, const std::string& path,
                  std::vector<KeyDifference>& out);

void compare_key(const Key& k, const Value* a, const Value* b, const std::string& path,
                 std::vector<KeyDifference>& out) {
  if (!a && !b) return;
  if (a && b && *a == *b) return;
  const std::size_t before = out.size();
  if (k.form == Key::Form::table && a && b) {
    compare_into(*k.child, a, b, path, out);
  } else if (k.form == Key::Form::named_tables && a && b) {
    for (const Member& m : *a->as<Table>()) {
      const Value* other = b->find(m.key);
      if (other)
        compare_into(*k.child, &m.value, other, child_path(path, m.key), out);
      else
        out.push_back({child_path(path, m.key), to_toml_inline(m.value), "", false});
    }
    for (const Member& m : *b->as<Table>())
      if (!a->find(m.key)) out.push_back({child_path(path, m.key), "", to_toml_inline(m.value), false});
  } else if (k.form == Key::Form::list_of_tables && a && b &&
             a->as<List>()->size() == b->as<List>()->size()) {
    const List &la = *a->as<List>(), &lb = *b->as<List>();
    for (std::size_t i = 0; i < la.size(); ++i)
      if (!(la[i] == lb[i])) compare_into(*k.child, &la[i], &lb[i], fmt::format("{}.{}", path, i), out);
  } else if (k.form == Key::Form::list_of_tables) {
    auto count = [](const Value* v) { return fmt::format("{} entries", v ? v->as<List>()->size() : 0); };
    out.push_back({path, count(a), count(b), k.allowed_on_resume});
  }
  if (out.size() == before)
    out.push_back({path, a ? to_toml_inline(*a) : "", b ? to_toml_inline(*b) : "", k.allowed_on_resume});
}

void compare_into(const TableSchema& schema, const Value* a, const Value* b, const std::string& path,
                  std::vector<KeyDifference>& out) {
  for (const Key& k : schema.keys())
    compare_key(k, a->find(k.name), b->find(k.name), child_path(path, k.name), out);
}

}  // namespace

std::string schema_markdown(const TableSchema& schema) {
  std::string out;
  markdown_section(schema, schema.name(), out);
  std::vector<std::string> seen;
  markdown_tables(schema, "", seen, out);
  return out;
}

std::vector<KeyDifference> schema_compare(const TableSchema& schema, const Value& before,
                                          const Value& after) {
  std::vector<KeyDifference> out;
  compare_into(schema, &before, &after, "", out);
  return out;
}

}  // namespace talus
