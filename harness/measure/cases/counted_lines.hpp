// The lines of source that hold most of a case's counters.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"

namespace convladder {

/// A line of a kernel's source with its counters, for all of a case's batch.
struct CountedLine {
  std::string file;  ///< base name; empty: instructions of which nobody has told the source
  int line = 0;
  std::string source;                      ///< its text, cut; empty where it was not read
  std::map<std::string, double> counters;  ///< sums by the profiler's names; no zeros

  /// "tiles.cu:88"; "no line" where nothing is known.
  std::string place() const;
  bool operator==(const CountedLine&) const = default;
};

/// The lines with a twentieth or more of a counter, by file and line. They still have their file's path, and no text.
std::vector<CountedLine> counted_lines(std::vector<LineCounters> all);

/// Shortens the paths of lines to base names and reads their texts. `folder`: only files below it are read, for texts
/// are shown in records, and a source may claim to be any file (#line). None: any file is read.
void read_sources(std::vector<CountedLine>& lines, const std::optional<std::filesystem::path>& folder);

}  // namespace convladder
