// nvbench's JSON (--json, --jsonbin), read in place of a run.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/judge/exchange/imported_run.hpp"
#include "harness/measure/records/foreign_record.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr double kNanoseconds = 1e9;  // per second, the unit of all its times
constexpr std::size_t kFloat = 4;     // bytes of a sample
constexpr std::int64_t kMostSamples = 1 << 26;
constexpr const char* kSamplesTag = "nv/json/bin:nv/cold/sample_times";

/// A time that nvbench may have measured, the case's own first.
struct NvbenchTime {
  const char* tag;
  const char* time_taken;
  const char* cache;
};
constexpr NvbenchTime kNvbenchTimes[] = {{"nv/cold/time/gpu/mean", "cold-gpu-time", "cold"},
                                         {"nv/batch/time/gpu/mean", "batch-gpu-time", "hot"},
                                         {"nv/cold/time/cpu/mean", "cold-cpu-time", "cold"},
                                         {"nv/cpu_only/time/cpu/mean", "cpu-time", ""}};

/// The value of this name in `summaries[].data`; none if there is no such value.
std::optional<JsonPlace> value_of(const JsonPlace& summary, std::string_view name) {
  if (!summary.has("data")) return std::nullopt;
  for (const JsonPlace& one : summary.at("data").list()) {
    if (one.at("name").text() == name && one.has("value")) return one.at("value");
  }
  return std::nullopt;
}

/// A number of seconds, which nvbench writes as text, "0.001" or "nan".
double seconds_of(const JsonPlace& value) {
  if (!value.json().is_string()) return value.number();
  const std::string text = value.text();
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) value.expected("a number as text");
  return seconds;
}

std::int64_t whole_of(const JsonPlace& value) {
  if (!value.json().is_string()) return value.whole<std::int64_t>();
  const std::string text = value.text();
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc() || end != text.data() + text.size()) value.expected("a whole number as text");
  return whole;
}

/// The path of the samples: beside the JSON, which may have been moved, in the last folder of `name`, under its file
/// name.
fs::path samples_path(const JsonPlace& name, const std::string& file) {
  const fs::path named = name.text();
  const fs::path folder = named.parent_path().filename();
  if (named.filename().empty() || folder == ".." || named.filename() == "..") name.expected("the name of a file");
  return fs::path(file).parent_path() / folder / named.filename();
}

/// Reads little-endian floats, in seconds. Throws UserError for a file of the wrong length.
std::vector<double> read_samples(const fs::path& path, std::size_t count) {
  const std::vector<std::byte> bytes = read_file_bytes(path.string());
  if (bytes.size() != count * kFloat) {
    throw UserError(fmt::format("{}: {} bytes, expected {} for {} samples", printable(path.string()), bytes.size(),
                                count * kFloat, count));
  }
  std::vector<double> samples;
  samples.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    for (std::size_t byte = kFloat; byte-- > 0;)
      bits = bits << 8U | std::to_integer<std::uint32_t>(bytes[i * kFloat + byte]);
    samples.push_back(static_cast<double>(std::bit_cast<float>(bits)) * kNanoseconds);
  }
  return samples;
}

class StateReader {
 public:
  explicit StateReader(std::string file) : file_(std::move(file)) {}

  ImportedCase read(const JsonPlace& state, const std::string& benchmark) {
    ImportedCase one;
    one.device = state.has("device") ? fmt::format("cuda{}", state.at("device").count()) : "cpu";
    one.name = case_name(state, benchmark);
    one.time_taken = kNvbenchTimes[0].time_taken;  // for a skipped state as well: it is the same case in another file
    read_axes(state, one);
    if (state.has("is_skipped") && state.at("is_skipped").truth()) {
      one.status = Status::skipped;
      one.reason = state.has("skip_reason") ? state.at("skip_reason").text() : "no reason in the file";
      return one;
    }
    read_times(state, one);
    return one;
  }

  std::size_t missing_samples() const { return missing_; }

 private:
  /// The case's name without the device, which has its own place.
  static std::string case_name(const JsonPlace& state, const std::string& benchmark) {
    std::string name = state.has("name") ? state.at("name").text() : std::string();
    if (name.starts_with("Device=")) name.erase(0, std::min(name.find(' '), name.size() - 1) + 1);
    return name.empty() ? benchmark : fmt::format("{} {}", benchmark, name);
  }

  static void read_axes(const JsonPlace& state, ImportedCase& one) {
    if (!state.has("axis_values")) return;
    for (const JsonPlace& axis : state.at("axis_values").list()) {
      if (axis.at("type").text() != "int64" || !axis.has("value")) continue;
      const std::string name = printable(axis.at("name").text(), kShortText);
      one.shape.emplace_back(name, whole_of(axis.at("value")));
    }
  }

  void read_times(const JsonPlace& state, ImportedCase& one) {
    if (!state.has("summaries")) return;
    std::map<std::string, JsonPlace> by_tag;
    for (const JsonPlace& summary : state.at("summaries").list()) by_tag.emplace(summary.at("tag").text(), summary);
    for (const NvbenchTime& kind : kNvbenchTimes) {
      const auto found = by_tag.find(kind.tag);
      if (found == by_tag.end()) continue;
      const std::optional<JsonPlace> mean = value_of(found->second, "value");
      if (!mean) continue;
      if (one.times.empty()) one.time_taken = kind.time_taken;
      const std::string of = one.times.empty() ? "layer" : fmt::format("part {}", kind.time_taken);
      one.times.push_back({.of = of, .cache = kind.cache, .samples = {seconds_of(*mean) * kNanoseconds}});
      const auto samples = by_tag.find(kSamplesTag);
      if (one.times.size() == 1 && kind.tag == kNvbenchTimes[0].tag && samples != by_tag.end()) {
        add_samples(samples->second, one.times.front());
      }
    }
  }

  /// Adds samples in place of their mean.
  void add_samples(const JsonPlace& summary, ImportedTime& time) {
    const std::optional<JsonPlace> name = value_of(summary, "filename");
    const std::optional<JsonPlace> size = value_of(summary, "size");
    if (!name || !size) return;  // they could not be written
    const fs::path path = samples_path(*name, file_);
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
      ++missing_;
      return;
    }
    const std::int64_t count = whole_of(*size);
    if (count < 0 || count > kMostSamples) size->expected(fmt::format("from 0 to {} samples", kMostSamples));
    time.samples = read_samples(path, static_cast<std::size_t>(count));
  }

  std::string file_;
  std::size_t missing_ = 0;
};

std::vector<ImportedDevice> read_devices(const JsonPlace& file) {
  std::vector<ImportedDevice> devices;
  if (!file.has("devices")) return devices;
  for (const JsonPlace& device : file.at("devices").list()) {
    ImportedDevice one{fmt::format("cuda{}", device.at("id").count()), "cuda", {{"name", device.at("name").text()}}};
    for (const char* const field : {"sm_version", "number_of_sms", "sm_default_clock_rate", "global_memory_size",
                                    "global_memory_bus_bandwidth", "ecc_state"}) {
      if (device.has(field)) one.facts.emplace_back(field, short_json(device.at(field).json()));
    }
    devices.push_back(std::move(one));
  }
  return devices;
}

ordered_json nvbench_run_of(const ordered_json& json, const std::string& file, std::string_view text) {
  const JsonPlace place(json, file);
  ImportedRun run{.from = "nvbench", .network = "nvbench"};
  if (place.has("meta")) {
    const JsonPlace meta = place.at("meta");
    if (meta.has("argv")) run.command_line = meta.at("argv").texts();
    if (!run.command_line.empty()) run.executable = run.command_line.front();
    run.version = text_at(meta.json(), "/version/nvbench/string");
  }
  run.devices = read_devices(place);
  StateReader reader(file);
  for (const JsonPlace& benchmark : place.at("benchmarks").list()) {
    const std::string name = benchmark.at("name").text();
    if (!benchmark.has("states")) continue;
    for (const JsonPlace& state : benchmark.at("states").list()) run.cases.push_back(reader.read(state, name));
  }
  run.notes.emplace_back("nvbench writes no date: it is the file's, and no name of the host");
  if (reader.missing_samples() > 0) {
    run.notes.push_back(
        fmt::format("the files with the samples of {} of its states are not beside it: their one sample "
                    "is the mean",
                    reader.missing_samples()));
  }
  return imported_run_json(run, file, text);
}

bool is_nvbench(const ordered_json& json) {
  if (json.contains("schema_version")) return false;
  if (value_at(json, "/meta/version/nvbench").is_object()) return json.contains("benchmarks");
  const ordered_json& benchmarks = value_at(json, "/benchmarks");
  return benchmarks.is_array() && !benchmarks.empty() && benchmarks.front().is_object() &&
         benchmarks.front().contains("states");
}

const ForeignFormatRegistration nvbench_registration({"nvbench", is_nvbench, nvbench_run_of});

}  // namespace
}  // namespace convladder
