// A checkpoint: all state of a run between two steps, in one HDF5 file.
//
// The file begins with a user block of 512 bytes, which HDF5 readers skip: a line that says what it is, the
// size of the rest and a checksum over it. So a damaged or half-written file is recognised before HDF5 looks
// at it, while h5dump and h5py read a good one as it is. It is written under another name, put onto the disk,
// and renamed.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "talus/io/telemetry.hpp"
#include "talus/sim/world.hpp"

namespace talus {

/// What a run keeps beside the world.
struct RunState {
  RunTotals totals;
  std::vector<double> frame_times;  ///< of the frames written so far
  Real energy_scale = 0;            ///< of the energy guard: the largest energy that was in motion
};

struct CheckpointInfo {
  std::string version;  ///< of the program that wrote it
  std::string scene;    ///< scene.resolved.toml of the run
  Global step = 0;
  Real time = 0;
  Global bodies = 0, contacts = 0, frames = 0;
};

/// Writes the state, durably, to `path`. Throws RunError; then no file of that name is touched.
void write_checkpoint(const std::filesystem::path& path, const World& world, const RunState& run,
                      const std::string& scene);

/// Is this a checkpoint, whole or not?
bool looks_like_checkpoint(const std::filesystem::path& path);
/// Empty when size and checksum are right, else what is wrong.
std::string checkpoint_damage(const std::filesystem::path& path);

/// What a checkpoint holds. Throws InputError on damage.
CheckpointInfo read_checkpoint_info(const std::filesystem::path& path);

/// Puts the state into `world`, which has shapes, materials, names and motions of the same scene already.
/// Throws InputError on damage or when the bodies do not fit the scene's tables; then `world` is as it was.
void read_checkpoint(const std::filesystem::path& path, World& world, RunState& run);

/// The checkpoints of one run: step_<number>.hdf5 in a directory, of which the last few are kept.
class CheckpointStore {
 public:
  CheckpointStore(std::filesystem::path directory, int keep)
      : directory_(std::move(directory)), keep_(keep) {}

  /// All that are there, newest first.
  std::vector<std::filesystem::path> list() const;
  /// The newest that is whole, empty when there is none; `complaints` gets a line for each damaged one passed
  /// over.
  std::filesystem::path newest_good(std::vector<std::string>& complaints) const;
  /// Renames those newer than `good`, which are damaged, so that they neither count nor mislead.
  void set_aside_newer(const std::filesystem::path& good) const;
  /// Writes one and removes the oldest beyond `keep`.
  std::filesystem::path write(const World& world, const RunState& run, const std::string& scene) const;
  /// Removes all: a new run begins here.
  void clear() const;
  /// Removes what writes that were cut off have left.
  void remove_parts() const;

 private:
  std::filesystem::path directory_;
  int keep_;
};

}  // namespace talus
