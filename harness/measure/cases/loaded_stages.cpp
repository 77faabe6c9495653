#include "harness/measure/cases/loaded_stages.hpp"

#include <algorithm>

#include "harness/measure/isolation/case_confinement.hpp"
#include "simulator/stand_in/libraries.hpp"

namespace convladder {

std::unique_ptr<Device> open_for_stages(const DeviceKind& kind, const std::vector<const CompiledStage*>& stages) {
  const bool launches = std::ranges::any_of(stages, [](const auto* stage) { return stage->launches_by_itself(); });
  return kind.has_clock || !launches ? kind.open() : stand_in::open_device();
}

void confine_for_stages(const DeviceKind& kind, const std::vector<const CompiledStage*>& stages) {
  if (stages.empty()) return;
  CaseNeeds needs{.readable = {stand_in::find_libraries()}, .uses_gpu = kind.has_clock};
  for (const CompiledStage* const stage : stages) {
    for (std::filesystem::path& one : files_to_load(stage->build.library)) needs.readable.push_back(std::move(one));
  }
  confine_case(needs);
}

}  // namespace convladder
