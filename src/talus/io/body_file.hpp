// Lists of bodies in files: CSV with named columns, or HDF5 datasets. docs/scene.md, [[files]], has the
// layout.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "talus/math/vec.hpp"

namespace talus {

/// What a file says of its spheres; lists other than position and radius are empty where it says nothing.
struct BodyList {
  std::vector<Vec3> position;
  std::vector<Real> radius;
  std::vector<Vec3> velocity, angular_velocity;
  std::vector<Quat> orientation;
  std::vector<Real> mass;
};

/// Reads either format, told apart by content. `group` is where the datasets of an HDF5 file are. Throws
/// InputError: file and line (CSV) or dataset (HDF5), what is wrong, what would be right.
BodyList read_body_file(const std::string& path, const std::string& group = "/");
/// The CSV format, from text.
BodyList parse_body_csv(std::string_view text, const std::string& name);

/// Rows of t, vx, vy, vz and optionally wx, wy, wz with ascending t.
std::vector<std::array<Real, 7>> read_motion_file(const std::string& path);
std::vector<std::array<Real, 7>> parse_motion_csv(std::string_view text, const std::string& name);

/// 16 hexadecimal digits that change when the file's content does.
std::string file_digest(const std::string& path);

}  // namespace talus
