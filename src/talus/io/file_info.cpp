#include "talus/io/file_info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "talus/base/error.hpp"
#include "talus/io/checkpoint.hpp"
#include "talus/io/fclib.hpp"
#include "talus/io/hdf5_file.hpp"
#include "talus/io/scene_text.hpp"

namespace talus {
namespace {

namespace fs = std::filesystem;

std::string line(const std::string& what, const std::string& value) {
  return fmt::format("  {:<16}{}\n", what, value);
}

std::string checkpoint_info(const fs::path& path) {
  const CheckpointInfo info = read_checkpoint_info(path);
  const Scene scene = parse_scene(info.scene, path.string() + ": scene");
  std::string text = fmt::format("{}: checkpoint, whole\n", path.string());
  text += line("scene", scene.title.empty() ? "(untitled)" : scene.title);
  text += line("step", fmt::format("{}", info.step));
  text += line("time", fmt::format("{:.9g} s of {:g} s", info.time, scene.simulation.duration));
  text += line("bodies", fmt::format("{}", info.bodies));
  text += line("contacts", fmt::format("{} with impulses for the next solve", info.contacts));
  text += line("frames", fmt::format("{} written before it", info.frames));
  text += line("solver", scene.solver.name);
  text += line("written by", "talus " + info.version);
  text += line("size", bytes_text(static_cast<Global>(fs::file_size(path))));
  return text;
}

std::string problem_info(const fs::path& path) {
  const FclibProblem p = read_fclib(path);
  std::string text = fmt::format("{}: contact problem (FCLib)\n", path.string());
  if (!p.title.empty()) text += line("title", p.title);
  if (!p.description.empty()) text += line("description", p.description);
  text += line("form", p.form == FclibProblem::Form::local ? "local: u = W r + q"
                                                           : "global: M v = H r + f, u = Hᵀ v + w");
  text += line("contacts", fmt::format("{} of {} rows", p.contacts(), p.block));
  if (p.contacts() > 0)
    text += line("friction", fmt::format("{:g} to {:g}", p.friction.minCoeff(), p.friction.maxCoeff()));
  if (p.form == FclibProblem::Form::local)
    text += line("W", fmt::format("{} x {}, {} entries", p.W.rows(), p.W.cols(), p.W.nonZeros()));
  else
    text += line("M, H", fmt::format("{} x {}, {} and {} entries", p.H.rows(), p.H.cols(), p.M.nonZeros(),
                                     p.H.nonZeros()));
  text += line("guess, solution",
               fmt::format("{}, {}", p.guess.r.size() ? "yes" : "no", p.solution.r.size() ? "yes" : "no"));
  return text;
}

void list_group(const Hdf5File& file, const std::string& group, int depth, std::string& text) {
  if (depth > 8) return;
  for (const std::string& name : file.children(group)) {
    const std::string object = group == "/" ? name : group + "/" + name;
    const std::string indent(2 * static_cast<std::size_t>(depth), ' ');
    if (file.is_group(object)) {
      text += fmt::format("{}{}/\n", indent, name);
      list_group(file, object, depth + 1, text);
    } else if (file.is_dataset(object)) {
      text += fmt::format("{}{:<20} {} {}\n", indent, name, file.type_name(object),
                          fmt::join(file.shape(object), " x "));
    }
  }
}

std::string hdf5_info(const fs::path& path) {
  const Hdf5File file = Hdf5File::open(path.string());
  for (const std::string& name : file.children("/"))
    if (name.rfind("fclib_", 0) == 0 && file.is_group(name)) return problem_info(path);
  std::string text = fmt::format("{}: HDF5 file\n", path.string());
  list_group(file, "/", 1, text);
  return text;
}

/// The XML head of a frame, up to its binary part.
std::string xml_head(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string head, row;
  while (std::getline(in, row) && row.find("<AppendedData") == std::string::npos && head.size() < (1 << 24))
    head += row + '\n';
  return head;
}

/// All texts that stand between `before` and `after`.
std::vector<std::string> texts_between(const std::string& text, std::string_view before,
                                       std::string_view after) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    at += before.size();
    const std::size_t end = text.find(after, at);
    if (end == std::string::npos) break;
    found.push_back(text.substr(at, end - at));
  }
  return found;
}

std::string first_between(const std::string& text, std::string_view before, std::string_view after) {
  const auto all = texts_between(text, before, after);
  return all.empty() ? "?" : all.front();
}

/// The value of a fact that is written out in a frame's head.
std::string fact(const std::string& head, const char* name) {
  return first_between(head, fmt::format("Name=\"{}\" NumberOfTuples=\"1\" format=\"ascii\">", name), "<");
}

std::string frame_info(const fs::path& path) {
  const std::string head = xml_head(path);
  if (head.find("type=\"PolyData\"") == std::string::npos)
    throw InputError(fmt::format("{}: no PolyData frame", path.string()));
  std::string text = fmt::format("{}: frame\n", path.string());
  text += line("time", fact(head, "TimeValue") + " s");
  text += line("step", fact(head, "step"));
  text += line("points", first_between(head, "NumberOfPoints=\"", "\""));
  text += line("polygons", first_between(head, "NumberOfPolys=\"", "\""));
  const auto arrays = [&](const char* section) {
    const std::size_t begin = head.find(fmt::format("<{}>", section)),
                      end = head.find(fmt::format("</{}>", section));
    if (begin == std::string::npos || end == std::string::npos) return std::vector<std::string>();
    return texts_between(head.substr(begin, end - begin), " Name=\"", "\"");
  };
  for (const auto& [what, section] : {std::pair{"of points", "PointData"}, std::pair{"of cells", "CellData"}})
    if (const auto names = arrays(section); !names.empty())
      text += line(what, fmt::format("{}", fmt::join(names, ", ")));
  return text;
}

std::string collection_info(const fs::path& path) {
  const std::string text = xml_head(path);
  const std::vector<std::string> times = texts_between(text, "timestep=\"", "\"");
  std::string out = fmt::format("{}: series of frames\n", path.string());
  out += line("frames", fmt::format("{}", times.size()));
  if (!times.empty()) out += line("times", fmt::format("{} s to {} s", times.front(), times.back()));
  return out;
}

std::string table_info(const fs::path& path) {
  std::ifstream in(path);
  std::string header, row;
  std::getline(in, header);
  Global rows = 0;
  while (std::getline(in, row)) ++rows;
  return fmt::format("{}: table\n", path.string()) + line("rows", fmt::format("{}", rows)) +
         line("columns", header);
}

std::string directory_info(const fs::path& path) {
  const fs::path summary = path / "summary.json";
  std::string text = fmt::format("{}: results of a run\n", path.string());
  if (std::ifstream in(summary); in) {
    const auto j = nlohmann::json::parse(in, nullptr, false);
    if (j.is_discarded()) throw InputError(fmt::format("{}: damaged", summary.string()));
    text += line("outcome", j.value("outcome", "?"));
    if (j.contains("reason")) text += line("why", j.value("reason", ""));
    text += line("bodies", fmt::format("{}", j.value("bodies", 0)));
    text += line("steps", fmt::format("{} of {}, {:g} s", j.value("steps", 0), j.value("steps_wanted", 0),
                                      j.value("simulated_s", 0.0)));
    text += line("unconverged", fmt::format("{} steps", j.value("unconverged_steps", 0)));
    text += line("state", j.value("state_hash", "?"));
  } else if (!fs::exists(path / "steps.csv")) {
    throw InputError(fmt::format("{}: a directory, but not one that a run wrote", path.string()));
  } else {
    text += line("outcome", "not ended (no summary.json)");
  }
  for (const auto& checkpoint : CheckpointStore(path / "checkpoints", 1).list()) {
    const std::string damage = checkpoint_damage(checkpoint);
    text += line("checkpoint",
                 fmt::format("{}: {}", checkpoint.filename().string(), damage.empty() ? "whole" : damage));
  }
  return text;
}

}  // namespace

std::string file_info(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw InputError(fmt::format("{}: no such file", path.string()));
  if (fs::is_directory(path, error)) return directory_info(path);
  if (looks_like_checkpoint(path)) return checkpoint_info(path);
  if (looks_like_hdf5(path.string())) return hdf5_info(path);
  const std::string kind = path.extension().string();
  if (kind == ".toml") {
    const Scene scene = load_scene(path);
    return scene_text(scene, build_world(scene));
  }
  if (kind == ".vtp") return frame_info(path);
  if (kind == ".pvd") return collection_info(path);
  if (kind == ".csv") return table_info(path);
  throw InputError(
      fmt::format("{}: not a checkpoint, scene, problem, frame or table of Talus", path.string()));
}

}  // namespace talus
