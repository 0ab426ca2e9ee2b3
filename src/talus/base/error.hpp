// What can go wrong, as the user meets it: each kind of failure has one exit code (docs/design.md, "Errors").
#pragma once
#include <stdexcept>
#include <string>

namespace talus {

enum class ExitCode : int {
  ok = 0,
  run_failed = 1,      ///< a failure while running: why, and what was kept
  bad_input = 2,       ///< usage, scene or file: where, what is wrong, what would be right
  not_converged = 3,   ///< on_unconverged = "stop", or a retried step that failed again
  physics_guard = 4,   ///< NaN, escape, energy balance, penetration
  interrupted = 130,   ///< SIGINT
  terminated = 143,    ///< SIGTERM
};

/// Base of every error Talus throws on purpose. `what()` is the whole message for the user.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Bad input. The message names file and line where there are any, what is wrong and what would be right.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(ExitCode::bad_input, message) {}
};

/// A run that cannot go on (disk full, lost rank, ...): the message says what was kept.
class RunError : public Error {
 public:
  explicit RunError(const std::string& message) : Error(ExitCode::run_failed, message) {}
};

}  // namespace talus
