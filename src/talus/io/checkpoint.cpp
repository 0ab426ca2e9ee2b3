#include "talus/io/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>

#include "talus/base/error.hpp"
#include "talus/base/hash.hpp"
#include "talus/io/hdf5_file.hpp"
#include "talus/io/output_file.hpp"
#include "talus/io/version.hpp"

namespace talus {
namespace {

constexpr std::uint64_t block_size = 512;
constexpr const char* magic = "TALUS CHECKPOINT 1";  ///< the number is that of the layout

// ---- user block: what, size, checksum ----

struct Content {
  std::uint64_t bytes = 0, checksum = 0;
};

/// Size and checksum of everything after the user block.
Content content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(block_size);
  Content content;
  Hash64 hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto got = static_cast<std::size_t>(in.gcount());
    std::fill(buffer.begin() + got, buffer.begin() + (got + 7) / 8 * 8, '\0');
    for (std::size_t k = 0; k < got; k += 8) {
      std::uint64_t word;
      std::memcpy(&word, &buffer[k], 8);
      hash.add(word);
    }
    content.bytes += got;
  }
  hash.add(content.bytes);
  content.checksum = hash.value();
  return content;
}

std::string user_block(const Content& content) {
  std::string text = fmt::format("{}\nbytes {}\nchecksum {:016x}\n", magic, content.bytes, content.checksum);
  text.resize(block_size, '\0');
  return text;
}

void write_user_block(const std::filesystem::path& path) {
  const std::string block = user_block(content_of(path));
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool ok = descriptor >= 0 &&
                  ::pwrite(descriptor, block.data(), block.size(), 0) == static_cast<ssize_t>(block.size()) &&
                  ::fsync(descriptor) == 0;
  const std::string reason = system_reason();
  if (descriptor >= 0) ::close(descriptor);
  if (!ok) throw RunError(fmt::format("{}: cannot be written ({})", path.string(), reason));
}

// ---- arrays of small structs as arrays of numbers ----

/// How an element of a field is stored: as so many numbers of one type.
template <class T>
struct Stored {
  using Number = T;
};
template <>
struct Stored<Mobility> {
  using Number = std::uint8_t;
};
template <>
struct Stored<Vec3> {
  using Number = Real;
};
template <>
struct Stored<Quat> {
  using Number = Real;  // x, y, z, w
};
template <>
struct Stored<Twist> {
  using Number = Real;
};

template <class T>
void write_array(Hdf5File& file, const std::string& name, const Array<T>& values) {
  using Number = typename Stored<T>::Number;
  constexpr std::uint64_t per_item = sizeof(T) / sizeof(Number);
  static_assert(per_item * sizeof(Number) == sizeof(T));
  const std::span<const Number> numbers(reinterpret_cast<const Number*>(values.data()),
                                        values.size() * per_item);
  file.write(name, numbers,
             per_item == 1 ? std::vector<std::uint64_t>{values.size()}
                           : std::vector<std::uint64_t>{values.size(), per_item});
}

template <class T>
void read_array(const Hdf5File& file, const std::string& name, Array<T>& values) {
  using Number = typename Stored<T>::Number;
  constexpr std::uint64_t per_item = sizeof(T) / sizeof(Number);
  const std::vector<std::uint64_t> shape = file.shape(name);
  const bool fits = per_item == 1 ? shape.size() == 1 : shape.size() == 2 && shape[1] == per_item;
  if (!fits)
    throw InputError(fmt::format("{}: {}: has another shape than this version writes", file.path(), name));
  if (shape[0] > static_cast<std::uint64_t>(INT32_MAX))
    throw InputError(fmt::format("{}: {}: too many items for one process", file.path(), name));
  const std::vector<Number> numbers = file.read<Number>(name);
  values.resize(shape[0]);
  if (!numbers.empty())  // memcpy takes no null, not even for nothing
    std::memcpy(static_cast<void*>(values.data()), numbers.data(), numbers.size() * sizeof(Number));
}

// ---- the parts of the state ----

void write_bodies(Hdf5File& file, const Bodies& bodies) {
  for_each_field(bodies, [&](const char* name, Sent sent, const auto& field) {
    if (sent != Sent::never) write_array(file, std::string("bodies/") + name, field);
  });
  file.set_attribute<Local>("bodies", "owned", bodies.owned);
}

Bodies read_bodies(const Hdf5File& file, const World& world) {
  Bodies bodies;
  for_each_field(bodies, [&](const char* name, Sent sent, auto& field) {
    if (sent != Sent::never) read_array(file, std::string("bodies/") + name, field);
  });
  bodies.owned = file.attribute<Local>("bodies", "owned");
  const Local n = bodies.size();
  for_each_field(bodies, [&](const char* name, Sent, const auto& field) {
    if (static_cast<Local>(field.size()) != n)
      throw InputError(fmt::format("{}: bodies/{} has {} entries where the others have {}", file.path(), name,
                                   field.size(), n));
  });
  if (bodies.owned != n)
    throw InputError(fmt::format("{}: bodies: owned is not the number of bodies", file.path()));
  const auto within = [](Local index, Local low, std::size_t size) {
    return index >= low && index < static_cast<Local>(size);
  };
  for (Local i = 0; i < n; ++i)
    if (!within(bodies.shape[i], 0, world.shapes.size()) ||
        !within(bodies.material[i], 0, world.materials.size()) ||
        !within(bodies.name[i], -1, world.names.size()) || bodies.mobility[i] > Mobility::prescribed)
      throw InputError(fmt::format("{}: body {} does not fit the scene's shapes, materials and names",
                                   file.path(), bodies.id[i]));
  return bodies;
}

void write_warm_start(Hdf5File& file, const WarmStart& warm) {
  const std::size_t n = warm.key.size();
  std::vector<Global> ids(n);
  for (std::size_t k = 0; k < n; ++k) ids[k] = warm.key[k].low;
  file.write("warm_start/low", ids);
  for (std::size_t k = 0; k < n; ++k) ids[k] = warm.key[k].high;
  file.write("warm_start/high", ids);
  std::vector<std::uint32_t> features(n);
  for (std::size_t k = 0; k < n; ++k) features[k] = warm.key[k].feature;
  file.write("warm_start/feature", features);
  write_array(file, "warm_start/impulse", warm.impulse);
  write_array(file, "warm_start/slip", warm.slip);
}

WarmStart read_warm_start(const Hdf5File& file) {
  WarmStart warm;
  Array<Global> low, high;
  Array<std::uint32_t> feature;
  read_array(file, "warm_start/low", low);
  read_array(file, "warm_start/high", high);
  read_array(file, "warm_start/feature", feature);
  read_array(file, "warm_start/impulse", warm.impulse);
  read_array(file, "warm_start/slip", warm.slip);
  const std::size_t n = low.size();
  for (const std::size_t other : {high.size(), feature.size(), warm.impulse.size(), warm.slip.size()})
    if (other != n) throw InputError(fmt::format("{}: warm_start: its arrays differ in length", file.path()));
  warm.key.resize(n);
  for (std::size_t k = 0; k < n; ++k) warm.key[k] = {low[k], high[k], feature[k]};
  return warm;
}

void require_whole(const std::filesystem::path& path) {
  const std::string damage = checkpoint_damage(path);
  if (!damage.empty()) throw InputError(fmt::format("{}: {}", path.string(), damage));
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const World& world, const RunState& run,
                      const std::string& scene) {
  const std::filesystem::path part = path.string() + ".part";
  try {
    Hdf5File file = Hdf5File::create(part.string(), block_size);
    file.set_text_attribute("/", "version", version());
    file.write_text("scene", scene);
    file.write_scalar<Global>("world/step", world.step);
    file.write_scalar<Real>("world/time", world.time);
    file.write_scalar<Real>("world/energy/dissipated", world.energy.dissipated);
    file.write_scalar<Real>("world/energy/drive_work", world.energy.drive_work);
    file.write_scalar<Real>("world/energy/initial", world.energy.initial);
    write_bodies(file, world.bodies);
    write_warm_start(file, world.warm_start);
    for_each_total(run.totals, [&](const char* name, auto value) {
      file.write_scalar(std::string("run/totals/") + name, value);
    });
    file.write("run/frame_times", run.frame_times);
    file.write_scalar<Real>("run/energy_scale", run.energy_scale);
    file.close();
    write_user_block(part);
  } catch (const Error&) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw;
  }
  if (::rename(part.c_str(), path.c_str()) != 0)
    throw RunError(fmt::format("{}: cannot be given its name ({})", path.string(), system_reason()));
  sync_directory(path.parent_path());
}

bool looks_like_checkpoint(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string first;
  return std::getline(in, first) && first.rfind("TALUS CHECKPOINT ", 0) == 0;
}

std::string checkpoint_damage(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return "cannot be read";
  std::string block(block_size, '\0');
  in.read(block.data(), block_size);
  if (static_cast<std::uint64_t>(in.gcount()) < block_size)
    return "is shorter than a checkpoint's first block";
  if (block.rfind(std::string(magic) + "\n", 0) != 0)
    return looks_like_checkpoint(path) ? "was written by a version with another layout"
                                       : "is not a checkpoint";
  const Content content = content_of(path);
  if (block == user_block(content)) return {};
  unsigned long long stated = 0;
  std::sscanf(block.c_str() + std::strlen(magic), " bytes %llu", &stated);
  if (stated != content.bytes)
    return fmt::format("is damaged: {} bytes where {} were written", content.bytes, stated);
  return "is damaged: its checksum is wrong";
}

CheckpointInfo read_checkpoint_info(const std::filesystem::path& path) {
  require_whole(path);
  const Hdf5File file = Hdf5File::open(path.string());
  CheckpointInfo info;
  info.version = file.text_attribute("/", "version");
  info.scene = file.read_text("scene");
  info.step = file.read_scalar<Global>("world/step");
  info.time = file.read_scalar<Real>("world/time");
  const auto length = [&](const char* name) {
    const auto shape = file.shape(name);
    return shape.empty() ? Global{0} : static_cast<Global>(shape[0]);
  };
  info.bodies = length("bodies/id");
  info.contacts = length("warm_start/low");
  info.frames = length("run/frame_times");
  return info;
}

void read_checkpoint(const std::filesystem::path& path, World& world, RunState& run) {
  require_whole(path);
  const Hdf5File file = Hdf5File::open(path.string());
  RunState state;
  for_each_total(state.totals, [&](const char* name, auto& value) {
    value = file.read_scalar<std::remove_reference_t<decltype(value)>>(std::string("run/totals/") + name);
  });
  state.frame_times = file.read<double>("run/frame_times");
  state.energy_scale = file.read_scalar<Real>("run/energy_scale");
  EnergyLedger energy;
  energy.dissipated = file.read_scalar<Real>("world/energy/dissipated");
  energy.drive_work = file.read_scalar<Real>("world/energy/drive_work");
  energy.initial = file.read_scalar<Real>("world/energy/initial");
  const Global step = file.read_scalar<Global>("world/step");
  const Real time = file.read_scalar<Real>("world/time");
  if (step < 0 || !std::isfinite(time))
    throw InputError(fmt::format("{}: no such step or time", path.string()));
  WarmStart warm = read_warm_start(file);
  Bodies bodies = read_bodies(file, world);

  world.bodies = std::move(bodies);
  world.warm_start = std::move(warm);
  world.energy = energy;
  world.step = step;
  world.time = time;
  run = std::move(state);
}

// ---- the directory ----

std::vector<std::filesystem::path> CheckpointStore::list() const {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("step_", 0) == 0 && entry.path().extension() == ".hdf5") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end(), std::greater<>());  // names have a fixed number of digits
  return found;
}

std::filesystem::path CheckpointStore::newest_good(std::vector<std::string>& complaints) const {
  for (const auto& path : list()) {
    const std::string damage = checkpoint_damage(path);
    if (damage.empty()) return path;
    complaints.push_back(fmt::format("{} {}", path.string(), damage));
  }
  return {};
}

void CheckpointStore::set_aside_newer(const std::filesystem::path& good) const {
  std::error_code ignored;
  for (const auto& path : list())
    if (path > good) std::filesystem::rename(path, path.string() + ".damaged", ignored);
}

std::filesystem::path CheckpointStore::write(const World& world, const RunState& run,
                                             const std::string& scene) const {
  make_directory(directory_);
  const std::filesystem::path path = directory_ / fmt::format("step_{:012}.hdf5", world.step);
  write_checkpoint(path, world, run, scene);
  const std::vector<std::filesystem::path> all = list();
  std::error_code ignored;
  for (std::size_t k = std::max(1, keep_); k < all.size(); ++k) std::filesystem::remove(all[k], ignored);
  return path;
}

void CheckpointStore::clear() const {
  std::error_code ignored;
  for (const auto& path : list()) std::filesystem::remove(path, ignored);
  remove_parts();
}

void CheckpointStore::remove_parts() const {
  std::error_code ignored;
  std::vector<std::filesystem::path> parts;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, ignored))
    if (entry.path().extension() == ".part") parts.push_back(entry.path());
  for (const auto& path : parts) std::filesystem::remove(path, ignored);
}

}  // namespace talus
