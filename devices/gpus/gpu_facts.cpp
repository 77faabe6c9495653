#include "devices/gpus/gpu_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "support/embedded_file.hpp"

namespace convladder {

const std::vector<EmbeddedFile>& embedded_gpus();  // devices/gpus/*.json, by cmake/EmbedFiles.cmake

namespace {

using nlohmann::json;

/// Refuses a member that an object holds twice, of which a parser would silently take the last.
json parsed(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> members;
  const auto see = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > 8) throw GpuFactsError(fmt::format("{}: objects nested more than 8 deep", file));
    if (event == json::parse_event_t::object_start) members.emplace_back();
    if (event == json::parse_event_t::object_end) members.pop_back();
    if (event == json::parse_event_t::key && !members.back().insert(value.get<std::string>()).second) {
      throw GpuFactsError(fmt::format("{}: {} occurs twice, expected it once", file, value.dump()));
    }
    return true;
  };
  try {
    return json::parse(text, see);
  } catch (const json::parse_error& error) {
    throw GpuFactsError(fmt::format("{}: byte {}: expected the JSON of a GPU", file, error.byte));
  } catch (const json::out_of_range&) {
    throw GpuFactsError(fmt::format("{}: a number beyond a double, expected a finite one", file));
  }
}

/// The members of an object, each taken once; what nobody took is refused.
class Members {
 public:
  Members(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) fail("expected an object");
  }

  [[noreturn]] void fail(const std::string& what) const { throw GpuFactsError(fmt::format("{}: {}", place_, what)); }

  bool has(const std::string& name) const { return object_.contains(name); }
  const json& take(const std::string& name) {
    if (!has(name)) fail(fmt::format("the member \"{}\" is missing", name));
    taken_.insert(name);
    return object_.at(name);
  }
  std::string text(const std::string& name) {
    const json& value = take(name);
    if (!value.is_string() || value.get<std::string>().empty()) fail(fmt::format("{}: expected a string", name));
    return value.get<std::string>();
  }
  double number(const std::string& name) {
    const json& value = take(name);
    if (!value.is_number() || !(value.get<double>() >= 0)) fail(fmt::format("{}: expected a number from 0", name));
    return value.get<double>();
  }
  Members object(const std::string& name) { return {take(name), fmt::format("{}: {}", place_, name)}; }
  const json& members() const { return object_; }
  void refuse_others() const {
    for (const auto& [name, value] : object_.items()) {
      if (!taken_.contains(name)) fail(fmt::format("{}: unknown member", json(name).dump()));
    }
  }

 private:
  const json& object_;
  std::string place_;
  std::set<std::string> taken_;
};

/// The parameters of a file: {"value" or "low" and "high", "unit", "source"} each.
class Parameters {
 public:
  Parameters(Members parameters, const std::vector<std::string>& sources)
      : parameters_(std::move(parameters)), unused_(sources.begin(), sources.end()), sources_(unused_) {}

  double value(const char* name, const char* unit) {
    Members one = begin(name, unit);
    const double value = one.number("value");
    one.refuse_others();
    return value;
  }
  /// A whole number, from 1 unless said.
  int count(const char* name, const char* unit, int least = 1) {
    const double number = value(name, unit);
    if (!(number >= least) || number > INT_MAX || number != std::floor(number)) {
      parameters_.fail(fmt::format("{}: value: expected a whole number from {}", name, least));
    }
    return static_cast<int>(number);
  }
  /// More than 0.
  double rate(const char* name, const char* unit) {
    const double number = value(name, unit);
    if (!(number > 0)) parameters_.fail(fmt::format("{}: value: expected a number above 0", name));
    return number;
  }
  Range range(const char* name, const char* unit, bool with_zero = false) {
    Members one = begin(name, unit);
    const Range range{one.number("low"), one.number("high")};
    if (!(range.low <= range.high)) one.fail(R"(expected "low" not above "high")");
    if (!with_zero && !(range.low > 0)) one.fail("low: expected a number above 0");
    one.refuse_others();
    return range;
  }
  std::vector<std::uint64_t> ascending(const char* name, const char* unit) {
    Members one = begin(name, unit);
    const json& list = one.take("value");
    const auto whole = [](const json& number) { return number.is_number_unsigned(); };
    if (!list.is_array() || list.empty() || !std::all_of(list.begin(), list.end(), whole)) {
      one.fail("value: expected a list of whole numbers");
    }
    auto numbers = list.get<std::vector<std::uint64_t>>();
    if (std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) != numbers.end()) {
      one.fail("value: expected ascending numbers");
    }
    one.refuse_others();
    return numbers;
  }
  void refuse_others() const {
    parameters_.refuse_others();
    if (!unused_.empty()) parameters_.fail(fmt::format("no parameter has the source \"{}\"", *unused_.begin()));
  }

 private:
  Members begin(const char* name, const char* unit) {
    Members one = parameters_.object(name);
    if (one.text("unit") != unit) one.fail(fmt::format("unit: expected \"{}\"", unit));
    const std::string source = one.text("source");
    if (!sources_.contains(source)) one.fail(fmt::format(R"(source: "{}" is not in "sources")", source));
    unused_.erase(source);
    return one;
  }

  Members parameters_;
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
  const json document = parsed(text, file);
  Members members(document, file);
  GpuFacts gpu;
  gpu.name = members.text("name");
  if (file != fmt::format("{}.json", gpu.name))
    members.fail(fmt::format("name: expected the file's, found \"{}\"", gpu.name));
  gpu.title = members.text("title");
  const json& year = members.take("year");
  if (!year.is_number_unsigned() || year < 2000 || year > 2100) members.fail("year: expected a year from 2000 to 2100");
  gpu.year = year;
  gpu.compute_capability = members.text("compute_capability");
  gpu.resources_of = members.text("resources_of");
  Members texts = members.object("sources");
  std::vector<std::string> sources;
  for (const auto& [name, value] : texts.members().items()) {
    texts.text(name);
    sources.push_back(name);
  }
  gpu.paper = texts.text("paper");
  Parameters parameters(members.object("parameters"), sources);
  read_rates(parameters, gpu);
  read_memory(parameters, gpu);
  gpu.occupancy = read_occupancy(parameters);
  parameters.refuse_others();
  members.refuse_others();
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
