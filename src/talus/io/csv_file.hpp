// A CSV file that grows by rows and can be taken up again: the first column is the step, in ascending order.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "talus/base/types.hpp"

namespace talus {

class CsvFile {
 public:
  /// Starts a new file with this header line, in place of one that is there.
  CsvFile(std::filesystem::path path, std::string_view header);
  /// Takes up an existing file after its rows of steps ≤ last_step: later rows, and a last one that was cut
  /// off, are removed. Where the file is missing or has another header it is started anew and `note()` says
  /// so.
  CsvFile(std::filesystem::path path, std::string_view header, Global last_step);
  /// Writes what is waiting, without complaint.
  ~CsvFile();
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  /// Adds a row (without line end). Rows reach the file when enough wait or a second has passed. Throws
  /// RunError.
  void row(std::string_view text);
  void flush();
  /// Everything so far survives a loss of power.
  void sync();
  /// What was odd about the file that was taken up; empty when nothing was.
  const std::string& note() const { return note_; }

 private:
  void start(std::string_view header);
  bool write_out();

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::string waiting_;
  double last_flush_ = 0;
  std::string note_;
};

/// A text as a CSV field: quoted where it must be.
std::string csv_field(const std::string& text);

}  // namespace talus
