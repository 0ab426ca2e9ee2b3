// Frames: the state as ParaView reads it, three series side by side in one directory:
//   bodies.pvd    a point per body of finite size: radius, id, velocities, orientation, mass, material, ...
//   shapes.pvd    boxes, cylinders, walls and containers as surfaces (absent when all bodies are spheres)
//   contacts.pvd  a point per contact: normal, force, gap, the two body ids (force chains)
#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include "talus/collision/contacts.hpp"
#include "talus/sim/world.hpp"

namespace talus {

/// The contacts of the step that led to the state. `impulse` holds 3 numbers per contact, on body b, N·s.
struct FrameContacts {
  const Contacts& contacts;
  std::span<const Real> impulse;
  Real h = 0;  ///< length of that step, s
};

class FrameWriter {
 public:
  FrameWriter(std::filesystem::path directory, bool with_contacts)
      : directory_(std::move(directory)), with_contacts_(with_contacts) {}

  /// Takes up after frames of these times: files of later frames, which a killed run may have left, are
  /// removed.
  void resume(std::vector<double> times, const World& world);
  /// Writes the next frame. Throws RunError.
  void write(const World& world, const FrameContacts& contacts);
  /// Times of the frames written so far.
  const std::vector<double>& times() const { return times_; }

 private:
  std::filesystem::path file(const char* series, std::size_t number) const;
  void write_collections(const World& world) const;

  std::filesystem::path directory_;
  bool with_contacts_;
  std::vector<double> times_;
};

/// The single files, for those who want one of them.
void write_body_points(const World& world, const std::filesystem::path& path);
void write_shape_surfaces(const World& world, const std::filesystem::path& path);
void write_contact_points(const World& world, const FrameContacts& contacts,
                          const std::filesystem::path& path);

}  // namespace talus
