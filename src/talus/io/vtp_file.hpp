// One VTK XML PolyData file (.vtp): raw appended data with UInt64 headers, which every VTK since 5.x reads.
// Arrays are described first and produced piece by piece while writing, so that a frame costs no second copy
// of the state.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "talus/base/types.hpp"

namespace talus {

class VtpFile {
 public:
  VtpFile(Global points, Global verts, Global polygons)
      : points_(points), verts_(verts), polygons_(polygons) {}

  /// The time ParaView shows for the file, and other facts that belong to no point or cell.
  void time(double seconds) { time_ = seconds; }
  void fact(const std::string& name, Global value) { facts_.emplace_back(name, value); }
  void texts(const std::string& name, std::vector<std::string> values) {
    texts_.emplace_back(name, std::move(values));
  }

  /// value(i, c) is component c of item i. T decides the stored type. `labels`: names of the components.
  template <class T, class F>
  void points(F value) {
    sections_[0].push_back(column<T>("position", 3, points_, std::move(value)));
  }
  /// Points that are cells of their own, so that filters which look at cells see them.
  void points_are_verts();
  /// Polygon p uses the points connectivity[offsets[p-1]..offsets[p]).
  void polygons(std::vector<std::int32_t> connectivity, std::vector<std::int32_t> offsets);
  template <class T, class F>
  void point_data(const std::string& name, int components, F value, std::vector<std::string> labels = {}) {
    sections_[3].push_back(column<T>(name, components, points_, std::move(value), std::move(labels)));
  }
  template <class T, class F>
  void cell_data(const std::string& name, int components, F value, std::vector<std::string> labels = {}) {
    sections_[4].push_back(
        column<T>(name, components, verts_ + polygons_, std::move(value), std::move(labels)));
  }

  /// Writes the file whole or not at all. Throws RunError.
  void write(const std::filesystem::path& path) const;

 private:
  struct Column {
    std::string name, type;
    int components;
    Global count;
    std::size_t item_bytes;  ///< of one item with all its components
    std::vector<std::string> labels;
    std::function<void(Global begin, Global end, char* out)> fill;
  };

  template <class T>
  static const char* vtk_type();
  template <class T, class F>
  static Column column(const std::string& name, int components, Global count, F value,
                       std::vector<std::string> labels = {}) {
    auto fill = [value = std::move(value), components](Global begin, Global end, char* out) {
      T* to = reinterpret_cast<T*>(out);
      for (Global i = begin; i < end; ++i)
        for (int c = 0; c < components; ++c) *to++ = static_cast<T>(value(static_cast<Local>(i), c));
    };
    return {name,           vtk_type<T>(), components, count, components * sizeof(T), std::move(labels),
            std::move(fill)};
  }

  Global points_, verts_, polygons_;
  double time_ = 0;
  std::vector<std::pair<std::string, Global>> facts_;
  std::vector<std::pair<std::string, std::vector<std::string>>> texts_;
  std::vector<Column> sections_[5];  ///< Points, Verts, Polys, PointData, CellData
};

template <>
inline const char* VtpFile::vtk_type<double>() {
  return "Float64";
}
template <>
inline const char* VtpFile::vtk_type<float>() {
  return "Float32";
}
template <>
inline const char* VtpFile::vtk_type<std::int64_t>() {
  return "Int64";
}
template <>
inline const char* VtpFile::vtk_type<std::int32_t>() {
  return "Int32";
}
template <>
inline const char* VtpFile::vtk_type<std::uint8_t>() {
  return "UInt8";
}

/// A ParaView collection (.pvd): file k shows the state at time times[k]. Names are relative to the
/// collection.
void write_pvd(const std::filesystem::path& path, const std::vector<double>& times,
               const std::function<std::string(std::size_t)>& file_name);

}  // namespace talus
