#include "talus/io/csv_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <utility>

#include "talus/base/error.hpp"
#include "talus/base/timer.hpp"
#include "talus/io/output_file.hpp"

namespace talus {
namespace {
constexpr std::size_t enough = std::size_t{1} << 16;

[[noreturn]] void cannot_write(const std::filesystem::path& path) {
  throw RunError(fmt::format("{}: cannot be written ({})", path.string(), system_reason()));
}
}  // namespace

CsvFile::CsvFile(std::filesystem::path path, std::string_view header) : path_(std::move(path)) {
  start(header);
}

CsvFile::CsvFile(std::filesystem::path path, std::string_view header, Global last_step)
    : path_(std::move(path)) {
  std::ifstream in(path_, std::ios::binary);
  std::string line;
  if (!in || !std::getline(in, line) || line != header || in.eof()) {
    note_ = fmt::format("{} {}; it begins at step {} now", path_.string(),
                        in ? "has other columns than this version writes" : "was not there", last_step + 1);
    if (in) {  // somebody may still want it
      std::error_code ignored;
      std::filesystem::rename(path_, path_.string() + ".before", ignored);
    }
    in.close();
    start(header);
    return;
  }
  std::streamoff keep = in.tellg();
  Global last_kept = -1;
  while (std::getline(in, line) && !in.eof()) {  // a line that ends with the file was cut off
    Global step = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), step).ec != std::errc() || step > last_step)
      break;
    last_kept = step;
    keep = in.tellg();
  }
  in.close();
  if (last_kept >= 0 && last_kept != last_step)
    note_ = fmt::format("{} has no row of step {}: rows are missing before it", path_.string(), last_step);
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0 || ::ftruncate(descriptor_, keep) != 0 || ::lseek(descriptor_, keep, SEEK_SET) < 0)
    cannot_write(path_);
  last_flush_ = wall_seconds();
}

void CsvFile::start(std::string_view header) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) cannot_write(path_);
  row(header);
  flush();
}

CsvFile::~CsvFile() {
  if (descriptor_ < 0) return;
  write_out();
  ::close(descriptor_);
}

void CsvFile::row(std::string_view text) {
  waiting_.append(text);
  waiting_.push_back('\n');
  if (waiting_.size() >= enough || wall_seconds() - last_flush_ > 1) flush();
}

bool CsvFile::write_out() {
  std::size_t done = 0;
  while (done < waiting_.size()) {
    const ssize_t now = ::write(descriptor_, waiting_.data() + done, waiting_.size() - done);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) break;
    done += static_cast<std::size_t>(now);
  }
  waiting_.erase(0, done);
  last_flush_ = wall_seconds();
  return waiting_.empty();
}

void CsvFile::flush() {
  if (!write_out()) cannot_write(path_);
}

void CsvFile::sync() {
  flush();
  if (::fsync(descriptor_) != 0 && errno != EINVAL) cannot_write(path_);  // EINVAL: a pipe or device
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace talus
