#include "harness/judge/gate/baseline_compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "harness/measure/cases/counters.hpp"
#include "simulator/counters/metrics.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

void compare_counters(const std::string& kernel, const CounterValues& recorded, const CounterValues& now, bool modelled,
                      std::vector<CounterMove>& moves) {
  for (const auto& [name, value] : now) {
    const std::optional<double> before = counter_of(recorded, name);
    if (before != value) moves.push_back({kernel, name, modelled, before, value});
  }
  for (const auto& [name, value] : recorded) {
    if (!counter_of(now, name)) moves.push_back({kernel, name, modelled, value, std::nullopt});
  }
}

/// The launch's dimensions as counters.
CounterValues dimensions(const KernelCounters& kernel) {
  return {{"grid.x", kernel.grid.x},   {"grid.y", kernel.grid.y},   {"grid.z", kernel.grid.z},
          {"block.x", kernel.block.x}, {"block.y", kernel.block.y}, {"block.z", kernel.block.z}};
}

/// The sums over all launches; ratios cannot be summed and are left out.
CounterValues totals(const std::vector<KernelCounters>& kernels, CounterValues KernelCounters::*counters) {
  CounterValues sums;
  for (const KernelCounters& kernel : kernels) {
    for (const auto& [name, value] : kernel.*counters) {
      if (!name.ends_with(".sum")) continue;
      const auto found = std::ranges::find(sums, name, &CounterValues::value_type::first);
      if (found == sums.end()) {
        sums.emplace_back(name, value);
      } else {
        found->second += value;
      }
    }
  }
  return sums;
}

std::vector<CounterMove> compare_kernels(const std::vector<KernelCounters>& recorded,
                                         const std::vector<KernelCounters>& now) {
  std::vector<CounterMove> moves;
  if (recorded.size() == now.size()) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      compare_counters(now[i].kernel, dimensions(recorded[i]), dimensions(now[i]), false, moves);
      compare_counters(now[i].kernel, recorded[i].values, now[i].values, false, moves);
      compare_counters(now[i].kernel, recorded[i].modelled, now[i].modelled, true, moves);
    }
  } else {  // which launches correspond is unknown
    const std::string all = "all launches";
    moves.push_back({all, "launches", false, recorded.size(), now.size()});
    compare_counters(all, totals(recorded, &KernelCounters::values), totals(now, &KernelCounters::values), false,
                     moves);
    compare_counters(all, totals(recorded, &KernelCounters::modelled), totals(now, &KernelCounters::modelled), true,
                     moves);
  }
  std::ranges::stable_sort(moves, [](const CounterMove& a, const CounterMove& b) {
    return std::pair(!a.modelled, std::abs(a.change())) > std::pair(!b.modelled, std::abs(b.change()));
  });
  return moves;
}

std::string case_id(const std::string& network, const BaselineCase& one) {
  return fmt::format("simulated/{}/{}.{}/{}", printable(one.variant), network, printable(one.layer),
                     one.shape ? one.shape->batch : 1);
}

/// Compares a case with a baseline of the same variant and layer, from the same compiler or with the same PTX.
void compare_with(ComparedCounters& compared, const BaselineCase& recorded, const BaselineCase& now) {
  compared.ptx_changed = recorded.ptx_sha256 != now.ptx_sha256;
  if (recorded.shape != now.shape) {
    compared.verdict = BaselineVerdict::shape_changed;
    compared.reason = recorded.shape
                          ? fmt::format("recorded for {}, batch {}", size_name(*recorded.shape), recorded.shape->batch)
                          : "recorded for a size of a folder";
  } else if (recorded.unsupported.empty() != now.unsupported.empty()) {
    compared.verdict = BaselineVerdict::moved;
    compared.reason = now.unsupported.empty() ? "was unsupported and is now counted"
                                              : fmt::format("is now unsupported: {}", now.unsupported);
  } else {
    compared.moves = compare_kernels(recorded.kernels, now.kernels);
    if (!compared.moves.empty()) compared.verdict = BaselineVerdict::moved;
  }
}

}  // namespace

double CounterMove::change() const {
  if (!recorded || !now || *recorded == 0) return std::numeric_limits<double>::infinity();
  return *now / *recorded - 1;
}

std::string CounterMove::title() const {
  std::string title = simulated::metric_title(counter);
  return title.empty() ? printable(counter, 28) : title;
}

std::string_view verdict_name(BaselineVerdict verdict) {
  constexpr std::array<std::string_view, 7> names = {"moved",   "failed", "compiler changed", "shape changed", "new",
                                                     "missing", "same"};
  return names.at(static_cast<std::size_t>(verdict));
}

bool same_place(const BaselineCase& a, const BaselineCase& b) {
  return a.compiler == b.compiler && a.version == b.version && a.layer == b.layer && a.variant == b.variant;
}

ComparedCounters compare_case(const std::string& network, const CountedCase& counted,
                              const std::vector<BaselineCase>& recorded) {
  const BaselineCase& now = counted.baseline;
  ComparedCounters compared;
  compared.id = case_id(network, now);
  compared.compiler = now.compiler;
  compared.version = now.version;
  if (!counted.failure.empty()) {
    compared.verdict = BaselineVerdict::failed;
    compared.reason = counted.failure;
    return compared;
  }
  const BaselineCase* same_ptx = nullptr;
  std::set<std::string> versions;  // of the same compiler
  for (const BaselineCase& one : recorded) {
    if (same_place(one, now)) {
      compare_with(compared, one, now);
      return compared;
    }
    if (one.compiler != now.compiler || one.layer != now.layer || one.variant != now.variant) continue;
    versions.insert(printable(one.version));
    if (one.ptx_sha256 == now.ptx_sha256) same_ptx = &one;
  }
  if (same_ptx != nullptr) {
    compare_with(compared, *same_ptx, now);
  } else if (!versions.empty()) {
    compared.verdict = BaselineVerdict::compiler_changed;
    compared.reason =
        fmt::format("recorded with {} {}, which makes different PTX", now.compiler, fmt::join(versions, ", "));
  } else {
    compared.verdict = BaselineVerdict::is_new;
    compared.reason = "no baseline";
  }
  return compared;
}

ComparedCounters missing_case(const std::string& network, const BaselineCase& recorded) {
  return {.id = case_id(network, recorded),
          .compiler = printable(recorded.compiler),
          .version = printable(recorded.version),
          .verdict = BaselineVerdict::missing,
          .ptx_changed = false,
          .reason = "recorded, but this program has no such case",
          .moves = {}};
}

}  // namespace convladder
