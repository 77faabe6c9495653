#include "harness/measure/machine/environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>
#include <CLI/Version.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "devices/cpu/cpu_facts.hpp"
#include "devices/cpu/cpu_microarchitecture.hpp"
#include "devices/device_registry.hpp"
#include "harness/measure/machine/build_information.hpp"
#include "harness/measure/machine/noise.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/json_text.hpp"
#include "support/library_versions.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kLongestNode = 256;

/// Facts that tell which one of its kind a device is, or describe its host.
constexpr std::array<std::string_view, 3> kOfOneDevice = {"PCI bus id", "UUID", "host threads"};

/// Libraries that a build may be without, listed so that every record names them all.
constexpr std::array<std::string_view, 9> kLibrariesOfSomeBuilds = {
    "CUDA driver", "CUDA runtime", "CUPTI", "NVML", "ONNX Runtime", "XNNPACK", "cuBLAS", "cuDNN", "oneDNN"};

/// The libraries that were found. Looked for once: a driver may take its time to answer.
const std::vector<LibraryVersion>& found_libraries() {
  static const std::vector<LibraryVersion> found = library_versions();
  return found;
}

/// PRETTY_NAME of /etc/os-release.
std::string system_name() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view key = "PRETTY_NAME=";
    if (!line.starts_with(key)) continue;
    line.erase(0, key.size());
    std::erase(line, '"');
    return line;
  }
  return "unknown";
}

ordered_json host() {
  utsname name{};
  uname(&name);
  return {{"name", host_name()},
          {"system", system_name()},
          {"kernel", fmt::format("{} {}", name.sysname, name.release)},
          {"virtual_machine", processor_traits().is_virtual},
          {"memory_bytes", total_memory_bytes()}};
}

ordered_json cpu() {
  ordered_json caches = ordered_json::array();
  for (const CpuCache& cache : cpu_caches()) {
    caches.push_back({{"level", cache.level}, {"type", cache.type}, {"bytes", cache.bytes}});
  }
  return {{"model", cpu_model()},
          {"microarchitecture", cpu_microarchitecture()},
          {"cores", usable_cores()},
          {"threads", cpu_threads()},
          {"instruction_sets", cpu_instruction_sets()},
          {"governor", text_or_null(cpu_governor())},
          {"caches", std::move(caches)}};
}

/// The drivers' names of the known GPUs (simulator/gpus): only these, since an H100 NVL or an A100 of 80 GB has another
/// memory.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNamesOfDrivers = {{
    {"NVIDIA H100 80GB HBM3", "h100"},
    {"NVIDIA H200", "h200"},
    {"NVIDIA A100-SXM4-40GB", "a100"},
    {"Tesla V100-SXM2-16GB", "v100"},
    {"Tesla V100-SXM2-32GB", "v100"},
    {"Tesla K80", "k80"},
}};

/// Adds the vendor's peak figures for a GPU that is known.
void add_data_sheet(ordered_json& facts) {
  const std::string name = facts.value("name", "");
  for (const GpuFacts& gpu : gpu_facts()) {
    const bool is_it =
        name.starts_with(gpu.title) ||  // the stand-in's name
        std::ranges::find(kNamesOfDrivers, std::pair{std::string_view(name), std::string_view(gpu.name)}) !=
            kNamesOfDrivers.end();
    if (!is_it) continue;
    facts["data sheet of"] = gpu.title;
    facts["data sheet GFLOP/s"] =
        fmt::format("{:.0f}", 2e-3 * gpu.multiprocessors * gpu.fp32_lanes * gpu.clock_mhz.high);
    facts["data sheet GB/s"] = fmt::format("{:.0f}", gpu.dram_gb_per_s.high);
  }
}

ordered_json devices() {
  ordered_json list = ordered_json::array();
  for (const DeviceKind& kind : device_kinds()) {
    ordered_json facts = ordered_json::object();
    for (const DeviceFact& fact : kind.facts()) facts[fact.name] = fact.value;
    if (kind.name == "cuda") add_data_sheet(facts);
    list.push_back({{"kind", kind.name},
                    {"family", kind.family},
                    {"unavailable", text_or_null(kind.unavailable())},
                    {"warning", text_or_null(kind.what_to_know())},
                    {"facts", std::move(facts)}});
  }
  return list;
}

ordered_json libraries() {
  ordered_json versions = {
      {"Google Benchmark", build::benchmark_version},
      {"nlohmann json",
       fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
      {"CLI11", CLI11_VERSION},
      {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"zlib", zlibVersion()}};
  for (const LibraryVersion& library : found_libraries()) versions[library.name] = library.version;
  for (const std::string_view name : kLibrariesOfSomeBuilds) {
    if (!versions.contains(name)) versions[std::string(name)] = "not in this build";
  }
  return versions;
}

/// Where the libraries that were found at run time lie.
ordered_json library_files() {
  ordered_json files = ordered_json::object();
  for (const LibraryVersion& library : found_libraries()) {
    if (!library.file.empty()) files[library.name] = library.file;
  }
  return files;
}

std::string object_text(const std::string& title, const ordered_json& object) {
  std::string text = title + '\n';
  for (const auto& [name, value] : object.items()) {
    text += fmt::format("  {:<22} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

}  // namespace

ordered_json program_json(const ProgramFacts& program) {
  ordered_json ptx = ordered_json::array();
  for (const CompiledPtx& one : program.ptx) {
    ptx.push_back({{"compiler", one.compiler}, {"version", one.version}, {"sha256", one.sha256}});
  }
  return {{"name", program.name},
          {"version", program.version},
          {"commit", program.commit},
          {"dirty", program.dirty},
          {"build_type", program.build_type},
          {"compiler", program.compiler},
          {"compiler_flags", program.compiler_flags},
          {"cpu_variant_flags", program.cpu_variant_flags},
          {"cuda_compiler", text_or_null(program.cuda_compiler)},
          {"cuda_architectures", text_or_null(program.cuda_architectures)},
          {"ptx", std::move(ptx)},
          {"sanitized", program.sanitized}};
}

ProgramFacts read_program(const JsonPlace& place) {
  static_cast<void>(place.object());
  const auto text = [&](const char* field) { return place.at(field).text_or_empty(); };
  const auto truth = [&](const char* field) { return place.has(field) && place.at(field).truth(); };
  ProgramFacts program{.name = text("name"),
                       .version = text("version"),
                       .commit = text("commit"),
                       .dirty = truth("dirty"),
                       .build_type = text("build_type"),
                       .compiler = text("compiler"),
                       .compiler_flags = text("compiler_flags"),
                       .cpu_variant_flags = text("cpu_variant_flags"),
                       .cuda_compiler = text("cuda_compiler"),
                       .cuda_architectures = text("cuda_architectures"),
                       .ptx = {},
                       .sanitized = truth("sanitized")};
  if (!place.has("ptx")) return program;
  for (const JsonPlace& one : place.at("ptx").list()) {
    program.ptx.push_back({one.at("compiler").text(), one.at("version").text(), one.at("sha256").text()});
  }
  return program;
}

std::string node_name() {
  // Where a scheduler runs several nodes on a host, only its name tells them apart.
  const char* const scheduled = std::getenv("SLURMD_NODENAME");
  return scheduled == nullptr || *scheduled == '\0' ? host_name() : printable(scheduled, kLongestNode);
}

ordered_json machine_json() {
  ordered_json its_devices = devices();
  for (ordered_json& device : its_devices)
    device["facts"].erase("other processes on it");  // not a fact about the machine
  return {{"node", node_name()},
          {"host", host()},
          {"cpu", cpu()},
          {"devices", std::move(its_devices)},
          {"libraries", libraries()}};
}

ordered_json machine_kind(const ordered_json& machine) {
  ordered_json devices = ordered_json::array();
  for (const ordered_json& device : machine.at("devices")) {
    if (device.at("kind") == "cpu") continue;  // the processor is described elsewhere
    ordered_json kind = {{"kind", device.at("kind")}, {"facts", ordered_json::object()}};
    for (const auto& [name, value] : device.at("facts").items()) {
      const bool of_one = std::ranges::find(kOfOneDevice, name) != kOfOneDevice.end();
      if (!of_one) kind["facts"][name] = value;
    }
    devices.push_back(std::move(kind));
  }
  return {{"virtual_machine", machine.at("host").at("virtual_machine")},
          {"cpu", machine.at("cpu")},
          {"devices", std::move(devices)},
          {"libraries", machine.at("libraries")}};
}

ordered_json environment_json() {
  return {{"program", program_json()}, {"host", host()},           {"cpu", cpu()},
          {"devices", devices()},      {"libraries", libraries()}, {"library_files", library_files()}};
}

std::string environment_json_text() { return json_text(environment_json()); }

std::string environment_text() {
  const ordered_json environment = environment_json();
  std::string text;
  for (const char* part : {"program", "host", "cpu"}) text += object_text(part, environment.at(part));
  text += "libraries\n";
  const ordered_json& files = environment.at("library_files");
  for (const auto& [name, version] : environment.at("libraries").items()) {
    const std::string file = files.value(name, "");
    text += fmt::format("  {:<22} {}{}\n", name, version.get<std::string>(), file.empty() ? "" : ", " + file);
  }
  for (const ordered_json& device : environment.at("devices")) {
    text += object_text(fmt::format("device {}", device.at("kind").get<std::string>()), device.at("facts"));
    for (const char* const remark : {"unavailable", "warning"}) {
      if (!device.at(remark).is_null()) text += fmt::format("  {}\n", device.at(remark).get<std::string>());
    }
  }
  return text;
}

std::string host_name() {
  std::array<char, 256> buffer{};
  if (gethostname(buffer.data(), buffer.size() - 1) != 0) return "unknown";
  std::string name(buffer.data());
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '-');
  return name.empty() ? "unknown" : name;
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string local_time_for_names() { return fmt::format("{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr))); }

}  // namespace convladder
