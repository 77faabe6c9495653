#include "harness/measure/cases/counters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

/// Nsight Compute ends the names of sums with ".sum"; ratios are means, which do not grow with the batch.
bool is_sum(std::string_view name) { return name.ends_with(".sum"); }

/// The most images that a kernel executed, among those that were not executed whole; the batch if all were.
int executed_images(const std::vector<KernelCounters>& kernels, int batch) {
  unsigned most = 0;
  for (const KernelCounters& kernel : kernels) most = std::max(most, kernel.items_executed);
  return most == 0 ? batch : static_cast<int>(most);
}

void add_sums(const CounterValues& values, CounterValues& sums) {
  for (const auto& [name, value] : values) {
    if (!is_sum(name)) continue;
    const auto known = std::ranges::find(sums, name, &CounterValues::value_type::first);
    if (known == sums.end()) {
      sums.emplace_back(name, value);
    } else {
      known->second += value;
    }
  }
}

}  // namespace

std::optional<double> counter_of(const CounterValues& counters, std::string_view name) {
  const auto found = std::ranges::find(counters, name, &CounterValues::value_type::first);
  return found == counters.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> sum_of(const CounterValues& counters, std::span<const char* const> names) {
  double sum = 0;
  for (const char* const name : names) {
    const std::optional<double> value = counter_of(counters, name);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

CaseCounters case_counters(std::vector<KernelCounters> kernels, int batch, bool exact, std::vector<CountedLine> lines) {
  CaseCounters counters{.images_executed = executed_images(kernels, batch),
                        .batch = batch,
                        .exact = exact,
                        .totals = {},
                        .modelled = {},
                        .kernels = std::move(kernels),
                        .lines = std::move(lines),
                        .beside = {}};
  if (counters.kernels.size() == 1) {  // a single kernel's ratios are the case's
    counters.totals = counters.kernels.front().values;
    counters.modelled = counters.kernels.front().modelled;
    return counters;
  }
  for (const KernelCounters& kernel : counters.kernels) {
    add_sums(kernel.values, counters.totals);
    add_sums(kernel.modelled, counters.modelled);
  }
  return counters;
}

std::string beside_line(std::string_view id, const CaseCounters& counters) {
  const WorkBeside& work = counters.beside;
  std::vector<std::string> parts;
  if (work.host_ns > 0) parts.push_back(fmt::format("work of the host ({}, measured)", time_text(work.host_ns)));
  if (work.bus_ns > 0) parts.push_back(fmt::format("copies between host and device ({})", time_text(work.bus_ns)));
  if (work.operations > 0) {
    parts.push_back(fmt::format("{} on the device ({})", plural(work.operations, "copy or fill", "copies and fills"),
                                memory_text(work.moved_bytes)));
  }
  if (work.calls_ns > 0) parts.push_back(fmt::format("allocating and freeing ({})", time_text(work.calls_ns)));
  if (parts.empty()) return {};
  return fmt::format("{}: its predicted times include, besides kernels: {}", id, fmt::join(parts, ", "));
}

std::optional<double> warp_instructions(const CaseCounters& counters) {
  return counter_of(counters.totals, "smsp__inst_executed.sum");
}

}  // namespace convladder
