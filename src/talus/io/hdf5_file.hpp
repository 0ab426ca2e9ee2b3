// Hdf5File: the few things Talus asks of HDF5, with errors that name the file and the object.
//
// Objects are addressed by path ("fclib_local/W/x"). Reading refuses what does not fit (a group where an
// array is expected, text where numbers are, more numbers than the file can hold) with an InputError; writing
// fails with a RunError that says what the system said. The library's own error stack never reaches the
// terminal.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace talus {

class Hdf5File {
 public:
  /// Opens an existing file for reading.
  static Hdf5File open(const std::string& path);
  /// Creates a file, replacing one that is there. The first `user_block` bytes (0, or a power of two ≥ 512)
  /// are left to the caller: HDF5 readers skip them.
  static Hdf5File create(const std::string& path, std::uint64_t user_block = 0);

  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File& operator=(Hdf5File&& other) noexcept;
  ~Hdf5File();
  /// Writes everything out and reports failure; the destructor closes silently.
  void close();

  const std::string& path() const { return path_; }

  // What is there
  bool exists(const std::string& object) const;
  bool is_group(const std::string& object) const;
  bool is_dataset(const std::string& object) const;
  /// Names of the links in a group ("/" for the root), in alphabetical order.
  std::vector<std::string> children(const std::string& group) const;
  /// Extents of a dataset; empty for a scalar.
  std::vector<std::uint64_t> shape(const std::string& dataset) const;
  /// A short name of what a dataset holds: "float64", "int32", "text", ...
  std::string type_name(const std::string& dataset) const;

  // Arrays. T is double, float, or a signed or unsigned integer of 8 to 64 bits. Integers are widened or
  // become floating point on reading; floating point never becomes an integer, and a value that does not fit
  // T is an error.
  template <class T>
  std::vector<T> read(const std::string& dataset) const {
    std::vector<T> values(element_count(dataset, sizeof(T)));
    read_raw(dataset, type_of<T>(), values.data(), values.size());
    return values;
  }
  /// Reads into memory of the right size; a dataset of another size is an error.
  template <class T>
  void read_into(const std::string& dataset, std::span<T> values) const {
    read_raw(dataset, type_of<T>(), values.data(), values.size());
  }
  /// The one number of a scalar or of an array of one.
  template <class T>
  T read_scalar(const std::string& dataset) const {
    T value{};
    read_raw(dataset, type_of<T>(), &value, 1);
    return value;
  }
  std::string read_text(const std::string& dataset) const;

  /// Groups on the way are made. An empty `shape` stands for one dimension of values.size().
  template <class T>
  void write(const std::string& dataset, std::span<const T> values, std::vector<std::uint64_t> shape = {}) {
    write_raw(dataset, type_of<T>(), values.data(), values.size(), std::move(shape));
  }
  template <class T>
  void write(const std::string& dataset, const std::vector<T>& values,
             std::vector<std::uint64_t> shape = {}) {
    write(dataset, std::span<const T>(values), std::move(shape));
  }
  /// An array of one number, as FCLib keeps its scalars.
  template <class T>
  void write_scalar(const std::string& dataset, T value) {
    write(dataset, std::span<const T>(&value, 1));
  }
  void write_text(const std::string& dataset, const std::string& text);
  void make_group(const std::string& group);

  // Attributes of a group or dataset ("/" for the root)
  bool has_attribute(const std::string& object, const std::string& name) const;
  template <class T>
  T attribute(const std::string& object, const std::string& name) const {
    T value{};
    read_attribute_raw(object, name, type_of<T>(), &value);
    return value;
  }
  std::string text_attribute(const std::string& object, const std::string& name) const;
  template <class T>
  void set_attribute(const std::string& object, const std::string& name, T value) {
    write_attribute_raw(object, name, type_of<T>(), &value);
  }
  void set_text_attribute(const std::string& object, const std::string& name, const std::string& text);

 private:
  enum class Type { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };
  template <class T>
  static constexpr Type type_of() {
    if constexpr (std::is_same_v<T, double>) {
      return Type::f64;
    } else if constexpr (std::is_same_v<T, float>) {
      return Type::f32;
    } else {
      static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
      constexpr bool is_signed = std::is_signed_v<T>;
      if constexpr (sizeof(T) == 1) return is_signed ? Type::i8 : Type::u8;
      if constexpr (sizeof(T) == 2) return is_signed ? Type::i16 : Type::u16;
      if constexpr (sizeof(T) == 4) return is_signed ? Type::i32 : Type::u32;
      if constexpr (sizeof(T) == 8) return is_signed ? Type::i64 : Type::u64;
    }
  }

  using Id = std::int64_t;  ///< HDF5's hid_t, without its header
  static Id native_type(Type type);

  Hdf5File(std::string path, Id file, bool writable)
      : path_(std::move(path)), file_(file), writable_(writable) {}
  [[noreturn]] void fail(const std::string& object, const std::string& what) const;
  std::size_t element_count(const std::string& dataset, std::size_t element_size) const;
  void read_raw(const std::string& dataset, Type type, void* data, std::size_t count) const;
  void write_raw(const std::string& dataset, Type type, const void* data, std::size_t count,
                 std::vector<std::uint64_t> shape);
  void read_attribute_raw(const std::string& object, const std::string& name, Type type, void* data) const;
  void write_attribute_raw(const std::string& object, const std::string& name, Type type, const void* data);

  std::string path_;
  Id file_ = -1;
  bool writable_ = false;
};

/// True when the file's first bytes (or those after a user block) are HDF5's.
bool looks_like_hdf5(const std::string& path);

}  // namespace talus
