#include "talus/io/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include "talus/base/error.hpp"

namespace talus {
namespace {

constexpr Real panel_width = 360, panel_height = 260;
constexpr Real left = 64, right = 18, top = 34, bottom = 48;  // around the axes of one panel
constexpr Real plot_width = panel_width - left - right, plot_height = panel_height - top - bottom;

/// Okabe and Ito's colours, told apart by people who do not see red and green; repeated with other dashes.
constexpr std::array<const char*, 8> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#000000", "#a0522d"};
constexpr std::array<const char*, 3> dashes = {"", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 2\""};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

struct Tick {
  Real at;  ///< in the axis' own measure (a logarithm on a log axis)
  std::string label;
};

/// The range of one axis in its own measure and where its ticks are.
struct Axis {
  Scale scale;
  Real low = std::numeric_limits<Real>::infinity(), high = -std::numeric_limits<Real>::infinity();

  bool shows(Real value) const { return std::isfinite(value) && (scale == Scale::linear || value > 0); }
  Real measure(Real value) const { return scale == Scale::log ? std::log10(value) : value; }
  void include(Real value) {
    if (!shows(value)) return;
    low = std::min(low, measure(value));
    high = std::max(high, measure(value));
  }
  /// 0 … 1 along the axis.
  Real fraction(Real value) const { return (measure(value) - low) / (high - low); }

  void settle() {
    if (!(low <= high)) {  // nothing to show
      low = 0;
      high = 1;
    }
    if (scale == Scale::log) {
      low = std::floor(low + 1e-9);
      high = std::ceil(high - 1e-9);
      if (high == low) high += 1;
    } else {
      if (high == low) {
        const Real room = low != 0 ? 0.5 * std::abs(low) : 0.5;
        low -= room;
        high += room;
      }
      const Real s = step();
      low = s * std::floor(low / s + 1e-9);
      high = s * std::ceil(high / s - 1e-9);
    }
  }

  /// Distance of ticks on a linear axis: 1, 2 or 5 times a power of ten, five of them or so.
  Real step() const {
    const Real raw = (high - low) / 5, power = std::pow(10.0, std::floor(std::log10(raw)));
    const Real lead = raw / power;
    return power * (lead <= 1.0001 ? 1 : lead <= 2.0001 ? 2 : lead <= 5.0001 ? 5 : 10);
  }

  std::vector<Tick> ticks() const {
    std::vector<Tick> list;
    if (scale == Scale::log) {
      const int decades = static_cast<int>(std::lround(high - low)), every = std::max(1, (decades + 6) / 7);
      for (int k = static_cast<int>(std::lround(low)); k <= std::lround(high); ++k)
        if (k % every == 0)
          list.push_back({static_cast<Real>(k), fmt::format("10<tspan dy=\"-4\" font-size=\"8\">{}{}</tspan>",
                                                            k < 0 ? "−" : "", std::abs(k))});
    } else {
      const Real s = step();
      for (Real k = std::round(low / s); k <= std::round(high / s) + 0.5; k += 1)
        list.push_back({k * s, fmt::format("{:.4g}", k == 0 ? 0.0 : k * s)});
    }
    return list;
  }
};

/// Points closer together than a third of a pixel are drawn once: long histories stay small files.
std::string path_of(const Curve& curve, const Axis& x, const Axis& y) {
  std::string d;
  Real last_px = 0, last_py = 0;
  bool drawing = false;
  const std::size_t n = std::min(curve.x.size(), curve.y.size());
  for (std::size_t k = 0; k < n; ++k) {
    if (!x.shows(curve.x[k]) || !y.shows(curve.y[k])) {
      drawing = false;
      continue;
    }
    const Real px = x.fraction(curve.x[k]) * plot_width, py = (1 - y.fraction(curve.y[k])) * plot_height;
    if (drawing && k + 1 < n && std::abs(px - last_px) + std::abs(py - last_py) < 0.34) continue;
    d += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M", px, py);
    last_px = px;
    last_py = py;
    drawing = true;
  }
  return d;
}

struct Style {
  std::string stroke;  ///< colour and dashes, as attributes
};

std::string panel_svg(const Panel& panel, const std::map<std::string, Style>& styles) {
  Axis x{panel.x_scale}, y{panel.y_scale};
  for (const Curve& c : panel.curves)
    for (std::size_t k = 0; k < std::min(c.x.size(), c.y.size()); ++k)
      if (x.shows(c.x[k]) && y.shows(c.y[k])) {
        x.include(c.x[k]);
        y.include(c.y[k]);
      }
  x.settle();
  y.settle();

  std::string s;
  for (const Tick& t : x.ticks()) {
    const Real px = (t.at - x.low) / (x.high - x.low) * plot_width;
    s += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} 0V{1:.1f}\"/><text class=\"tick\" x=\"{0:.1f}\" y=\"{2:.1f}\" "
        "text-anchor=\"middle\">{3}</text>\n",
        px, plot_height, plot_height + 16, t.label);
  }
  for (const Tick& t : y.ticks()) {
    const Real py = (1 - (t.at - y.low) / (y.high - y.low)) * plot_height;
    s += fmt::format(
        "<path class=\"grid\" d=\"M0 {0:.1f}H{1:.1f}\"/><text class=\"tick\" x=\"-6\" y=\"{2:.1f}\" "
        "text-anchor=\"end\">{3}</text>\n",
        py, plot_width, py + 4, t.label);
  }
  s += fmt::format("<rect class=\"frame\" width=\"{}\" height=\"{}\"/>\n", plot_width, plot_height);
  for (const Curve& c : panel.curves) {
    const std::string d = path_of(c, x, y);
    if (!d.empty()) s += fmt::format("<path class=\"curve\"{} d=\"{}\"/>\n", styles.at(c.label).stroke, d);
    // One visible point is a curve of no length: mark where every curve ends, so that none is lost.
    for (std::size_t k = std::min(c.x.size(), c.y.size()); k-- > 0;)
      if (x.shows(c.x[k]) && y.shows(c.y[k])) {
        s += fmt::format("<circle class=\"end\" r=\"2.5\" cx=\"{:.1f}\" cy=\"{:.1f}\"{}/>\n",
                         x.fraction(c.x[k]) * plot_width, (1 - y.fraction(c.y[k])) * plot_height,
                         styles.at(c.label).stroke);
        break;
      }
  }
  s += fmt::format("<text class=\"panel\" x=\"0\" y=\"-10\">{}</text>\n", escaped(panel.title));
  s += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                   plot_width / 2, plot_height + 36, escaped(panel.x_label));
  s += fmt::format(
      "<text class=\"label\" transform=\"translate(-46 {:.1f}) rotate(-90)\" "
      "text-anchor=\"middle\">{}</text>\n",
      plot_height / 2, escaped(panel.y_label));
  return s;
}

}  // namespace

std::string svg(const Figure& figure) {
  std::vector<std::string> labels;  // in order of appearance
  for (const Panel& p : figure.panels)
    for (const Curve& c : p.curves)
      if (std::find(labels.begin(), labels.end(), c.label) == labels.end()) labels.push_back(c.label);
  std::map<std::string, Style> styles;
  for (std::size_t k = 0; k < labels.size(); ++k)
    styles[labels[k]] = {fmt::format(" stroke=\"{}\"{}", colours[k % colours.size()],
                                     dashes[(k / colours.size()) % dashes.size()])};

  const int columns = std::max(1, figure.columns);
  const int rows = (static_cast<int>(figure.panels.size()) + columns - 1) / columns;
  const Real head = figure.subtitle.empty() ? 40 : 58, entry = 130;
  const Real width = std::max(columns * panel_width, Real{360}) + 12;
  const int per_line = std::max(1, static_cast<int>((width - 80) / entry));
  const int lines = (static_cast<int>(labels.size()) + per_line - 1) / per_line;
  const Real height = head + rows * panel_height + lines * 20 + 18;

  std::string s = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" "
      "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n"
      "<style>.grid{{stroke:#e4e4e4;fill:none}}.frame{{stroke:#444;fill:none}}.curve{{fill:none;stroke-width:"
      "1.6;"
      "stroke-linejoin:round}}.end{{fill:#fff;stroke-width:1.6;stroke-dasharray:none}}.tick{{font-size:11px;"
      "fill:#333}}"
      ".label{{font-size:12px;fill:#111}}.panel{{font-size:12px;font-weight:bold;fill:#111}}"
      ".title{{font-size:16px;font-weight:bold;fill:#111}}.note{{font-size:12px;fill:#555}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height);
  s += fmt::format("<text class=\"title\" x=\"16\" y=\"26\">{}</text>\n", escaped(figure.title));
  if (!figure.subtitle.empty())
    s += fmt::format("<text class=\"note\" x=\"16\" y=\"45\">{}</text>\n", escaped(figure.subtitle));
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    const Real px = static_cast<Real>(k % columns) * panel_width + left;
    const Real py = head + static_cast<Real>(k / columns) * panel_height + top;
    s += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n{}</g>\n", px, py,
                     panel_svg(figure.panels[k], styles));
  }
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const Real px = left + static_cast<Real>(k % per_line) * entry;
    const Real py = head + rows * panel_height + 14 + static_cast<Real>(k / per_line) * 20;
    s += fmt::format(
        "<path class=\"curve\"{0} d=\"M{1:.1f} {2:.1f}h26\"/><text class=\"label\" x=\"{3:.1f}\" "
        "y=\"{4:.1f}\">{5}"
        "</text>\n",
        styles[labels[k]].stroke, px, py - 4, px + 32, py, escaped(labels[k]));
  }
  return s + "</svg>\n";
}

void write_svg(const Figure& figure, const std::filesystem::path& path) {
  std::ofstream out(path);
  out << svg(figure);
  out.close();
  if (!out) throw RunError(fmt::format("{}: cannot write the plot", path.string()));
}

}  // namespace talus
