#include "harness/judge/compare/comparability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <span>

#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// A part of the context that has to be the same.
struct Fact {
  const char* pointer;
  const char* what;  ///< its name in a message
};

constexpr std::array kAllDevices = {Fact{"/dataset/sha256", "images differ"}, Fact{"/seed", "seed differs"}};

constexpr std::array kTimedDevices = {Fact{"/program/sanitized", "sanitizers differ"},
                                      Fact{"/program/build_type", "build type differs"},
                                      Fact{"/options/sample_milliseconds", "length of a sample differs"},
                                      Fact{"/options/isolate", "isolation of cases differs"},
                                      Fact{"/options/profile_calls", "calls for a profiler differ"},
                                      Fact{"/options/google_benchmark_flags", "flags of Google Benchmark differ"}};

constexpr std::array kCpu = {Fact{"/program/compiler", "compiler changed"},
                             Fact{"/program/compiler_flags", "compiler flags differ"},
                             Fact{"/program/cpu_variant_flags", "flags of the CPU variants differ"}};

constexpr std::array kTimedMachine = {Fact{"/host/virtual_machine", "one machine is virtual and the other is not"}};

constexpr std::array kProcessor = {
    Fact{"/cpu/model", "processor differs"}, Fact{"/cpu/cores", "cores differ"}, Fact{"/cpu/threads", "threads differ"},
    Fact{"/cpu/instruction_sets", "instruction sets differ"}, Fact{"/cpu/caches", "caches differ"}};

constexpr std::array kCuda = {Fact{"/program/cuda_compiler", "CUDA compiler changed"},
                              Fact{"/program/cuda_architectures", "CUDA architectures differ"}};

/// Facts that are noted if they differ, and do not forbid a comparison.
constexpr std::array kHosts = {Fact{"/host/name", "the hosts differ"}, Fact{"/host/kernel", "the kernels differ"},
                               Fact{"/cpu/governor", "the frequency governors differ"}};

/// Facts that tell devices of one kind apart, or that count what the host has.
constexpr std::array<std::string_view, 2> kNotOfTheDevice = {"PCI bus id", "host threads"};

std::string difference(std::string_view what, const ordered_json& base, const ordered_json& now) {
  return fmt::format("{}: {}, now {}", what, short_json(base), short_json(now));
}

void append_differences(std::span<const Fact> facts, const ordered_json& base, const ordered_json& now,
                        std::vector<std::string>& differences) {
  for (const Fact& fact : facts) {
    const ordered_json& then = value_at(base, fact.pointer);
    const ordered_json& today = value_at(now, fact.pointer);
    if (then != today) differences.push_back(difference(fact.what, then, today));
  }
}

/// Whether the run's cases come from several machines, each with an entry of its own.
bool is_merged(const RecordedRun& run) { return !value_at(run.context, "/machines").is_null(); }

/// "host", "cpu", "devices" and "libraries" of the machine that measured a case.
const ordered_json& machine_of(const RecordedRun& run, const RecordedCase& one) {
  const ordered_json& machine = value_at(run.context, fmt::format("/sessions/{}/machine", one.session).c_str());
  if (!machine.is_number_unsigned()) return run.context;
  const ordered_json& its = value_at(run.context, fmt::format("/machines/{}", machine.get<std::size_t>()).c_str());
  return its.is_null() ? run.context : its;
}

void append_device_differences(const ordered_json& base, const ordered_json& now, const std::string& device,
                               std::vector<std::string>& differences) {
  const ordered_json then = device_facts(base, device);
  const ordered_json today = device_facts(now, device);
  const auto matters = [](const std::string& name) {
    // The compiler of its kernels is compared along with their PTX.
    return name != "kernels compiled by" && std::ranges::find(kNotOfTheDevice, name) == kNotOfTheDevice.end();
  };
  for (const auto& [name, value] : then.items()) {
    const ordered_json other = today.contains(name) ? today.at(name) : ordered_json();
    if (matters(name) && other != value) {
      differences.push_back(difference(fmt::format("device differs, {}", printable(name)), value, other));
    }
  }
  for (const auto& [name, value] : today.items()) {
    if (matters(name) && !then.contains(name)) {
      differences.push_back(difference(fmt::format("device differs, {}", printable(name)), ordered_json(), value));
    }
  }
}

/// The PTX that runs first: its compiler and its checksum. Imported runs have neither.
struct ExecutedPtx {
  std::string compiler;
  std::string sha256;
};

ExecutedPtx executed_ptx_of(const RecordedRun& run) {
  const auto text = [&run](const char* pointer) { return text_at(run.context, pointer); };
  return {text("/program/ptx/0/compiler") + ' ' + text("/program/ptx/0/version"), text("/program/ptx/0/sha256")};
}

bool same_ptx(const ExecutedPtx& a, const ExecutedPtx& b) { return !a.sha256.empty() && a.sha256 == b.sha256; }

/// A library's name as it is typed: "onnxruntime" for "ONNX Runtime".
std::string as_typed(const std::string& library) {
  std::string letters;
  for (const unsigned char c : library) {
    if (std::isalnum(c) != 0) letters.push_back(static_cast<char>(std::tolower(c)));
  }
  return letters;
}

/// The differences in the library that a variant beside the ladder is named after: oneDNN for "onednn-blocked".
std::vector<std::string> library_differences(const ordered_json& base, const ordered_json& now,
                                             const std::string& variant) {
  std::vector<std::string> differences;
  const ordered_json& then = value_at(base, "/libraries");
  const ordered_json& today = value_at(now, "/libraries");
  if (!then.is_object() || !today.is_object()) return {"the libraries' versions are not recorded"};
  for (const auto& [name, version] : then.items()) {
    const ordered_json other = today.contains(name) ? today.at(name) : ordered_json();
    if (variant.starts_with(as_typed(name)) && other != version) {
      differences.push_back(difference(fmt::format("{} differs", printable(name)), version, other));
    }
  }
  return differences;
}

/// Appends the differences between two machines, as far as times or counts on this device depend on them.
void append_machine_differences(const ordered_json& base, const ordered_json& now, const std::string& device,
                                std::vector<std::string>& differences) {
  if (device != "simulated") append_differences(kTimedMachine, base, now, differences);
  if (device == "cpu") append_differences(kProcessor, base, now, differences);
  // `cpu` describes the processor; its memory, which the facts hold as well, may change from boot to boot.
  if (device != "cpu") append_device_differences(base, now, device, differences);
}

}  // namespace

std::vector<std::string> context_differences(const RecordedRun& base, const RecordedRun& now,
                                             const std::string& device) {
  std::vector<std::string> differences;
  append_differences(kAllDevices, base.context, now.context, differences);
  if (device != "simulated") append_differences(kTimedDevices, base.context, now.context, differences);
  if (device == "cpu") append_differences(kCpu, base.context, now.context, differences);
  if (device == "cuda") append_differences(kCuda, base.context, now.context, differences);
  if (device == "simulated") {
    const ExecutedPtx then = executed_ptx_of(base);
    const ExecutedPtx today = executed_ptx_of(now);
    if (then.compiler != today.compiler && !same_ptx(then, today)) {
      differences.push_back(difference("CUDA compiler changed", then.compiler, today.compiler));
    }
  }
  // In merged runs the machine of each case is compared, in case_differences.
  if (!is_merged(base) && !is_merged(now)) {
    append_machine_differences(base.context, now.context, device, differences);
  }
  return differences;
}

std::vector<std::string> case_differences(const RecordedRun& base_run, const RecordedCase& base,
                                          const RecordedRun& new_run, const RecordedCase& now) {
  std::vector<std::string> differences;
  const ordered_json& then = machine_of(base_run, base);
  const ordered_json& today = machine_of(new_run, now);
  if (is_merged(base_run) || is_merged(new_run)) append_machine_differences(then, today, base.device, differences);
  if (base.shape != now.shape) differences.push_back(difference("shape differs", base.shape, now.shape));
  if (base.input != now.input) differences.push_back(difference("input differs", base.input, now.input));
  if (base.time && now.time && base.time->of != now.time->of) {
    differences.push_back(difference("a different kind of time was taken", base.time->of, now.time->of));
  }
  if (base.time && now.time && base.time->cache != now.time->cache) {
    differences.push_back(difference("the caches were in a different state", base.time->cache, now.time->cache));
  }
  if (base.counters && now.counters && base.counters->images_executed != now.counters->images_executed) {
    differences.push_back(
        difference("images executed differ", base.counters->images_executed, now.counters->images_executed));
  }
  if (base.time.has_value() != now.time.has_value() || base.counters.has_value() != now.counters.has_value()) {
    differences.emplace_back("one is timed, the other counted");
  }
  if (base.library()) {
    std::ranges::move(library_differences(then, today, base.variant), std::back_inserter(differences));
    if (base.choice != now.choice) {
      differences.push_back(difference("the library chose another algorithm", base.choice, now.choice));
    }
  }
  return differences;
}

ordered_json comparable_context(const RecordedRun& run) {
  ordered_json kept = ordered_json::object();
  const auto keep = [&kept, &run](const char* pointer) {
    const ordered_json value = value_at(run.context, pointer);
    if (!value.is_null()) kept[ordered_json::json_pointer(pointer)] = value;
  };
  const auto keep_facts = [&keep](std::span<const Fact> facts) {
    for (const Fact& fact : facts) keep(fact.pointer);
  };
  keep_facts(kAllDevices);
  keep_facts(kTimedDevices);
  keep_facts(kTimedMachine);
  keep_facts(kCpu);
  keep_facts(kProcessor);
  keep_facts(kCuda);
  keep_facts(kHosts);
  for (const char* const pointer :
       {"/date", "/program/commit", "/program/dirty", "/program/ptx", "/devices", "/libraries"}) {
    keep(pointer);
  }
  if (is_merged(run)) {
    keep("/machines");
    keep("/sessions");
  }
  return kept;
}

std::vector<std::string> context_notes(const RecordedRun& base, const RecordedRun& now) {
  std::vector<std::string> notes;
  for (const RecordedRun* const run : {&base, &now}) {
    if (!run->complete)
      notes.push_back(fmt::format("{} is not complete: the run was interrupted or is still running", run->file));
    if (const std::string from = text_at(run->context, "/imported/from"); !from.empty()) {
      notes.push_back(
          fmt::format("{} was written by {}: its results were not verified here, its benchmarks not measured "
                      "in turns, and what they were compiled with is not known",
                      printable(run->file), from));
    }
  }
  append_differences(kHosts, base.context, now.context, notes);
  const ExecutedPtx then = executed_ptx_of(base);
  const ExecutedPtx today = executed_ptx_of(now);
  if (!then.sha256.empty() && !today.sha256.empty() && then.sha256 != today.sha256) {
    notes.push_back(then.compiler == today.compiler
                        ? fmt::format("the kernels' PTX differs, made by the same {}: their code changed",
                                      printable(today.compiler))
                        : "the kernels' PTX differs, and so does its compiler");
  }
  return notes;
}

}  // namespace convladder
