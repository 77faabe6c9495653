#include "harness/measure/cases/counters.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/measure/plan/shape_json.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// Nsight Compute ends the names of sums with ".sum"; ratios are means, which do not grow with the batch.
bool is_sum(std::string_view name) { return name.ends_with(".sum"); }

/// The most images that a kernel executed, among those that were not executed whole; the batch if all were.
int executed_images(const std::vector<KernelCounters>& kernels, int batch) {
  unsigned most = 0;
  for (const KernelCounters& kernel : kernels) most = std::max(most, kernel.items_executed);
  return most == 0 ? batch : static_cast<int>(most);
}

CounterValues values_of(const JsonPlace& place, const char* field) {
  return place.has(field) ? place.at(field).numbers_by_name() : CounterValues();
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

CountedFigures read_counters(const JsonPlace& place) {
  return {values_of(place, "totals"), values_of(place, "modelled"),
          place.has("kernels") ? read_kernels(place.at("kernels")) : std::vector<KernelCounters>()};
}

std::vector<KernelCounters> read_kernels(const JsonPlace& place) {
  std::vector<KernelCounters> kernels;
  for (const JsonPlace& kernel : place.list()) {
    kernels.push_back({kernel.at("kernel").text(), read_dim(kernel.at("grid")), read_dim(kernel.at("block")),
                       kernel.at("values").numbers_by_name(), kernel.at("modelled").numbers_by_name()});
  }
  return kernels;
}

ordered_json counters_json(const std::vector<KernelCounters>& kernels, int batch, bool exact) {
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
          {"of", "PTX instructions executed by the simulated device; 'modelled': traffic from its model of the caches"},
          {"images_executed", executed_images(kernels, batch)},
          {"batch", batch},
          {"exact", exact},
          {"totals", std::move(totals)},
          {"modelled", std::move(modelled_totals)},
          {"kernels", std::move(list)}};
}

}  // namespace convladder
