#include "talus/io/vtp_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "talus/io/output_file.hpp"

namespace talus {
namespace {

constexpr const char* section_name[] = {"Points", "Verts", "Polys", "PointData", "CellData"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

}  // namespace

void VtpFile::points_are_verts() {
  sections_[1].push_back(column<std::int32_t>("connectivity", 1, verts_, [](Local i, int) { return i; }));
  sections_[1].push_back(column<std::int32_t>("offsets", 1, verts_, [](Local i, int) { return i + 1; }));
}

void VtpFile::polygons(std::vector<std::int32_t> connectivity, std::vector<std::int32_t> offsets) {
  const auto add = [this](const char* name, std::vector<std::int32_t> values) {
    const auto count = static_cast<Global>(values.size());
    sections_[2].push_back(
        column<std::int32_t>(name, 1, count, [v = std::move(values)](Local i, int) { return v[i]; }));
  };
  add("connectivity", std::move(connectivity));
  add("offsets", std::move(offsets));
}

void VtpFile::write(const std::filesystem::path& path) const {
  std::string head = fmt::format(
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
      "<PolyData>\n<FieldData>\n"
      "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}</DataArray>\n",
      time_);
  for (const auto& [name, value] : facts_)
    head += fmt::format(
        "<DataArray type=\"Int64\" Name=\"{}\" NumberOfTuples=\"1\" format=\"ascii\">{}</DataArray>\n", name,
        value);
  for (const auto& [name, values] : texts_) {
    head += fmt::format("<DataArray type=\"String\" Name=\"{}\" NumberOfTuples=\"{}\" format=\"ascii\">",
                        name, values.size());
    for (const std::string& text : values) {  // VTK writes strings as the codes of their characters
      for (const char c : text) head += fmt::format("{} ", static_cast<int>(static_cast<unsigned char>(c)));
      head += "0 ";
    }
    head += "</DataArray>\n";
  }
  head += fmt::format(
      "</FieldData>\n<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"0\" "
      "NumberOfStrips=\"0\" "
      "NumberOfPolys=\"{}\">\n",
      points_, verts_, polygons_);

  std::uint64_t offset = 0;
  for (int s = 0; s < 5; ++s) {
    head += fmt::format("<{}>\n", section_name[s]);
    for (const Column& c : sections_[s]) {
      std::string labels;
      for (std::size_t k = 0; k < c.labels.size(); ++k)
        labels += fmt::format(" ComponentName{}=\"{}\"", k, escaped(c.labels[k]));
      head += fmt::format(
          "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"{} format=\"appended\" "
          "offset=\"{}\"/>\n",
          c.type, escaped(c.name), c.components, labels, offset);
      offset += sizeof(std::uint64_t) + c.count * c.item_bytes;
    }
    head += fmt::format("</{}>\n", section_name[s]);
  }
  head += "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_";

  OutputFile file(path);
  file.write(head);
  constexpr Global chunk = 4096;
  std::vector<char> buffer;
  for (const auto& section : sections_)
    for (const Column& c : section) {
      const std::uint64_t bytes = c.count * c.item_bytes;
      file.write(&bytes, sizeof bytes);
      buffer.resize(chunk * c.item_bytes);
      for (Global begin = 0; begin < c.count; begin += chunk) {
        const Global end = std::min(c.count, begin + chunk);
        c.fill(begin, end, buffer.data());
        file.write(buffer.data(), (end - begin) * c.item_bytes);
      }
    }
  file.write("\n</AppendedData>\n</VTKFile>\n");
  file.commit();
}

void write_pvd(const std::filesystem::path& path, const std::vector<double>& times,
               const std::function<std::string(std::size_t)>& file_name) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
      "byte_order=\"LittleEndian\">\n<Collection>\n";
  for (std::size_t k = 0; k < times.size(); ++k)
    text +=
        fmt::format("<DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n", times[k], escaped(file_name(k)));
  text += "</Collection>\n</VTKFile>\n";
  write_text_file(path, text);
}

}  // namespace talus
