#include "talus/io/body_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

#include "talus/base/error.hpp"
#include "talus/base/hash.hpp"
#include "talus/io/hdf5_file.hpp"
#include "talus/io/schema_value.hpp"

namespace talus {
namespace {

std::string read_all(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec))
    throw InputError(fmt::format("{}: error: there is no such file", path));
  std::ifstream in(path, std::ios::binary);
  std::string text(std::filesystem::file_size(path, ec), '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(text.size())))
    throw InputError(fmt::format("{}: error: the file cannot be read", path));
  return text;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

/// A CSV file of numbers with a line of column names; lines that begin with # and empty lines are skipped.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& name, const std::vector<std::string>& known,
            const std::vector<std::string>& needed)
      : rest_(text), name_(name) {
    std::string_view header;
    if (!next_line(header))
      fail(1, fmt::format("the file is empty; it needs a line of column names: {}", fmt::join(needed, ",")));
    for (std::size_t from = 0; from <= header.size();) {
      const std::size_t comma = std::min(header.find(',', from), header.size());
      const std::string column(trimmed(header.substr(from, comma - from)));
      if (std::find(known.begin(), known.end(), column) == known.end()) {
        const std::string near = nearest_word(column, known);
        fail(static_cast<int>(from) + 1,
             fmt::format("unknown column '{}'; {}", shown(column),
                         near.empty() ? fmt::format("known are {}", fmt::join(known, ", "))
                                      : fmt::format("did you mean '{}'?", near)));
      }
      if (std::find(columns_.begin(), columns_.end(), column) != columns_.end())
        fail(static_cast<int>(from) + 1, fmt::format("column '{}' appears twice", column));
      columns_.push_back(column);
      from = comma + 1;
    }
    for (const std::string& n : needed)
      if (!column(n))
        fail(1,
             fmt::format("column '{}' is missing; the first line must name {}", n, fmt::join(needed, ",")));
    row_.resize(columns_.size());
  }

  /// Where a column is, empty when the file has none.
  std::optional<std::size_t> column(const std::string& name) const {
    const auto it = std::find(columns_.begin(), columns_.end(), name);
    return it == columns_.end() ? std::nullopt : std::optional<std::size_t>(it - columns_.begin());
  }

  /// All of x,y,z-like columns, or none of them; some is an error.
  template <std::size_t N>
  std::optional<std::array<std::size_t, N>> group(const std::array<const char*, N>& names) const {
    std::array<std::size_t, N> where{};
    std::size_t found = 0;
    for (std::size_t k = 0; k < N; ++k)
      if (const auto c = column(names[k])) where[k] = *c, ++found;
    if (found != 0 && found != N)
      fail(1, fmt::format("of the columns {} some are missing; give all or none", fmt::join(names, ", ")));
    return found ? std::optional(where) : std::nullopt;
  }

  bool next() {
    std::string_view line;
    if (!next_line(line)) return false;
    std::size_t from = 0;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (from > line.size())
        fail(static_cast<int>(line.size()) + 1,
             fmt::format("the row has {} numbers, the file {} columns", k, columns_.size()));
      const std::size_t comma = std::min(line.find(',', from), line.size());
      std::string_view word = trimmed(line.substr(from, comma - from));
      if (!word.empty() && word.front() == '+') word.remove_prefix(1);
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), row_[k]);
      if (error == std::errc::result_out_of_range || word.empty() || error != std::errc() ||
          end != word.data() + word.size())
        fail(static_cast<int>(from) + 1,
             fmt::format("'{}' in column '{}' is no number", shown(word), columns_[k]));
      if (!std::isfinite(row_[k]))
        fail(static_cast<int>(from) + 1,
             fmt::format("column '{}' is {}; it must be a finite number", columns_[k], row_[k]));
      from = comma + 1;
    }
    if (from <= line.size())
      fail(static_cast<int>(from) + 1,
           fmt::format("the row has more numbers than the file has columns ({})", columns_.size()));
    return true;
  }

  Real operator[](std::size_t k) const { return row_[k]; }

  [[noreturn]] void fail(int column, const std::string& what) const {
    throw InputError(fmt::format("{}:{}:{}: error: {}", name_, line_, column, what));
  }

 private:
  /// Of what the file holds, as much as a message can show; other bytes than printable ones are dots.
  static std::string shown(std::string_view word) {
    std::string s(word.substr(0, 40));
    for (char& c : s)
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '.';
    return s;
  }

  bool next_line(std::string_view& line) {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (const std::string_view t = trimmed(line); !t.empty() && t.front() != '#') return true;
    }
    return false;
  }

  std::string_view rest_;
  std::string name_;
  int line_ = 0;
  std::vector<std::string> columns_;
  std::vector<Real> row_;
};

constexpr Real greatest = 1e9;  // m, as everywhere in scenes

BodyList read_body_hdf5(const std::string& path, const std::string& group) {
  const Hdf5File file = Hdf5File::open(path);
  const std::string prefix = group.ends_with('/') ? group : group + "/";
  auto fail = [&](const std::string& dataset, const std::string& what) {
    throw InputError(fmt::format("{}: error: dataset '{}' {}", path, dataset, what));
  };
  auto needed = [&](const std::string& name) {
    if (!file.is_dataset(prefix + name))
      fail(prefix + name, "is missing; a body file has position (n×3) and radius (n)");
    return prefix + name;
  };
  auto rows = [&](const std::string& dataset, std::uint64_t n, std::uint64_t columns) {
    const std::vector<std::uint64_t> shape = file.shape(dataset);
    const bool good = columns == 1 ? (shape == std::vector{n} || shape == std::vector<std::uint64_t>{n, 1})
                                   : shape == std::vector{n, columns};
    if (!good)
      fail(dataset,
           fmt::format("has the shape ({}); it must be ({}, {})", fmt::join(shape, ", "), n, columns));
    std::vector<Real> values = file.read<Real>(dataset);
    for (std::size_t k = 0; k < values.size(); ++k)
      if (!std::isfinite(values[k]))
        fail(dataset, fmt::format("has {} in row {}; it must be finite", values[k], k / columns));
    return values;
  };
  auto vectors = [](const std::vector<Real>& flat) {
    std::vector<Vec3> v(flat.size() / 3);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = Vec3(flat[3 * i], flat[3 * i + 1], flat[3 * i + 2]);
    return v;
  };

  BodyList list;
  const std::string position = needed("position"), radius = needed("radius");
  const std::vector<std::uint64_t> shape = file.shape(position);
  if (shape.size() != 2) fail(position, "must have the shape (n, 3)");
  const std::uint64_t n = shape[0];
  list.position = vectors(rows(position, n, 3));
  list.radius = rows(radius, n, 1);
  if (file.is_dataset(prefix + "velocity")) list.velocity = vectors(rows(prefix + "velocity", n, 3));
  if (file.is_dataset(prefix + "angular_velocity"))
    list.angular_velocity = vectors(rows(prefix + "angular_velocity", n, 3));
  if (file.is_dataset(prefix + "mass")) list.mass = rows(prefix + "mass", n, 1);
  if (file.is_dataset(prefix + "orientation")) {
    const std::vector<Real> q = rows(prefix + "orientation", n, 4);
    for (std::size_t i = 0; i < n; ++i)
      list.orientation.emplace_back(q[4 * i], q[4 * i + 1], q[4 * i + 2], q[4 * i + 3]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!(list.radius[i] > 0 && list.radius[i] <= greatest))
      fail(radius, fmt::format("has {} in row {}; a radius must be above 0 and at most {} m", list.radius[i],
                               i, greatest));
    if (!list.mass.empty() && !(list.mass[i] > 0))
      fail(prefix + "mass", fmt::format("has {} in row {}; a mass must be above 0 kg", list.mass[i], i));
    if (!list.orientation.empty() && !(std::abs(list.orientation[i].squaredNorm() - 1) < 1e-2))
      fail(prefix + "orientation", fmt::format("has no unit quaternion in row {}", i));
  }
  return list;
}

}  // namespace

BodyList parse_body_csv(std::string_view text, const std::string& name) {
  static const std::vector<std::string> known = {"x",  "y",  "z",  "r",  "vx", "vy", "vz",  "wx",
                                                 "wy", "wz", "qw", "qx", "qy", "qz", "mass"};
  CsvReader csv(text, name, known, {"x", "y", "z", "r"});
  const auto p = *csv.group<4>({"x", "y", "z", "r"});
  const auto v = csv.group<3>({"vx", "vy", "vz"}), w = csv.group<3>({"wx", "wy", "wz"});
  const auto q = csv.group<4>({"qw", "qx", "qy", "qz"});
  const auto m = csv.column("mass");
  BodyList list;
  while (csv.next()) {
    if (!(csv[p[3]] > 0 && csv[p[3]] <= greatest))
      csv.fail(1, fmt::format("the radius is {}; it must be above 0 and at most {} m", csv[p[3]], greatest));
    list.position.emplace_back(csv[p[0]], csv[p[1]], csv[p[2]]);
    list.radius.push_back(csv[p[3]]);
    if (v) list.velocity.emplace_back(csv[(*v)[0]], csv[(*v)[1]], csv[(*v)[2]]);
    if (w) list.angular_velocity.emplace_back(csv[(*w)[0]], csv[(*w)[1]], csv[(*w)[2]]);
    if (q) {
      list.orientation.emplace_back(csv[(*q)[0]], csv[(*q)[1]], csv[(*q)[2]], csv[(*q)[3]]);
      if (!(std::abs(list.orientation.back().squaredNorm() - 1) < 1e-2))
        csv.fail(1, "qw,qx,qy,qz have a norm other than 1");
    }
    if (m) {
      list.mass.push_back(csv[*m]);
      if (!(list.mass.back() > 0))
        csv.fail(1, fmt::format("the mass is {}; it must be above 0 kg", list.mass.back()));
    }
  }
  return list;
}

BodyList read_body_file(const std::string& path, const std::string& group) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec))
    throw InputError(fmt::format("{}: error: there is no such file", path));
  return looks_like_hdf5(path) ? read_body_hdf5(path, group) : parse_body_csv(read_all(path), path);
}

std::vector<std::array<Real, 7>> parse_motion_csv(std::string_view text, const std::string& name) {
  CsvReader csv(text, name, {"t", "vx", "vy", "vz", "wx", "wy", "wz"}, {"t"});
  const std::size_t t = *csv.column("t");
  const auto v = csv.group<3>({"vx", "vy", "vz"}), w = csv.group<3>({"wx", "wy", "wz"});
  std::vector<std::array<Real, 7>> rows;
  while (csv.next()) {
    std::array<Real, 7> row{csv[t]};
    for (int k = 0; k < 3; ++k) {
      if (v) row[1 + k] = csv[(*v)[k]];
      if (w) row[4 + k] = csv[(*w)[k]];
    }
    if (!rows.empty() && !(row[0] > rows.back()[0]))
      csv.fail(1, fmt::format("the time {} follows {}; times must ascend", row[0], rows.back()[0]));
    rows.push_back(row);
  }
  if (rows.empty()) csv.fail(1, "the file has no row of numbers");
  return rows;
}

std::vector<std::array<Real, 7>> read_motion_file(const std::string& path) {
  return parse_motion_csv(read_all(path), path);
}

std::string file_digest(const std::string& path) {
  const std::string bytes = read_all(path);
  Hash64 hash;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    hash.add(word);
  }
  hash.add(static_cast<std::uint64_t>(bytes.size()));
  return fmt::format("{:016x}", hash.value());
}

}  // namespace talus
