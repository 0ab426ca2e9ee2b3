// Any bytes are either refused with an InputError or a list of bodies whose columns have one length and sound values.
#include <cmath>
#include <cstdlib>

#include "fuzz_input.hpp"
#include "talus/base/error.hpp"
#include "talus/io/body_file.hpp"

namespace {

void check(const talus::BodyList& list) {
  const std::size_t n = list.position.size();
  auto fits = [n](const auto& column) { return column.empty() || column.size() == n; };
  if (list.radius.size() != n || !fits(list.velocity) || !fits(list.angular_velocity) || !fits(list.orientation) ||
      !fits(list.mass))
    std::abort();
  for (std::size_t i = 0; i < n; ++i)
    if (!list.position[i].allFinite() || !(list.radius[i] > 0) || !std::isfinite(list.radius[i])) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace talus;
  const std::string_view text = as_text(data, size);
  try {
    check(parse_body_csv(text, "fuzz.csv"));
  } catch (const InputError&) {
  }
  try {
    parse_motion_csv(text, "fuzz.csv");
  } catch (const InputError&) {
  }
  if (text.starts_with("\x89HDF")) {
    const MemoryFile file(text);
    try {
      check(read_body_file(file.name()));
    } catch (const InputError&) {
    }
  }
  return 0;
}
