#include "harness/counters.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/shape_json.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// Nsight Compute ends the names of sums with ".sum"; ratios are means, which do not grow with the batch.
bool is_sum(std::string_view name) { return name.ends_with(".sum"); }

}  // namespace

ScaledCounters::ScaledCounters(std::vector<KernelCounters> part, int times) : counters_(std::move(part)) {
  for (KernelCounters& kernel : counters_) {
    for (auto& [name, value] : kernel.values) value *= is_sum(name) ? times : 1;
  }
}

void ScaledCounters::add(const std::vector<KernelCounters>& rest) {
  for (std::size_t k = 0; k < counters_.size() && k < rest.size(); ++k) {
    for (std::size_t i = 0; i < counters_[k].values.size() && i < rest[k].values.size(); ++i) {
      auto& [name, value] = counters_[k].values[i];
      if (is_sum(name)) value += rest[k].values[i].second;
    }
  }
}

ordered_json counters_json(const std::vector<KernelCounters>& kernels, int images, int batch, bool exact) {
  ordered_json list = ordered_json::array();
  ordered_json totals = ordered_json::object();
  for (const KernelCounters& kernel : kernels) {
    ordered_json values = ordered_json::object();
    for (const auto& [name, value] : kernel.values) {
      values[name] = value;
      if (is_sum(name)) totals[name] = totals.value(name, 0.0) + value;
    }
    list.push_back({{"kernel", kernel.kernel},
                    {"grid", dim_json(kernel.grid)},
                    {"block", dim_json(kernel.block)},
                    {"values", std::move(values)}});
  }
  if (kernels.size() == 1) totals = list.front().at("values");  // a single kernel's ratios are the case's
  return {{"kind", "counted"},
          {"of", "PTX instructions executed by the simulated device"},
          {"images_executed", images},
          {"batch", batch},
          {"exact", exact},
          {"totals", std::move(totals)},
          {"kernels", std::move(list)}};
}

}  // namespace convladder
