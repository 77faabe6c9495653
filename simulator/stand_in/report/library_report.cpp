// Libraries that a program calls, in reports.
#include <fmt/format.h>

#include <map>

#include "simulator/stand_in/report/libraries_without_ptx.hpp"
#include "simulator/stand_in/report/process_report.hpp"

namespace convladder::stand_in {

bool is_of_library(const CallFailure& failure) {
  if (!failure.library.empty()) return true;
  return failure.places != nullptr && !failure.places->empty() && holds_no_ptx(failure.places->front().file);
}

std::vector<std::string> library_lines(const std::vector<LibraryCallSum>& calls) {
  std::map<std::string, std::uint64_t> counts;
  for (const LibraryCallSum& one : calls) counts[one.library] += one.predicted.count;
  std::vector<std::string> lines;
  for (const auto& [library, count] : counts) {
    lines.push_back(fmt::format(
        "{} call{} of {} {} computed on the host: neither simulated nor counted, the times are predicted from the work",
        count, count == 1 ? "" : "s", library, count == 1 ? "was" : "were"));
  }
  return lines;
}

}  // namespace convladder::stand_in
