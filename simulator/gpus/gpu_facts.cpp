#include "simulator/gpus/gpu_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"

namespace convladder {

const std::vector<EmbeddedFile>& embedded_gpus();  // simulator/gpus/*.json, by cmake/EmbedFiles.cmake

namespace {

/// The parameters of a file, each {"value" or "low" and "high", "unit", "source"}.
class Parameters {
 public:
  Parameters(JsonPlace parameters, const std::vector<std::string>& sources)
      : parameters_(std::move(parameters)), unused_(sources.begin(), sources.end()), sources_(unused_) {}

  /// A whole number, at least `least`.
  int count(const char* name, const char* unit, int least = 1) {
    const JsonPlace one = begin(name, unit);
    const int count = one.at("value").whole(least, INT_MAX);
    one.refuse_others();
    return count;
  }
  /// A rate, which must be more than 0.
  double rate(const char* name, const char* unit) {
    const JsonPlace one = begin(name, unit);
    const double rate = one.at("value").number({.least = kAboveZero, .unit = unit});
    one.refuse_others();
    return rate;
  }
  Range range(const char* name, const char* unit, bool with_zero = false) {
    const JsonPlace one = begin(name, unit);
    const double low = one.at("low").number({.least = with_zero ? 0 : kAboveZero, .unit = unit});
    const Range range{low, one.at("high").number({.least = low, .unit = unit})};
    one.refuse_others();
    return range;
  }
  std::vector<std::uint64_t> ascending(const char* name, const char* unit) {
    const JsonPlace one = begin(name, unit);
    auto numbers = one.at("value").wholes<std::uint64_t>(0, UINT64_MAX);
    if (numbers.empty() || std::ranges::adjacent_find(numbers, std::greater_equal<>()) != numbers.end()) {
      one.at("value").expected("ascending numbers");
    }
    one.refuse_others();
    return numbers;
  }
  void refuse_others() const {
    parameters_.refuse_others();
    if (!unused_.empty()) parameters_.fail(fmt::format("no parameter has the source \"{}\"", *unused_.begin()));
  }

 private:
  JsonPlace begin(const char* name, const char* unit) {
    JsonPlace one = parameters_.at(name);
    if (one.at("unit").text() != unit) one.at("unit").expected(fmt::format("\"{}\"", unit));
    const std::string source = one.at("source").text();
    if (!sources_.contains(source)) one.at("source").expected("one of \"sources\"");
    unused_.erase(source);
    return one;
  }

  JsonPlace parameters_;
  std::set<std::string> unused_;
  std::set<std::string> sources_;
};

OccupancyLimits read_occupancy(Parameters& p) {
  return {.warps_per_multiprocessor = p.count("warps_per_multiprocessor", "warps"),
          .blocks_per_multiprocessor = p.count("blocks_per_multiprocessor", "blocks"),
          .threads_per_block = p.count("threads_per_block", "threads"),
          .registers_per_multiprocessor = p.count("registers_per_multiprocessor", "registers"),
          .registers_per_block = p.count("registers_per_block", "registers"),
          .registers_per_thread = p.count("registers_per_thread", "registers"),
          .register_allocation_unit = p.count("register_allocation_unit", "registers"),
          .register_partitions = p.count("register_partitions", "partitions"),
          .shared_per_multiprocessor = p.count("shared_per_multiprocessor", "bytes"),
          .shared_per_block = p.count("shared_per_block", "bytes"),
          .shared_allocation_unit = p.count("shared_allocation_unit", "bytes"),
          .shared_reserved_per_block = p.count("shared_reserved_per_block", "bytes", 0)};
}

void read_rates(Parameters& p, GpuFacts& gpu) {
  gpu.multiprocessors = p.count("multiprocessors", "multiprocessors");
  gpu.clock_mhz = p.range("clock", "MHz");
  gpu.issue_per_cycle = p.range("issue_per_cycle", "warp instructions");
  gpu.fp32_lanes = p.rate("fp32_lanes", "lanes");
  gpu.fp64_lanes = p.range("fp64_lanes", "lanes");
  gpu.int32_lanes = p.range("int32_lanes", "lanes");
  gpu.tensor_tf32 = p.range("tensor_tf32", "operations", true);
  gpu.tensor_half = p.range("tensor_half", "operations", true);
  gpu.shared_wavefronts_per_cycle = p.rate("shared_wavefronts_per_cycle", "wavefronts");
  gpu.merged_shared_loads = p.range("merged_shared_loads", "loads");
  gpu.loads_in_flight_per_warp = p.range("loads_in_flight_per_warp", "loads");
  gpu.independent_operations = p.range("independent_operations", "operations");
  gpu.launch_overhead_ns = p.range("launch_overhead", "ns");
}

void read_memory(Parameters& p, GpuFacts& gpu) {
  gpu.l1_bytes_per_cycle = p.rate("l1_bytes_per_cycle", "bytes");
  gpu.l1_bytes = static_cast<std::uint64_t>(p.count("l1_bytes", "bytes"));
  gpu.shared_splits = p.ascending("shared_splits", "bytes");
  gpu.l1_caches_global_loads = p.range("l1_caches_global_loads", "share", true);
  gpu.l2_bytes = static_cast<std::uint64_t>(p.count("l2_bytes", "bytes"));
  gpu.l2_gb_per_s = p.range("l2_bandwidth", "GB/s");
  gpu.dram_gb_per_s = p.range("dram_bandwidth", "GB/s");
  gpu.fma_latency = p.rate("fma_latency", "cycles");
  gpu.shared_latency = p.rate("shared_latency", "cycles");
  gpu.l1_latency = p.rate("l1_latency", "cycles");
  gpu.l2_latency = p.rate("l2_latency", "cycles");
  gpu.dram_latency = p.range("dram_latency", "cycles");
}

std::vector<GpuFacts> read_embedded() {
  std::vector<GpuFacts> all;
  for (const EmbeddedFile& file : embedded_gpus()) all.push_back(parse_gpu_facts(file.content, file.name));
  std::ranges::stable_sort(all, {}, &GpuFacts::year);
  return all;
}

}  // namespace

GpuFacts parse_gpu_facts(std::string_view text, const std::string& file) {
  const nlohmann::ordered_json json = parse_json(text, file, "a GPU");
  const JsonPlace place(json, file);
  GpuFacts gpu;
  gpu.name = place.at("name").name();
  if (file != fmt::format("{}.json", gpu.name)) place.at("name").expected("the file's");
  gpu.title = place.at("title").name();
  gpu.year = place.at("year").whole(2000, 2100);
  gpu.compute_capability = place.at("compute_capability").name();
  gpu.resources_of = place.at("resources_of").name();
  std::vector<std::string> sources;
  for (const auto& [name, source] : place.at("sources").fields()) {
    static_cast<void>(source.some_text());
    sources.push_back(name);
  }
  gpu.paper = place.at("sources").at("paper").text();
  Parameters parameters(place.at("parameters"), sources);
  read_rates(parameters, gpu);
  read_memory(parameters, gpu);
  gpu.occupancy = read_occupancy(parameters);
  parameters.refuse_others();
  place.refuse_others();
  return gpu;
}

const std::vector<GpuFacts>& gpu_facts() {
  static const std::vector<GpuFacts> all = read_embedded();
  return all;
}

const GpuFacts* find_gpu(std::string_view name) {
  const auto found = std::ranges::find(gpu_facts(), name, &GpuFacts::name);
  return found == gpu_facts().end() ? nullptr : &*found;
}

}  // namespace convladder
