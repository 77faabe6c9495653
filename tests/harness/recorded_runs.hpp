// Records for tests of comparisons, as `convladder run` writes them.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "harness/measure/records/recorded_run.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

/// Log-normal samples around a median, the same for the same stream.
inline std::vector<double> noisy_samples(double median_ns, double sigma, std::uint64_t stream, int count = 31) {
  SeededRandom random(3, stream);
  const auto uniform = [&random] { return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53; };
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) {
    const double normal = std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
    samples.push_back(median_ns * std::exp(sigma * normal));
  }
  return samples;
}

/// A case with what the reader needs of it. `rung` 0 is a library.
inline nlohmann::ordered_json recorded_case_json(const std::string& device, const std::string& variant, int rung) {
  return {{"id", fmt::format("{}/{}/lenet28.conv1/10", device, variant)},
          {"variant", variant},
          {"rung", rung == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(rung)},
          {"device", device},
          {"network", "lenet28"},
          {"layer", "conv1"},
          {"shape", {{"height", 28}}},
          {"batch", 10},
          {"status", "ok"},
          {"reason", nullptr},
          {"input", "images"},
          {"time", nullptr},
          {"counters", nullptr},
          {"choice", nullptr},
          {"session", 0}};
}

inline nlohmann::ordered_json timed_case_json(const std::string& device, const std::string& variant, int rung,
                                              std::vector<double> samples) {
  nlohmann::ordered_json json = recorded_case_json(device, variant, rung);
  json["time"] = {{"of", "layer"}, {"samples", std::move(samples)}};
  return json;
}

inline nlohmann::ordered_json counted_case_json(const std::string& variant, int rung, double instructions,
                                                double sectors) {
  nlohmann::ordered_json json = recorded_case_json("simulated", variant, rung);
  json["counters"] = {{"images_executed", 8},
                      {"totals",
                       {{"smsp__inst_executed.sum", instructions},
                        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", sectors},
                        {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", 31.5}}},
                      {"modelled", {{"dram__bytes_read.sum", 1000}}},
                      {"kernels", nlohmann::ordered_json::array()}};
  return json;
}

inline nlohmann::ordered_json recorded_run_json(std::vector<nlohmann::ordered_json> cases) {
  nlohmann::ordered_json planned = nlohmann::ordered_json::array();
  for (const nlohmann::ordered_json& one : cases) planned.push_back(one.at("id"));
  const auto ptx = [](const char* version) {
    return nlohmann::ordered_json::array(
        {{{"compiler", "nvcc"}, {"version", version}, {"sha256", std::string(64, 'a')}}});
  };
  return {{"schema_version", kRunSchemaVersion},
          {"kind", "run"},
          {"complete", true},
          {"context",
           {{"program",
             {{"commit", "0123456789abcdef"},
              {"dirty", false},
              {"build_type", "Release"},
              {"compiler", "GNU 12.2.0"},
              {"compiler_flags", "-O3"},
              {"cpu_variant_flags", "-march=native"},
              {"cuda_compiler", "NVIDIA 13.0.88"},
              {"ptx", ptx("13.0.88")},
              {"sanitized", false}}},
            {"host", {{"name", "here"}, {"kernel", "Linux 6.1"}, {"virtual_machine", true}}},
            {"cpu", {{"model", "a processor"}, {"cores", 2}, {"threads", 2}}},
            {"devices",
             {{{"kind", "cuda"}, {"facts", {{"name", "a GPU"}, {"PCI bus id", "1"}}}},
              {{"kind", "simulated"}, {"facts", {{"modelled GPU", "NVIDIA H100 SXM"}}}}}},
            {"libraries", {{"oneDNN", "2.6.3"}, {"fmt", "9.1.0"}}},
            {"options", {{"sample_milliseconds", 5.0}, {"isolate", true}}},
            {"seed", 1},
            {"date", "2026-01-31T12:00:00Z"},
            {"dataset", {{"sha256", std::string(64, 'b')}}}}},
          {"planned", std::move(planned)},
          {"cases", std::move(cases)}};
}

inline RecordedRun recorded_run(const nlohmann::ordered_json& json, const std::string& file = "run.json") {
  return parse_recorded_run(json.dump(), file);
}

}  // namespace convladder
