// Any file is either refused with an InputError and leaves the world as it was, or gives a state that fits the scene.
// Each input is tried as it is, and once more behind a user block with the right size and checksum, so that what is
// behind the checksum is reached too.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "fuzz_input.hpp"
#include "talus/base/error.hpp"
#include "talus/base/hash.hpp"
#include "talus/io/checkpoint.hpp"
#include "talus/io/scene.hpp"

namespace {

constexpr const char* scene_text = R"(
[materials.glass]
[[containers]]
name = "box"
shape = "box"
size = [1, 1, 1]
[[bodies]]
name = "ball"
shape = "sphere"
radius = 0.1
[[bodies]]
shape = "box"
size = [0.1, 0.1, 0.1]
position = [0.3, 0.3, 0.3]
)";

std::string with_user_block(std::string_view content) {
  talus::Hash64 hash;
  for (std::size_t k = 0; k < content.size(); k += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, content.data() + k, std::min<std::size_t>(8, content.size() - k));
    hash.add(word);
  }
  hash.add(static_cast<std::uint64_t>(content.size()));
  std::string block = fmt::format("TALUS CHECKPOINT 1\nbytes {}\nchecksum {:016x}\n", content.size(), hash.value());
  block.resize(512, '\0');
  return block + std::string(content);
}

void read(std::string_view bytes) {
  using namespace talus;
  const MemoryFile file(bytes);
  World world = build_world(parse_scene(scene_text, "fuzz.toml"));
  const Local bodies = world.bodies.size();
  RunState run;
  looks_like_checkpoint(file.name());
  try {
    read_checkpoint_info(file.name());
  } catch (const InputError&) {
  }
  try {
    read_checkpoint(file.name(), world, run);
    for (Local i = 0; i < world.bodies.size(); ++i)  // every index leads somewhere
      if (world.bodies.shape[i] < 0 || world.bodies.shape[i] >= static_cast<Local>(world.shapes.size()) ||
          world.bodies.material[i] < 0 || world.bodies.material[i] >= world.materials.size() ||
          world.bodies.name[i] >= static_cast<Local>(world.names.size()))
        std::abort();
  } catch (const InputError&) {
    if (world.bodies.size() != bodies) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = talus::as_text(data, size);
  read(bytes);
  read(with_user_block(bytes.size() > 512 && bytes.starts_with("TALUS") ? bytes.substr(512) : bytes));
  return 0;
}
