// Schema: the description of a table of keys over a plain struct. From one description come the reader with
// its error messages, the writer, the comparison of two files, the reference in Markdown and the JSON schema.
//
//   TableSchema s("simulation", "Time and gravity.");
//   s.key("step", &SceneSimulation::step, "s", "Length of a time step.").positive();
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "talus/base/types.hpp"
#include "talus/io/schema_value.hpp"
#include "talus/math/vec.hpp"

namespace talus {

class TableSchema;

/// What numbers a key accepts.
struct Limits {
  std::optional<Real> min, max;
  bool above_min = false;                    ///< min itself is not allowed
  std::string hint;                          ///< added to the complaint: what would be right
  std::optional<Real> odd_below, odd_above;  ///< allowed, but worth a warning
};

/// One key. The functions take the struct that holds it as an untyped pointer; only TableSchema::key makes
/// them.
struct Key {
  enum class Form { value, table, list_of_tables, named_tables };
  std::string name, type, unit, doc;
  Form form = Form::value;
  Limits limits;
  std::vector<std::string> choices;        ///< allowed words
  std::vector<std::string> later_choices;  ///< words whose meaning comes later: refused by name
  bool is_required = false;
  bool allowed_on_resume = false;
  std::string selector;                      ///< this key is for some values of another key only ...
  std::vector<std::string> selected_by;      ///< ... namely these
  std::shared_ptr<const TableSchema> child;  ///< of tables
  nlohmann::json json;

  std::function<void(const Value&, void*, const Key&, const std::string& path, Complaints&)> read;
  std::function<std::optional<Value>(const void*)> write;  ///< empty: not set
  std::function<std::optional<Value>(const void*)> write_default;

  Key& positive(std::string hint = "") { return limit(0, {}, true, std::move(hint)); }
  Key& at_least(Real low, std::string hint = "") { return limit(low, {}, false, std::move(hint)); }
  Key& between(Real low, Real high, std::string hint = "") {
    return limit(low, high, false, std::move(hint));
  }
  Key& at_most(Real high, std::string hint);
  Key& odd_outside(Real low, Real high);
  Key& required() { return is_required = true, *this; }
  Key& resumable() { return allowed_on_resume = true, *this; }
  Key& only(std::string key, std::vector<std::string> values);
  Key& one_of(std::vector<std::string> words, std::vector<std::string> later = {});

 private:
  Key& limit(std::optional<Real> low, std::optional<Real> high, bool open, std::string hint);
};

/// Words of an enum, in the order of its values; specialised beside the schema that uses it.
template <class E>
struct EnumWords;

/// How a C++ type appears in a file. Specialise for a new type.
template <class T, class = void>
struct Codec;

class TableSchema {
 public:
  TableSchema(std::string name, std::string doc) : name_(std::move(name)), doc_(std::move(doc)) {}

  template <class T, class M>
  Key& key(std::string name, M T::*member, std::string unit, std::string doc);

  /// A table inside this one: [name.inner]
  template <class T, class M>
  Key& table(std::string name, M T::*member, std::shared_ptr<const TableSchema> child, std::string doc);
  template <class T, class M>
  Key& table(std::string name, std::optional<M> T::*member, std::shared_ptr<const TableSchema> child,
             std::string doc);
  /// The same where the member is known by its place in the struct only (see offset_in).
  template <class M>
  Key& field_at(std::string name, const M& fallback, std::ptrdiff_t offset, std::string unit,
                std::string doc);
  Key& table_at(std::string name, std::ptrdiff_t offset, std::shared_ptr<const TableSchema> child);
  /// [[name]]
  template <class T, class M>
  Key& list(std::string name, std::vector<M> T::*member, std::shared_ptr<const TableSchema> child,
            std::string doc);
  /// [name.ANYTHING]
  template <class T, class M>
  Key& named(std::string name, M T::*member, std::shared_ptr<const TableSchema> child, std::string doc);

  /// Keys that are known but whose physics is not there yet: refused by name.
  void later(std::vector<std::string> names) { later_ = std::move(names); }
  /// Keeps the place of the table in the struct, for complaints made after reading.
  template <class T>
  void located(Position T::*member) {
    locate_ = [member](void* object, const Position& at) { static_cast<T*>(object)->*member = at; };
  }

  const std::string& name() const { return name_; }
  const std::string& doc() const { return doc_; }
  const std::vector<Key>& keys() const { return keys_; }

  void read(const Value& value, void* object, const std::string& path, Complaints& complaints) const;
  Value write(const void* object) const;
  nlohmann::json json_schema() const;

 private:
  Key& add(std::string name, std::string type, std::string unit, std::string doc);
  void complain_unknown(const Member& member, const std::string& path, Complaints& complaints) const;
  bool applies(const Key& key, const void* object) const;

  std::string name_, doc_;
  std::vector<Key> keys_;
  std::vector<std::string> later_;
  std::function<void(void*, const Position&)> locate_;
};

/// Reference of a schema and all tables in it, as Markdown.
std::string schema_markdown(const TableSchema& schema);

struct KeyDifference {
  std::string key, before, after;
  bool allowed_on_resume = false;
};
/// Where two written tables differ, in the order of the schema.
std::vector<KeyDifference> schema_compare(const TableSchema& schema, const Value& before, const Value& after);

// ---- how types read and write
// ---------------------------------------------------------------------------------

/// What a codec needs to complain well.
struct ReadAt {
  const Key& key;
  const std::string& path;
  Complaints& complaints;
  /// "path is ..., it must be ..."
  void wrong_kind(const Value& v, std::string_view wanted) const;
  void wrong(const Value& v, const std::string& what) const;
};

/// Numbers, finite and within the key's limits. False (and a complaint) when it is none.
bool read_number(const Value& v, Real& out, const ReadAt& where);
bool read_whole(const Value& v, std::int64_t& out, std::int64_t low, std::int64_t high, const ReadAt& where);
bool read_vector(const Value& v, Vec3& out, const ReadAt& where);
bool read_word(const Value& v, std::string& out, const ReadAt& where);
Value write_vector(const Vec3& v);
nlohmann::json json_number();
nlohmann::json json_vector();

template <>
struct Codec<Real> {
  static std::string type() { return "number"; }
  static nlohmann::json json() { return json_number(); }
  static void read(const Value& v, Real& out, const ReadAt& where) { read_number(v, out, where); }
  static std::optional<Value> write(Real x) { return Value(Value::Data(x)); }
};

template <class T>
struct Codec<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static std::string type() { return "whole number"; }
  static nlohmann::json json() { return {{"type", "integer"}}; }
  static void read(const Value& v, T& out, const ReadAt& where) {
    std::int64_t i = 0;
    if (read_whole(v, i, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(), where))
      out = static_cast<T>(i);
  }
  static std::optional<Value> write(T x) { return Value(Value::Data(static_cast<std::int64_t>(x))); }
};

template <>
struct Codec<bool> {
  static std::string type() { return "true or false"; }
  static nlohmann::json json() { return {{"type", "boolean"}}; }
  static void read(const Value& v, bool& out, const ReadAt& where) {
    if (const bool* b = v.as<bool>())
      out = *b;
    else
      where.wrong_kind(v, "true or false");
  }
  static std::optional<Value> write(bool x) { return Value(Value::Data(x)); }
};

template <>
struct Codec<std::string> {
  static std::string type() { return "text"; }
  static nlohmann::json json() { return {{"type", "string"}}; }
  static void read(const Value& v, std::string& out, const ReadAt& where) { read_word(v, out, where); }
  /// Empty text means "not given".
  static std::optional<Value> write(const std::string& x) {
    if (x.empty()) return {};
    return Value(Value::Data(x));
  }
};

template <>
struct Codec<Vec3> {
  static std::string type() { return "[x, y, z]"; }
  static nlohmann::json json() { return json_vector(); }
  static void read(const Value& v, Vec3& out, const ReadAt& where) { read_vector(v, out, where); }
  static std::optional<Value> write(const Vec3& x) { return write_vector(x); }
};

template <>
struct Codec<std::array<int, 3>> {
  static std::string type() { return "[nx, ny, nz]"; }
  static nlohmann::json json() {
    return {{"type", "array"}, {"items", {{"type", "integer"}}}, {"minItems", 3}, {"maxItems", 3}};
  }
  static void read(const Value& v, std::array<int, 3>& out, const ReadAt& where);
  static std::optional<Value> write(const std::array<int, 3>& x);
};

/// A list of words.
template <>
struct Codec<std::vector<std::string>> {
  static std::string type() { return "list of words"; }
  static nlohmann::json json() { return {{"type", "array"}, {"items", {{"type", "string"}}}}; }
  static void read(const Value& v, std::vector<std::string>& out, const ReadAt& where);
  static std::optional<Value> write(const std::vector<std::string>& x);
};

template <class T>
struct Codec<std::optional<T>> {
  static std::string type() { return Codec<T>::type(); }
  static nlohmann::json json() { return Codec<T>::json(); }
  static void read(const Value& v, std::optional<T>& out, const ReadAt& where) {
    T x{};
    Codec<T>::read(v, x, where);
    out = std::move(x);
  }
  static std::optional<Value> write(const std::optional<T>& x) {
    return x ? Codec<T>::write(*x) : std::nullopt;
  }
};

template <class E>
struct Codec<E, std::enable_if_t<std::is_enum_v<E>>> {
  static std::string type() { return "word"; }
  static nlohmann::json json() { return {{"type", "string"}}; }
  static std::vector<std::string> words() {
    return std::vector<std::string>(std::begin(EnumWords<E>::words), std::end(EnumWords<E>::words));
  }
  static void read(const Value& v, E& out, const ReadAt& where) {
    std::string word;
    if (!read_word(v, word, where)) return;
    const auto all = words();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i] == word) out = static_cast<E>(i);
  }
  static std::optional<Value> write(E x) {
    return Value(Value::Data(std::string(EnumWords<E>::words[static_cast<std::size_t>(x)])));
  }
};

/// Where a member is inside its struct, for structs that list their members by reference (SolverOptions).
template <class T, class M>
std::ptrdiff_t offset_in(const T& object, const M& member) {
  return reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&object);
}

// ---- the builders
// -----------------------------------------------------------------------------------------------

template <class T, class M>
Key& TableSchema::key(std::string name, M T::*member, std::string unit, std::string doc) {
  Key& k = add(std::move(name), Codec<M>::type(), std::move(unit), std::move(doc));
  k.json = Codec<M>::json();
  if constexpr (std::is_enum_v<M>) k.choices = Codec<M>::words();
  k.read = [member](const Value& v, void* object, const Key& key, const std::string& path,
                    Complaints& complaints) {
    Codec<M>::read(v, static_cast<T*>(object)->*member, ReadAt{key, path, complaints});
  };
  k.write = [member](const void* object) { return Codec<M>::write(static_cast<const T*>(object)->*member); };
  k.write_default = [member](const void*) { return Codec<M>::write(T{}.*member); };
  return k;
}

template <class M>
Key& TableSchema::field_at(std::string name, const M& fallback, std::ptrdiff_t offset, std::string unit,
                           std::string doc) {
  Key& k = add(std::move(name), Codec<M>::type(), std::move(unit), std::move(doc));
  k.json = Codec<M>::json();
  k.read = [offset](const Value& v, void* object, const Key& key, const std::string& path,
                    Complaints& complaints) {
    Codec<M>::read(v, *reinterpret_cast<M*>(static_cast<char*>(object) + offset),
                   ReadAt{key, path, complaints});
  };
  k.write = [offset](const void* object) {
    return Codec<M>::write(*reinterpret_cast<const M*>(static_cast<const char*>(object) + offset));
  };
  k.write_default = [fallback](const void*) { return Codec<M>::write(fallback); };
  return k;
}

template <class T, class M>
Key& TableSchema::table(std::string name, M T::*member, std::shared_ptr<const TableSchema> child,
                        std::string doc) {
  Key& k = add(std::move(name), "table", "", std::move(doc));
  k.form = Key::Form::table;
  k.child = std::move(child);
  k.read = [member](const Value& v, void* object, const Key& key, const std::string& path,
                    Complaints& complaints) {
    key.child->read(v, &(static_cast<T*>(object)->*member), path, complaints);
  };
  k.write = [member, c = k.child](const void* object) -> std::optional<Value> {
    return c->write(&(static_cast<const T*>(object)->*member));
  };
  return k;
}

template <class T, class M>
Key& TableSchema::table(std::string name, std::optional<M> T::*member,
                        std::shared_ptr<const TableSchema> child, std::string doc) {
  Key& k = add(std::move(name), "table", "", std::move(doc));
  k.form = Key::Form::table;
  k.child = std::move(child);
  k.read = [member](const Value& v, void* object, const Key& key, const std::string& path,
                    Complaints& complaints) {
    M inner{};
    key.child->read(v, &inner, path, complaints);
    static_cast<T*>(object)->*member = std::move(inner);
  };
  k.write = [member, c = k.child](const void* object) -> std::optional<Value> {
    const std::optional<M>& inner = static_cast<const T*>(object)->*member;
    return inner ? std::optional<Value>(c->write(&*inner)) : std::nullopt;
  };
  return k;
}

template <class T, class M>
Key& TableSchema::list(std::string name, std::vector<M> T::*member, std::shared_ptr<const TableSchema> child,
                       std::string doc) {
  Key& k = add(std::move(name), "list of tables", "", std::move(doc));
  k.form = Key::Form::list_of_tables;
  k.child = std::move(child);
  k.read = [member](const Value& v, void* object, const Key& key, const std::string& path,
                    Complaints& complaints) {
    const List* list = v.as<List>();
    if (!list) {
      complaints.error(v.at, "[" + path + "] is one table; it must be a list: write [[" + path + "]]");
      return;
    }
    auto& items = static_cast<T*>(object)->*member;
    for (std::size_t i = 0; i < list->size(); ++i) {
      M item{};
      key.child->read((*list)[i], &item, path + "." + std::to_string(i), complaints);
      items.push_back(std::move(item));
    }
  };
  k.write = [member, c = k.child](const void* object) -> std::optional<Value> {
    List out;
    for (const M& item : static_cast<const T*>(object)->*member) out.push_back(c->write(&item));
    if (out.empty()) return {};
    return Value(Value::Data(std::move(out)));
  };
  return k;
}

template <class T, class M>
Key& TableSchema::named(std::string name, M T::*member, std::shared_ptr<const TableSchema> child,
                        std::string doc) {
  Key& k = add(std::move(name), "table of tables", "", std::move(doc));
  k.form = Key::Form::named_tables;
  k.child = std::move(child);
  k.read = [member](const Value& v, void* object, const Key& key, const std::string& path,
                    Complaints& complaints) {
    const Table* table = v.as<Table>();
    if (!table) {
      complaints.error(v.at, path + " must be written as tables with names: [" + path + ".NAME]");
      return;
    }
    for (const Member& m : *table)
      key.child->read(m.value, &(static_cast<T*>(object)->*member)[m.key], path + "." + m.key, complaints);
  };
  k.write = [member, c = k.child](const void* object) -> std::optional<Value> {
    Table out;
    for (const auto& [item_name, item] : static_cast<const T*>(object)->*member)
      out.push_back({item_name, c->write(&item), {}});
    if (out.empty()) return {};
    return Value(Value::Data(std::move(out)));
  };
  return k;
}

}  // namespace talus
