// `convladder list --metrics`: the metrics that the simulated device counts.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "harness/commands/list/topics.hpp"
#include "harness/measure/records/listing.hpp"
#include "simulator/counters/metrics.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

/// Several metrics share a note: each is printed once, below, and named by its number.
std::string metrics_text() {
  std::string text;
  std::vector<std::string_view> notes;
  text += "metrics of the simulated device, by Nsight Compute's names; [n] is a note below\n";
  for (const simulated::Metric& metric : simulated::metrics()) {
    auto note = std::ranges::find(notes, metric.note);
    if (note == notes.end()) note = notes.insert(note, metric.note);
    text += fmt::format("\n  {}\n", metric.name);
    text +=
        hanging("    ", fmt::format("{}, in {}{}: {} [{}]", metric.title, metric.unit,
                                    metric.modelled ? " (modelled)" : "", metric.definition, note - notes.begin() + 1));
  }
  text += "\nnotes\n";
  for (std::size_t i = 0; i < notes.size(); ++i) text += hanging(fmt::format("  [{}] ", i + 1), std::string(notes[i]));
  return text;
}

}  // namespace

std::string metrics_listing(const std::string& format) {
  return format == "json" ? metrics_json_text() : metrics_text();
}

}  // namespace convladder
