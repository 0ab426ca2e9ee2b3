// SIGINT and SIGTERM: the first asks the run to stop, a second one ends the program at once.
#pragma once
#include <atomic>

namespace talus {

/// Takes both signals over. \return where the number of the first one appears; 0 until then.
const std::atomic<int>& stop_on_signals();

}  // namespace talus
