// The lines by which two kernels differ, such as two stages or two builds.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/simulation/kernel_lines.hpp"

namespace convladder {

struct LabelledLines {
  std::string label;  ///< "A"
  const KernelLines& lines;
};

/// Adds the lines that differ, those that change the most of the kernels' work first. Two lines are the same where
/// their text is, in the order of the files.
void add_line_differences(Report& report, const LabelledLines& one, const LabelledLines& other);
/// These lines as pairs of indices into the lines of both, null where one lacks the line.
nlohmann::ordered_json line_differences_json(const KernelLines& one, const KernelLines& other);

/// The pairs of equal lines of two texts, as indices, in order: a longest common subsequence.
std::vector<std::pair<std::size_t, std::size_t>> common_lines(const std::vector<std::string>& one,
                                                              const std::vector<std::string>& other);

}  // namespace convladder
