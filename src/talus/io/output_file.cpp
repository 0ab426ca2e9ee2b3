#include "talus/io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "talus/base/error.hpp"

namespace talus {
namespace {
constexpr std::size_t buffer_size = std::size_t{1} << 18;

void sync_path(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  const bool ok = descriptor >= 0 && ::fsync(descriptor) == 0;
  const std::string reason = system_reason();
  if (descriptor >= 0) ::close(descriptor);
  if (!ok) throw RunError(fmt::format("{}: cannot be put onto the disk ({})", path.string(), reason));
}
}  // namespace

std::string system_reason() {
  return std::strerror(errno);
}

void make_directory(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw RunError(fmt::format("{}: cannot be created ({})", path.string(), error.message()));
}

void sync_file(const std::filesystem::path& path) {
  sync_path(path, O_RDONLY);
}

void sync_directory(const std::filesystem::path& path) {
  sync_path(path.empty() ? "." : path, O_RDONLY | O_DIRECTORY);
}

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)), part_(path_.string() + ".part") {
  descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    throw RunError(fmt::format("{}: cannot be created ({})", path_.string(), system_reason()));
  buffer_.reserve(buffer_size);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(part_.c_str());
}

void OutputFile::write(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const std::size_t room = std::min(bytes, buffer_size - buffer_.size());
    buffer_.append(from, room);
    from += room;
    bytes -= room;
    if (buffer_.size() == buffer_size) flush();
  }
}

void OutputFile::flush() {
  const char* from = buffer_.data();
  std::size_t left = buffer_.size();
  while (left > 0) {
    const ssize_t done = ::write(descriptor_, from, left);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw RunError(fmt::format("{}: cannot be written ({})", path_.string(), system_reason()));
    from += done;
    left -= static_cast<std::size_t>(done);
  }
  buffer_.clear();
}

void OutputFile::commit(bool durable) {
  flush();
  bool ok = !durable || ::fsync(descriptor_) == 0;
  ok = ::close(std::exchange(descriptor_, -1)) == 0 && ok;
  if (!ok || ::rename(part_.c_str(), path_.c_str()) != 0) {
    const std::string reason = system_reason();
    ::unlink(part_.c_str());
    throw RunError(fmt::format("{}: cannot be written ({})", path_.string(), reason));
  }
  if (durable) sync_directory(path_.parent_path());
}

void write_text_file(const std::filesystem::path& path, std::string_view text, bool durable) {
  OutputFile file(path);
  file.write(text);
  file.commit(durable);
}

}  // namespace talus
