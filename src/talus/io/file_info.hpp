// What a file is and what it holds, for `talus info`.
#pragma once
#include <filesystem>
#include <string>

namespace talus {

/// A few lines on a checkpoint, scene, problem or other HDF5 file, frame, collection, CSV table or directory
/// of results. Throws InputError when it is none of these, or damaged.
std::string file_info(const std::filesystem::path& path);

}  // namespace talus
