// Line plots as SVG text, without any library: what `talus compare --plot` and the tools draw with.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "talus/base/types.hpp"

namespace talus {

struct Curve {
  std::string label;       ///< curves with the same label share colour and one entry of the legend
  std::vector<Real> x, y;  ///< same length; points that are not finite (or ≤ 0 on a log axis) are left out
};

enum class Scale { linear, log };

/// One pair of axes.
struct Panel {
  std::string title, x_label, y_label;
  Scale x_scale = Scale::linear, y_scale = Scale::linear;
  std::vector<Curve> curves;
};

/// Panels in rows of `columns`, one legend below for all of them.
struct Figure {
  std::string title, subtitle;
  int columns = 1;
  std::vector<Panel> panels;
};

/// The whole figure as an SVG document.
std::string svg(const Figure& figure);

/// Writes it; throws RunError naming the file when it cannot be written.
void write_svg(const Figure& figure, const std::filesystem::path& path);

}  // namespace talus
