// The records that a history has read already, so that it need not read them again: one line of JSON for each record.
//
// Lines are only ever appended, each in one write under a lock, so two programs may use one index at once. A line is
// ignored if it is torn, because a program was killed or a disk was full, or if something else wrote it: its record is
// read again. A changed record has another size, time or inode, so its old line is passed over. Deleting the file costs
// time and nothing else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "harness/measure/records/recorded_run.hpp"

namespace convladder {

/// The state of a file, by which changes are noticed.
struct FileState {
  std::string path;  ///< absolute
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  ///< in nanoseconds since 1970
  std::uint64_t inode = 0;

  auto operator<=>(const FileState&) const = default;
};

class HistoryIndex {
 public:
  /// Reads the index if it exists. With an empty path nothing is read or kept.
  explicit HistoryIndex(const std::filesystem::path& path);

  /// The shortened record of a file in that state; null if the index has none.
  const RecordedRun* find(const FileState& state) const;
  /// Appends a shortened record (history_files.hpp). Where that fails, trouble() says why.
  void add(const FileState& state, const RecordedRun& run);

  int torn_lines() const { return torn_lines_; }           ///< lines that were passed over
  const std::string& trouble() const { return trouble_; }  ///< why the index cannot be used, one line; empty if it can

 private:
  void load();
  void read_line(std::string_view line);

  std::filesystem::path path_;
  std::map<FileState, RecordedRun> runs_;
  int torn_lines_ = 0;
  std::string trouble_;
};

}  // namespace convladder
