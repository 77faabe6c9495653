#include "harness/judge/duel/kernels/counted_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "datasets/synthetic_images.hpp"
#include "devices/device_registry.hpp"
#include "harness/judge/compare/counter_comparison.hpp"
#include "harness/measure/cases/case_client.hpp"
#include "harness/measure/cases/case_messages.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

constexpr const char* kCountingDevice = "simulated";

/// The case's counters. Throws CaseFailure.
CaseCounters counted(PlannedCase planned, const std::string& program, std::uint64_t seed, double seconds) {
  planned.device = kCountingDevice;
  const CompiledStage* const stage = planned.variant.variant->compiled_stage();
  if (stage != nullptr) {
    if (const std::string why = why_not_executed(*stage); !why.empty()) throw CaseFailure(Status::unsupported, why);
  }
  const Workload workload(planned.work, synthetic_images(1, seed), seed);
  const OpenCase open = start_case_process(planned, workload, {}, seconds, program);
  open.ask(to_case::Prepare{ProblemKind::real});
  CaseCounters counters = open.ask(to_case::Count()).counters;
  if (counters.kernels.empty()) throw CaseFailure(Status::refused, "it launches no kernel");
  read_sources(counters.lines, stage == nullptr ? std::nullopt : std::optional(stage->folder));
  return counters;
}

}  // namespace

std::vector<std::string> counted_causes(const KernelPair& pair, const std::string& base_program,
                                        const std::string& new_program, std::uint64_t seed, double seconds) {
  const auto is_countable = [](const PlannedCase& one) {
    return one.variant.info.family == "cuda" && (one.variant.info.rung || one.variant.variant->compiled_stage());
  };
  if (!is_countable(pair.base) || !is_countable(pair.now)) return {};
  if (std::ranges::find(device_kinds(), kCountingDevice, &DeviceKind::name) == device_kinds().end()) return {};
  try {
    const CaseCounters base = counted(pair.base, base_program, seed, seconds);
    const CaseCounters now = counted(pair.now, new_program, seed, seconds);
    ComparedCase compared;
    compare_counters(base, now, compared);
    if (compared.counters.empty()) return {"counted: no counter differs, so they do not say why"};
    std::vector<std::string> causes = {fmt::format("counted: {}", moved_text(compared.counters))};
    std::ranges::move(compared.lines, std::back_inserter(causes));
    return causes;
  } catch (const CaseFailure& failure) {
    return {fmt::format("not counted: {}", printable(failure.what()))};
  }
}

}  // namespace convladder
