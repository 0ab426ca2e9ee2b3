#include "talus/io/hdf5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>
#include <utility>

#include "talus/base/error.hpp"

namespace talus {
namespace {

static_assert(std::is_same_v<hid_t, std::int64_t>);

/// An HDF5 identifier with the function that closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// The library prints its error stack by default; we turn it into one sentence instead.
void quiet_library() {
  static const bool done = [] {
    // A file whose last bytes cannot be written (disk full) cannot be closed either; the library's clean-up at exit
    // would try again, on freed memory. We close what we open ourselves.
    H5dont_atexit();
    H5open();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return true;
  }();
  (void)done;
}

/// What the error stack says at its innermost level, where the cause is; the system's message where there is
/// one.
std::string library_reason() {
  std::string reason;
  const auto visit = [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
    auto& text = *static_cast<std::string*>(data);
    if (!error->desc || !text.empty()) return 0;
    const char* system = std::strstr(error->desc, "error message = '");
    if (system) {
      const char* begin = system + std::strlen("error message = '");
      text.assign(begin, std::strcspn(begin, "'"));
    } else {
      text = error->desc;
    }
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &reason);
  return reason;
}

/// Chunked data must be unpacked to be counted: no filter of HDF5 packs better than deflate's 1032 to 1.
constexpr std::uint64_t best_packing = 1032;

std::string class_name(hid_t type) {
  const std::size_t bits = 8 * H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
    case H5T_FLOAT:
      return fmt::format("float{}", bits);
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return "compound";
    case H5T_ENUM:
      return "enumeration";
    default:
      return "no numbers";
  }
}

/// An integer that does not fit must not be clamped silently, as the library does without this callback.
H5T_conv_ret_t refuse_overflow(H5T_conv_except_t kind, hid_t, hid_t, void*, void*, void* seen) {
  if (kind == H5T_CONV_EXCEPT_PRECISION) return H5T_CONV_UNHANDLED;
  *static_cast<bool*>(seen) = true;
  return H5T_CONV_ABORT;
}

}  // namespace

Hdf5File::Id Hdf5File::native_type(Type type) {
  switch (type) {
    case Type::i8:
      return H5T_NATIVE_INT8;
    case Type::u8:
      return H5T_NATIVE_UINT8;
    case Type::i16:
      return H5T_NATIVE_INT16;
    case Type::u16:
      return H5T_NATIVE_UINT16;
    case Type::i32:
      return H5T_NATIVE_INT32;
    case Type::u32:
      return H5T_NATIVE_UINT32;
    case Type::i64:
      return H5T_NATIVE_INT64;
    case Type::u64:
      return H5T_NATIVE_UINT64;
    case Type::f32:
      return H5T_NATIVE_FLOAT;
    case Type::f64:
      return H5T_NATIVE_DOUBLE;
  }
  return -1;
}

Hdf5File Hdf5File::open(const std::string& path) {
  quiet_library();
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw InputError(fmt::format("{}: no such file", path));
  if (std::filesystem::is_directory(path, error))
    throw InputError(fmt::format("{}: is a directory, an HDF5 file is wanted", path));
  if (std::FILE* f = std::fopen(path.c_str(), "rb"))
    std::fclose(f);
  else
    throw InputError(fmt::format("{}: cannot be read ({})", path, std::strerror(errno)));
  if (!looks_like_hdf5(path)) throw InputError(fmt::format("{}: is not an HDF5 file", path));
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0)
    throw InputError(fmt::format("{}: damaged or incomplete HDF5 file ({})", path, library_reason()));
  return Hdf5File(path, file, false);
}

Hdf5File Hdf5File::create(const std::string& path, std::uint64_t user_block) {
  quiet_library();
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  if (user_block) H5Pset_userblock(creation, user_block);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT);
  if (file < 0) throw RunError(fmt::format("{}: cannot be created ({})", path, library_reason()));
  return Hdf5File(path, file, true);
}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)), writable_(other.writable_) {}

Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(writable_, other.writable_);
  return *this;
}

Hdf5File::~Hdf5File() {
  if (file_ >= 0) H5Fclose(file_);
}

void Hdf5File::close() {
  if (file_ < 0) return;
  if (writable_ && H5Fflush(file_, H5F_SCOPE_LOCAL) < 0) fail("", "cannot be written out");
  if (H5Fclose(std::exchange(file_, -1)) < 0) fail("", "cannot be closed");
  H5garbage_collect();  // the library's own store of freed memory grows with every file otherwise
}

void Hdf5File::fail(const std::string& object, const std::string& what) const {
  const std::string reason = library_reason();
  const std::string message = fmt::format("{}{}{}: {}{}", path_, object.empty() ? "" : ": ", object, what,
                                          reason.empty() ? "" : fmt::format(" ({})", reason));
  H5Eclear2(H5E_DEFAULT);
  if (writable_) throw RunError(message);
  throw InputError(message);
}

bool Hdf5File::exists(const std::string& object) const {
  if (object == "/") return true;
  // H5Lexists fails where a group on the way is missing: ask for each in turn.
  for (std::size_t slash = object.find('/', 1);; slash = object.find('/', slash + 1)) {
    const std::string part = object.substr(0, slash);
    if (H5Lexists(file_, part.c_str(), H5P_DEFAULT) <= 0 ||
        H5Oexists_by_name(file_, part.c_str(), H5P_DEFAULT) <= 0) {
      H5Eclear2(H5E_DEFAULT);
      return false;
    }
    if (slash == std::string::npos) return true;
  }
}

namespace {
bool has_type(hid_t file, const std::string& object, H5I_type_t wanted) {
  const Handle id(H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose);
  const bool yes = id.ok() && H5Iget_type(id) == wanted;
  H5Eclear2(H5E_DEFAULT);
  return yes;
}
}  // namespace

bool Hdf5File::is_group(const std::string& object) const {
  return exists(object) && has_type(file_, object, H5I_GROUP);
}

bool Hdf5File::is_dataset(const std::string& object) const {
  return exists(object) && has_type(file_, object, H5I_DATASET);
}

std::vector<std::string> Hdf5File::children(const std::string& group) const {
  if (!is_group(group)) fail(group, "no such group");
  const Handle id(H5Gopen2(file_, group.c_str(), H5P_DEFAULT), H5Gclose);
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
    static_cast<std::vector<std::string>*>(data)->push_back(name);
    return 0;
  };
  if (H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0) fail(group, "damaged group");
  return names;
}

namespace {
/// Extents of an open dataset; false when they cannot be told.
bool extents(hid_t dataset, std::vector<std::uint64_t>& shape) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  if (!space.ok()) return false;
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || H5Sget_simple_extent_type(space) == H5S_NULL) return false;
  std::vector<hsize_t> dims(rank);
  if (rank > 0 && H5Sget_simple_extent_dims(space, dims.data(), nullptr) < 0) return false;
  shape.assign(dims.begin(), dims.end());
  return true;
}
}  // namespace

std::vector<std::uint64_t> Hdf5File::shape(const std::string& dataset) const {
  if (!is_dataset(dataset)) fail(dataset, "no such dataset");
  const Handle id(H5Dopen2(file_, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  std::vector<std::uint64_t> result;
  if (!id.ok() || !extents(id, result)) fail(dataset, "damaged dataset");
  return result;
}

std::string Hdf5File::type_name(const std::string& dataset) const {
  if (!is_dataset(dataset)) fail(dataset, "no such dataset");
  const Handle id(H5Dopen2(file_, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle type(H5Dget_type(id), H5Tclose);
  if (!type.ok()) fail(dataset, "damaged dataset");
  return class_name(type);
}

std::size_t Hdf5File::element_count(const std::string& dataset, std::size_t element_size) const {
  const std::vector<std::uint64_t> dims = shape(dataset);
  std::uint64_t count = 1;
  for (const std::uint64_t d : dims)
    if (__builtin_mul_overflow(count, d, &count)) fail(dataset, "its extents are beyond any file");
  // A damaged header may claim any size: believe it only as far as the stored bytes can reach.
  struct stat info {};
  const Handle id(H5Dopen2(file_, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle type(H5Dget_type(id), H5Tclose);
  const Handle creation(H5Dget_create_plist(id), H5Pclose);
  if (!type.ok() || !creation.ok() || ::stat(path_.c_str(), &info) != 0) fail(dataset, "damaged dataset");
  const std::uint64_t stored = H5Tget_size(type);
  const std::uint64_t most =
      static_cast<std::uint64_t>(info.st_size) * (H5Pget_nfilters(creation) > 0 ? best_packing : 1);
  if (stored == 0 || count > most / stored)
    fail(dataset,
         fmt::format("says it holds {} values, more than the file of {} bytes can", count, info.st_size));
  if (count > SIZE_MAX / element_size) fail(dataset, "too large for this machine");
  return count;
}

void Hdf5File::read_raw(const std::string& dataset, Type type, void* data, std::size_t count) const {
  if (!is_dataset(dataset))
    fail(dataset, is_group(dataset) ? "is a group, an array is wanted" : "is missing");
  if (element_count(dataset, 1) != count)
    fail(dataset, fmt::format("has {} values where {} are wanted", element_count(dataset, 1), count));
  const Handle id(H5Dopen2(file_, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle stored(H5Dget_type(id), H5Tclose);
  if (!stored.ok()) fail(dataset, "damaged dataset");
  const H5T_class_t kind = H5Tget_class(stored);
  const bool wants_float = type == Type::f32 || type == Type::f64;
  if (kind != H5T_INTEGER && !(kind == H5T_FLOAT && wants_float))
    fail(dataset, fmt::format("holds {} where {} are wanted", class_name(stored),
                              wants_float ? "numbers" : "integers"));
  if (count == 0) return;
  bool overflow = false;
  const Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  H5Pset_type_conv_cb(transfer, refuse_overflow, &overflow);
  if (H5Dread(id, native_type(type), H5S_ALL, H5S_ALL, transfer, data) >= 0) return;
  if (overflow) {
    H5Eclear2(H5E_DEFAULT);
    fail(dataset, fmt::format("holds {} that do not fit the wanted range", class_name(stored)));
  }
  fail(dataset, "cannot be read");
}

std::string Hdf5File::read_text(const std::string& dataset) const {
  if (!is_dataset(dataset)) fail(dataset, is_group(dataset) ? "is a group, text is wanted" : "is missing");
  const Handle id(H5Dopen2(file_, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle stored(H5Dget_type(id), H5Tclose);
  if (!stored.ok() || H5Tget_class(stored) != H5T_STRING) fail(dataset, "holds no text");
  if (element_count(dataset, 1) != 1) fail(dataset, "is not one text");
  if (H5Tis_variable_str(stored) > 0) {
    char* text = nullptr;
    if (H5Dread(id, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) < 0 || !text)
      fail(dataset, "cannot be read");
    std::string result(text);
    H5free_memory(text);
    return result;
  }
  std::string result(H5Tget_size(stored), '\0');
  if (H5Dread(id, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, result.data()) < 0) fail(dataset, "cannot be read");
  result.resize(std::strlen(result.c_str()));
  return result;
}

namespace {
/// Creation properties under which groups on the way are made.
hid_t with_parents() {
  const hid_t properties = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(properties, 1);
  return properties;
}
/// Fixed-length, null-terminated text, as HDF5's lite interface (and so FCLib) writes it.
hid_t text_type(const std::string& text) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, text.size() + 1);
  return type;
}
}  // namespace

void Hdf5File::write_raw(const std::string& dataset, Type type, const void* data, std::size_t count,
                         std::vector<std::uint64_t> shape) {
  if (shape.empty()) shape = {count};
  if (std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>()) != count)
    fail(dataset, "shape and number of values differ");
  const std::vector<hsize_t> dims(shape.begin(), shape.end());
  const Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
  const Handle parents(with_parents(), H5Pclose);
  const hid_t native = native_type(type);
  const Handle id(H5Dcreate2(file_, dataset.c_str(), native, space, parents, H5P_DEFAULT, H5P_DEFAULT),
                  H5Dclose);
  if (!id.ok()) fail(dataset, "cannot be created");
  if (count > 0 && H5Dwrite(id, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    fail(dataset, "cannot be written");
}

void Hdf5File::write_text(const std::string& dataset, const std::string& text) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle parents(with_parents(), H5Pclose);
  const Handle type(text_type(text), H5Tclose);
  const Handle id(H5Dcreate2(file_, dataset.c_str(), type, space, parents, H5P_DEFAULT, H5P_DEFAULT),
                  H5Dclose);
  if (!id.ok()) fail(dataset, "cannot be created");
  if (H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.c_str()) < 0) fail(dataset, "cannot be written");
}

void Hdf5File::make_group(const std::string& group) {
  if (exists(group)) return;
  const Handle parents(with_parents(), H5Pclose);
  const Handle id(H5Gcreate2(file_, group.c_str(), parents, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  if (!id.ok()) fail(group, "cannot be created");
}

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
  const bool yes = exists(object) && H5Aexists_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
  H5Eclear2(H5E_DEFAULT);
  return yes;
}

void Hdf5File::read_attribute_raw(const std::string& object, const std::string& name, Type type,
                                  void* data) const {
  const std::string where = object + "@" + name;
  if (!has_attribute(object, name)) fail(where, "is missing");
  const Handle id(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Handle stored(H5Aget_type(id), H5Tclose);
  const Handle space(H5Aget_space(id), H5Sclose);
  if (!stored.ok() || !space.ok()) fail(where, "damaged attribute");
  const H5T_class_t kind = H5Tget_class(stored);
  const bool wants_float = type == Type::f32 || type == Type::f64;
  if (kind != H5T_INTEGER && !(kind == H5T_FLOAT && wants_float)) fail(where, "holds no such number");
  if (H5Sget_simple_extent_npoints(space) != 1) fail(where, "is not one number");
  if (H5Aread(id, native_type(type), data) < 0) fail(where, "cannot be read");
}

std::string Hdf5File::text_attribute(const std::string& object, const std::string& name) const {
  const std::string where = object + "@" + name;
  if (!has_attribute(object, name)) fail(where, "is missing");
  const Handle id(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Handle stored(H5Aget_type(id), H5Tclose);
  const Handle space(H5Aget_space(id), H5Sclose);
  if (!stored.ok() || !space.ok() || H5Tget_class(stored) != H5T_STRING) fail(where, "holds no text");
  if (H5Sget_simple_extent_npoints(space) != 1) fail(where, "is not one text");
  if (H5Tis_variable_str(stored) > 0) {
    char* text = nullptr;
    if (H5Aread(id, stored, &text) < 0 || !text) fail(where, "cannot be read");
    std::string result(text);
    H5free_memory(text);
    return result;
  }
  std::string result(H5Tget_size(stored), '\0');
  if (H5Aread(id, stored, result.data()) < 0) fail(where, "cannot be read");
  result.resize(std::strlen(result.c_str()));
  return result;
}

void Hdf5File::write_attribute_raw(const std::string& object, const std::string& name, Type type,
                                   const void* data) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const hid_t native = native_type(type);
  const Handle id(H5Acreate_by_name(file_, object.c_str(), name.c_str(), native, space, H5P_DEFAULT,
                                    H5P_DEFAULT, H5P_DEFAULT),
                  H5Aclose);
  if (!id.ok() || H5Awrite(id, native, data) < 0) fail(object + "@" + name, "cannot be written");
}

void Hdf5File::set_text_attribute(const std::string& object, const std::string& name,
                                  const std::string& text) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle type(text_type(text), H5Tclose);
  const Handle id(H5Acreate_by_name(file_, object.c_str(), name.c_str(), type, space, H5P_DEFAULT,
                                    H5P_DEFAULT, H5P_DEFAULT),
                  H5Aclose);
  if (!id.ok() || H5Awrite(id, type, text.c_str()) < 0) fail(object + "@" + name, "cannot be written");
}

bool looks_like_hdf5(const std::string& path) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return false;
  bool found = false;
  // The signature stands at 0 or, after a user block, at 512, 1024, 2048, ... (HDF5 file format,
  // "superblock").
  for (long offset = 0; !found && offset <= (1 << 20); offset = offset == 0 ? 512 : 2 * offset) {
    unsigned char bytes[8];
    if (std::fseek(file, offset, SEEK_SET) != 0 || std::fread(bytes, 1, 8, file) != 8) break;
    found = std::memcmp(bytes, signature, 8) == 0;
  }
  std::fclose(file);
  return found;
}

}  // namespace talus
