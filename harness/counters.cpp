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

BatchCounters::BatchCounters(const CountedImages& part, const CountedImages& whole, const CountedImages& rest,
                             int batch)
    : result_(whole.kernels) {
  const double parts = batch / part.images;
  for (std::size_t k = 0; k < result_.size(); ++k) {
    for (std::size_t i = 0; i < result_[k].values.size(); ++i) {
      auto& [name, value] = result_[k].values[i];
      if (!is_sum(name)) continue;
      const double of_part = part.kernels.at(k).values.at(i).second;
      exact_ = exact_ && value == 2 * of_part;
      value = parts * of_part + (rest.kernels.empty() ? 0 : rest.kernels.at(k).values.at(i).second);
    }
    for (std::size_t i = 0; i < result_[k].modelled.size(); ++i) {
      auto& [name, value] = result_[k].modelled[i];
      if (!is_sum(name)) continue;
      const double of_part = part.kernels.at(k).modelled.at(i).second;
      const double per_image = (value - of_part) / (whole.images - part.images);
      value = of_part + per_image * (batch - part.images);
    }
  }
}

ordered_json counters_json(const std::vector<KernelCounters>& kernels, int images, int batch, bool exact) {
  ordered_json list = ordered_json::array();
  ordered_json totals = ordered_json::object();
  ordered_json modelled_totals = ordered_json::object();
  const auto add = [](const auto& values, ordered_json& sums) {
    ordered_json of_kernel = ordered_json::object();
    for (const auto& [name, value] : values) {
      of_kernel[name] = value;
      if (is_sum(name)) sums[name] = sums.value(name, 0.0) + value;
    }
    return of_kernel;
  };
  for (const KernelCounters& kernel : kernels) {
    ordered_json values = add(kernel.values, totals);
    ordered_json modelled = add(kernel.modelled, modelled_totals);
    list.push_back({{"kernel", kernel.kernel},
                    {"grid", dim_json(kernel.grid)},
                    {"block", dim_json(kernel.block)},
                    {"values", std::move(values)},
                    {"modelled", std::move(modelled)}});
  }
  if (kernels.size() == 1) {  // a single kernel's ratios are the case's
    totals = list.front().at("values");
    modelled_totals = list.front().at("modelled");
  }
  return {{"kind", "counted"},
          {"of", "PTX instructions executed by the simulated device; 'modelled': traffic below its model of caches"},
          {"images_executed", images},
          {"batch", batch},
          {"exact", exact},
          {"totals", std::move(totals)},
          {"modelled", std::move(modelled_totals)},
          {"kernels", std::move(list)}};
}

}  // namespace convladder
