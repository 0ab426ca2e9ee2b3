// Scenes as text, for tests.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "talus/base/error.hpp"
#include "talus/io/scene.hpp"

namespace talus {

/// The least that is a scene, on four lines; tests append to it.
inline const std::string small_scene =
    "[materials.glass]\n"
    "friction = 0.25\n"
    "[[bodies]]\n"
    "shape = \"sphere\"\nradius = 0.1\n";

/// The message with which a text is refused; empty (and a failure) when it is accepted.
inline std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse_scene(text, "scene.toml", overrides);
  } catch (const InputError& e) {
    return e.what();
  }
  ADD_FAILURE() << "accepted:\n" << text;
  return "";
}

inline ::testing::AssertionResult has(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& p : parts)
    if (message.find(p) == std::string::npos)
      return ::testing::AssertionFailure() << "no '" << p << "' in:\n" << message;
  return ::testing::AssertionSuccess();
}

}  // namespace talus
