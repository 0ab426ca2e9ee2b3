// Which Talus this is: shown by --version, and written into summaries and checkpoints.
#pragma once
#include <string>

namespace talus {

std::string version();

}  // namespace talus
