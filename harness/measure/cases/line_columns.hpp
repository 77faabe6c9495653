// The figures of a line of source, from its counters.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace convladder {

/// A figure of a line or an instruction, in a column of tables and pages: a sum of counters, or the ratio of two.
struct LineColumn {
  const char* title;
  const char* unit;
  std::vector<const char*> counters;  ///< by Nsight Compute's names, added up
  std::vector<const char*> divided_by = {};
  bool in_text = true;  ///< otherwise only pages show it

  /// None where there is nothing to divide by, or a sum of nothing.
  std::optional<double> of(const std::map<std::string, double>& counters_of_line) const;
  /// The figure for people; empty for none.
  std::string text_of(const std::map<std::string, double>& counters_of_line) const;
};
/// All of them; the first counts executions.
std::span<const LineColumn> line_columns();

/// The sum of the counters of these names.
double added_up(const std::map<std::string, double>& counters, std::span<const char* const> names);

}  // namespace convladder
