// Files that are either whole or absent: written under another name, then renamed. A failure (disk full, no
// permission) is a RunError that says what the system said.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace talus {

/// What the last failed system call said, for messages.
std::string system_reason();

/// Makes a directory and those above it. Throws RunError.
void make_directory(const std::filesystem::path& path);

/// Asks the system to put a file, or a directory's list of names, onto the disk now. Throws RunError.
void sync_file(const std::filesystem::path& path);
void sync_directory(const std::filesystem::path& path);

class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  /// Removes what was written unless it was committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Closes the file and gives it its name, in place of one that had it. `durable`: survives a loss of power.
  void commit(bool durable = false);

 private:
  void flush();
  std::filesystem::path path_, part_;
  int descriptor_ = -1;
  std::string buffer_;
};

/// A whole text file in one call.
void write_text_file(const std::filesystem::path& path, std::string_view text, bool durable = false);

}  // namespace talus
