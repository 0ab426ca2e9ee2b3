// SVG figures: well-formed, every curve drawn, nothing undefined drawn.
#include "talus/io/plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "io/temporary.hpp"
#include "talus/base/error.hpp"

namespace talus {
namespace {

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

Figure two_panels() {
  Figure figure{"A <title> & more", "subtitle", 2, {}};
  Curve down{"apgd", {}, {}}, flat{"nbgs", {0, 100}, {1, 1}};
  for (int k = 0; k < 5000; ++k) {
    down.x.push_back(k);
    down.y.push_back(std::exp(-0.004 * k));
  }
  figure.panels.push_back({"residual", "iterations", "natural", Scale::linear, Scale::log, {down, flat}});
  figure.panels.push_back({"objective", "time [s]", "gap", Scale::log, Scale::linear, {down, flat}});
  return figure;
}

TEST(Plot, DrawsEveryCurveAndOneLegendEntryPerLabel) {
  const std::string text = svg(two_panels());
  EXPECT_EQ(count(text, "<svg"), 1);
  EXPECT_EQ(count(text, "</svg>"), 1);
  EXPECT_EQ(count(text, "<g "), 2);
  EXPECT_EQ(count(text, "<g "), count(text, "</g>"));
  EXPECT_EQ(count(text, "class=\"curve\""), 4 + 2);  // two panels of two curves, two entries of the legend
  EXPECT_EQ(count(text, ">apgd<"), 1);
  EXPECT_NE(text.find("A &lt;title&gt; &amp; more"), std::string::npos);
  EXPECT_LT(text.size(), 60000u) << "5000 points must be thinned to what can be seen";
}

TEST(Plot, LeavesOutWhatCannotBeShown) {
  const Real nan = std::nan(""), inf = std::numeric_limits<Real>::infinity();
  Figure figure{"odd values", "", 1, {}};
  figure.panels.push_back(
      {"",
       "x",
       "y",
       Scale::log,
       Scale::log,
       {{"a", {1, 2, 3, 4, 0, 6}, {1, nan, inf, -1, 2, 0.5}}, {"empty", {}, {}}, {"none", {1}, {0}}}});
  figure.panels.push_back({"", "x", "y", Scale::linear, Scale::linear, {{"a", {2}, {3}}}});  // a single point
  const std::string text = svg(figure);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  EXPECT_EQ(count(text, "<circle"), 2);  // the two curves that have a point
}

TEST(Plot, SaysWhenItCannotBeWritten) {
  TemporaryDirectory directory;
  write_svg(two_panels(), directory / "a.svg");
  EXPECT_TRUE(std::ifstream(directory / "a.svg").good());
  EXPECT_THROW(write_svg(two_panels(), directory / "no/such/directory.svg"), RunError);
}

}  // namespace
}  // namespace talus
