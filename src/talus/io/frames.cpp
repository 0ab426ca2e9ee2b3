#include "talus/io/frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "talus/io/output_file.hpp"
#include "talus/io/surfaces.hpp"
#include "talus/io/vtp_file.hpp"

namespace talus {
namespace {

bool has_surfaces(const World& world) {
  return std::any_of(world.shapes.begin(), world.shapes.end(),
                     [](const Shape& s) { return s.kind != ShapeKind::sphere; });
}

void describe(const World& world, VtpFile& file) {
  file.time(world.time);
  file.fact("step", world.step);
  if (!world.names.empty()) file.texts("names", world.names);
}

const std::vector<std::string> xyz{"x", "y", "z"};

}  // namespace

void write_body_points(const World& world, const std::filesystem::path& path) {
  const Bodies& b = world.bodies;
  Array<Local> shown;  // walls and containers have no middle worth a point
  for (Local i = 0; i < b.owned; ++i)
    if (!is_unbounded(world.shapes[b.shape[i]].kind)) shown.push_back(i);

  const auto n = static_cast<Global>(shown.size());
  VtpFile file(n, n, 0);
  describe(world, file);
  file.points<double>([&](Local i, int c) { return b.position[shown[i]][c]; });
  file.points_are_verts();
  file.point_data<std::int64_t>("id", 1, [&](Local i, int) { return b.id[shown[i]]; });
  file.point_data<float>("radius", 1, [&](Local i, int) { return b.radius[shown[i]]; });
  file.point_data<float>(
      "velocity", 3, [&](Local i, int c) { return b.velocity[shown[i]].linear[c]; }, xyz);
  file.point_data<float>(
      "angular_velocity", 3, [&](Local i, int c) { return b.velocity[shown[i]].angular[c]; }, xyz);
  // w first: the order in which ParaView's glyphs take a quaternion
  file.point_data<float>("orientation", 4,
                         [&](Local i, int c) { return b.orientation[shown[i]].coeffs()[(c + 3) % 4]; },
                         {"w", "x", "y", "z"});
  file.point_data<float>("mass", 1, [&](Local i, int) { return b.mass[shown[i]]; });
  file.point_data<std::int32_t>("material", 1, [&](Local i, int) { return b.material[shown[i]]; });
  file.point_data<std::int32_t>("name", 1, [&](Local i, int) { return b.name[shown[i]]; });
  file.point_data<std::uint8_t>("shape", 1, [&](Local i, int) {
    return static_cast<std::uint8_t>(world.shapes[b.shape[shown[i]]].kind);
  });
  file.point_data<std::uint8_t>(
      "mobility", 1, [&](Local i, int) { return static_cast<std::uint8_t>(b.mobility[shown[i]]); });
  file.write(path);
}

void write_shape_surfaces(const World& world, const std::filesystem::path& path) {
  const Bodies& b = world.bodies;
  const Surfaces s = surfaces_of(world);
  VtpFile file(static_cast<Global>(s.point.size()), 0, static_cast<Global>(s.offset.size()));
  describe(world, file);
  file.points<double>([&](Local i, int c) { return s.point[i][c]; });
  file.polygons(s.connectivity, s.offset);
  file.cell_data<std::int64_t>("id", 1, [&](Local i, int) { return b.id[s.body[i]]; });
  file.cell_data<std::int32_t>("face", 1, [&](Local i, int) { return s.face[i]; });
  file.cell_data<std::int32_t>("material", 1, [&](Local i, int) { return b.material[s.body[i]]; });
  file.cell_data<std::int32_t>("name", 1, [&](Local i, int) { return b.name[s.body[i]]; });
  file.cell_data<std::uint8_t>("shape", 1, [&](Local i, int) {
    return static_cast<std::uint8_t>(world.shapes[b.shape[s.body[i]]].kind);
  });
  file.cell_data<float>(
      "velocity", 3, [&](Local i, int c) { return b.velocity[s.body[i]].linear[c]; }, xyz);
  file.write(path);
}

void write_contact_points(const World& world, const FrameContacts& last, const std::filesystem::path& path) {
  const Bodies& b = world.bodies;
  const Contacts& k = last.contacts;
  const Real per_step = last.h > 0 ? 1 / last.h : 0;
  const auto n = static_cast<Global>(k.size());
  VtpFile file(n, n, 0);
  describe(world, file);
  // Arms are those of the beginning of the step, positions those of its end: the middle of both bodies'
  // points.
  file.points<double>([&](Local i, int c) {
    return 0.5 * (b.position[k.a[i]][c] + k.arm_a[i][c] + b.position[k.b[i]][c] + k.arm_b[i][c]);
  });
  file.points_are_verts();
  file.point_data<float>(
      "normal", 3, [&](Local i, int c) { return k.normal[i][c]; }, xyz);
  file.point_data<float>(
      "force", 3, [&](Local i, int c) { return per_step * last.impulse[3 * i + c]; }, xyz);
  file.point_data<float>("normal_force", 1, [&](Local i, int) {
    return per_step *
           k.normal[i].dot(Vec3(last.impulse[3 * i], last.impulse[3 * i + 1], last.impulse[3 * i + 2]));
  });
  file.point_data<float>("gap", 1, [&](Local i, int) { return k.gap[i]; });
  file.point_data<float>("friction", 1, [&](Local i, int) { return k.friction[i]; });
  file.point_data<std::int64_t>("bodies", 2, [&](Local i, int c) { return b.id[c == 0 ? k.a[i] : k.b[i]]; },
                                {"a", "b"});
  file.write(path);
}

std::filesystem::path FrameWriter::file(const char* series, std::size_t number) const {
  return directory_ / fmt::format("{}_{:06}.vtp", series, number);
}

void FrameWriter::write(const World& world, const FrameContacts& contacts) {
  make_directory(directory_);
  const std::size_t number = times_.size();
  write_body_points(world, file("bodies", number));
  if (has_surfaces(world)) write_shape_surfaces(world, file("shapes", number));
  if (with_contacts_) write_contact_points(world, contacts, file("contacts", number));
  times_.push_back(world.time);
  write_collections(world);
}

void FrameWriter::write_collections(const World& world) const {
  const auto collect = [this](const char* series) {
    const std::filesystem::path path = directory_ / fmt::format("{}.pvd", series);
    if (times_.empty()) {
      std::filesystem::remove(path);
      return;
    }
    write_pvd(path, times_, [&](std::size_t k) { return file(series, k).filename().string(); });
  };
  collect("bodies");
  if (has_surfaces(world)) collect("shapes");
  if (with_contacts_) collect("contacts");
}

void FrameWriter::resume(std::vector<double> times, const World& world) {
  times_ = std::move(times);
  if (times_.empty() && !std::filesystem::exists(directory_)) return;
  make_directory(directory_);
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    const std::string stem = entry.path().stem().string(), kind = entry.path().extension().string();
    const std::size_t bar = stem.rfind('_');
    std::size_t number = 0;
    const bool numbered =
        kind == ".vtp" && bar != std::string::npos &&
        std::from_chars(stem.data() + bar + 1, stem.data() + stem.size(), number).ec == std::errc();
    if (kind == ".part" || (numbered && number >= times_.size())) std::filesystem::remove(entry.path());
  }
  write_collections(world);
}

}  // namespace talus
