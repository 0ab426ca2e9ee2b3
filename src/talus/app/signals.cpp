#include "talus/app/signals.hpp"

#include <unistd.h>

#include <csignal>

namespace talus {
namespace {

std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);  // a handler may use nothing else

void on_signal(int signal) {
  int none = 0;
  if (!stop_signal.compare_exchange_strong(none, signal)) ::_exit(128 + signal);
}

}  // namespace

const std::atomic<int>& stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // Failures of writing are reported where they happen: a full quota or a closed terminal must not kill the
  // run.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  return stop_signal;
}

}  // namespace talus
