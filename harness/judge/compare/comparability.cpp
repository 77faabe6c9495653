#include "harness/judge/compare/comparability.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <concepts>

#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

/// Facts that tell devices of one kind apart, or that count what the host has.
constexpr std::array<std::string_view, 2> kNotOfTheDevice = {"PCI bus id", "host threads"};

// Values as messages show them.
std::string shown(const std::string& value) { return in_quotes(value); }
std::string shown(std::integral auto value) { return fmt::format("{}", value); }  // also true and false
std::string shown(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}
std::string shown(const RecordedCache& cache) {
  return fmt::format("level {} {} of {} bytes", cache.level, printable(cache.type), cache.bytes);
}
template <typename T>
std::string shown(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const T& one : values) texts.push_back(shown(one));
  return texts.empty() ? "none" : printable(fmt::format("{}", fmt::join(texts, ", ")), kShortText);
}
template <typename T>
std::string shown(const std::optional<T>& value) {
  return value ? shown(*value) : "not recorded";
}
std::string difference(std::string_view what, const std::string& base, const std::string& now) {
  return fmt::format("{}: {}, now {}", what, base, now);
}

using Texts = std::vector<std::string>;

template <typename T>
void compare(const char* what, const T& base, const T& now, Texts& differences) {
  if (base != now) differences.push_back(difference(what, shown(base), shown(now)));
}

/// The words of `all` that `others` lacks: "avx512f avx512bw".
std::string only_in(const Texts& all, const Texts& others) {
  Texts only;
  for (const std::string& one : all) {
    if (std::ranges::find(others, one) == others.end()) only.push_back(one);
  }
  return only.empty() ? "nothing" : printable(fmt::format("{}", fmt::join(only, " ")), kShortText);
}

/// Long lists are alike but for a few words: those are named.
void compare_lists(const char* what, const std::optional<Texts>& base, const std::optional<Texts>& now,
                   Texts& differences) {
  if (base == now) return;
  if (!base || !now) return compare(what, base, now, differences);
  if (std::ranges::is_permutation(*base, *now)) {
    differences.push_back(fmt::format("{}: in another order", what));
  } else {
    differences.push_back(
        fmt::format("{}: {} only then, {} only now", what, only_in(*base, *now), only_in(*now, *base)));
  }
}

void compare_words(const char* what, const std::optional<std::string>& base, const std::optional<std::string>& now,
                   Texts& differences) {
  const auto words = [](const std::optional<std::string>& text) {
    return text ? std::optional<Texts>(split(*text, ' ')) : std::nullopt;
  };
  compare_lists(what, words(base), words(now), differences);
}

/// The data by the beginnings of their checksums, which say that they are others and no more.
void compare_images(const std::optional<std::string>& base, const std::optional<std::string>& now, Texts& differences) {
  if (base == now) return;
  const auto begin = [](const std::optional<std::string>& sha256) {
    return sha256 ? printable(sha256->substr(0, 12)) : std::string("not recorded");
  };
  differences.push_back(
      fmt::format("images differ: other data by their SHA-256 ({}, now {})", begin(base), begin(now)));
}

/// The dimensions that are not the same: "out_channels 20, now 16".
void compare_shapes(const RecordedShape& base, const RecordedShape& now, Texts& differences) {
  Texts texts;
  const auto value_in = [](const RecordedShape& shape, const std::string& name) {
    const auto found = std::ranges::find(shape, name, [](const auto& one) { return one.first; });
    return found == shape.end() ? std::string("not there") : fmt::format("{}", found->second);
  };
  const auto add = [&](const std::string& name) {
    const std::string before = value_in(base, name);
    const std::string today = value_in(now, name);
    if (before != today) texts.push_back(fmt::format("{} {}, now {}", printable(name), before, today));
  };
  for (const auto& [name, value] : base) add(name);
  for (const auto& [name, value] : now) {
    if (value_in(base, name) == "not there") add(name);
  }
  if (!texts.empty()) differences.push_back(fmt::format("shape differs: {}", fmt::join(texts, "; ")));
}

void compare_processors(const RecordedMachine& base, const RecordedMachine& now, Texts& differences) {
  compare("processor differs", base.processor, now.processor, differences);
  compare("cores differ", base.cores, now.cores, differences);
  compare("threads differ", base.threads, now.threads, differences);
  compare_lists("instruction sets differ", base.instruction_sets, now.instruction_sets, differences);
  compare("caches differ", base.caches, now.caches, differences);
}

/// The text of that name as messages show it.
std::string shown_text(const NamedTexts& texts, std::string_view name) {
  const std::string* const text = find_text(texts, name);
  return text == nullptr ? "not recorded" : shown(*text);
}

void compare_devices(const RecordedMachine& base, const RecordedMachine& now, const std::string& device,
                     Texts& differences) {
  const NamedTexts& then = base.facts_of(device);
  const NamedTexts& today = now.facts_of(device);
  const auto add = [&](const std::string& name) {
    // The compiler of its kernels is compared along with their PTX.
    if (name == "kernels compiled by" || std::ranges::find(kNotOfTheDevice, name) != kNotOfTheDevice.end()) return;
    differences.push_back(difference(fmt::format("device differs, {}", printable(name)), shown_text(then, name),
                                     shown_text(today, name)));
  };
  for (const auto& [name, value] : then) {
    const std::string* const other = find_text(today, name);
    if (other == nullptr || *other != value) add(name);
  }
  for (const auto& [name, value] : today) {
    if (find_text(then, name) == nullptr) add(name);
  }
}

/// Appends the differences between two machines, as far as times or counts on this device depend on them.
void compare_machines(const RecordedMachine& base, const RecordedMachine& now, const std::string& device,
                      Texts& differences) {
  if (device != "simulated") {
    compare("one machine is virtual and the other is not", base.is_virtual, now.is_virtual, differences);
  }
  // The processor is described beside the devices; its memory, a fact of the device, may change from boot to boot.
  if (device == "cpu") {
    compare_processors(base, now, differences);
  } else {
    compare_devices(base, now, device, differences);
  }
}

/// The compiler of the PTX that runs; imported runs have none.
std::string compiler_of(const CompiledPtx& ptx) {
  return fmt::format("{} {}", printable(ptx.compiler), printable(ptx.version));
}

CompiledPtx executed_ptx_of(const RecordContext& context) {
  return context.ptx && !context.ptx->empty() ? context.ptx->front() : CompiledPtx();
}

/// A library's name as it is typed: "onnxruntime" for "ONNX Runtime".
std::string as_typed(const std::string& library) {
  std::string letters;
  for (const unsigned char c : library) {
    if (std::isalnum(c) != 0) letters.push_back(static_cast<char>(std::tolower(c)));
  }
  return letters;
}

/// Appends the differences in the library that a variant beside the ladder is named after: oneDNN for "onednn-blocked".
void compare_libraries(const RecordedMachine& base, const RecordedMachine& now, const std::string& variant,
                       Texts& differences) {
  if (!base.libraries || !now.libraries) {
    differences.emplace_back("the libraries' versions are not recorded");
    return;
  }
  for (const auto& [name, version] : *base.libraries) {
    const std::string* const other = find_text(*now.libraries, name);
    if (!variant.starts_with(as_typed(name)) || (other != nullptr && *other == version)) continue;
    differences.push_back(
        difference(fmt::format("{} differs", printable(name)), shown(version), shown_text(*now.libraries, name)));
  }
}

}  // namespace

std::vector<std::string> context_differences(const RecordedRun& base, const RecordedRun& now,
                                             const std::string& device) {
  const RecordContext& then = base.context;
  const RecordContext& today = now.context;
  Texts differences;
  compare_images(then.images, today.images, differences);
  compare("seed differs", then.seed, today.seed, differences);
  if (device != "simulated") {
    compare("sanitizers differ", then.is_sanitized, today.is_sanitized, differences);
    compare("build type differs", then.build_type, today.build_type, differences);
    compare("length of a sample differs", then.sample_milliseconds, today.sample_milliseconds, differences);
    compare("isolation of cases differs", then.isolate, today.isolate, differences);
    compare("calls for a profiler differ", then.profile_calls, today.profile_calls, differences);
    compare_lists("flags of Google Benchmark differ", then.google_benchmark_flags, today.google_benchmark_flags,
                  differences);
  }
  if (device == "cpu") {
    compare("compiler changed", then.compiler, today.compiler, differences);
    compare_words("compiler flags differ", then.compiler_flags, today.compiler_flags, differences);
    compare_words("flags of the CPU variants differ", then.cpu_variant_flags, today.cpu_variant_flags, differences);
  }
  if (device == "cuda") {
    compare("CUDA compiler changed", then.cuda_compiler, today.cuda_compiler, differences);
    compare_words("CUDA architectures differ", then.cuda_architectures, today.cuda_architectures, differences);
  }
  if (device == "simulated") {
    const CompiledPtx ptx = executed_ptx_of(then);
    const CompiledPtx other = executed_ptx_of(today);
    const bool same_ptx = !ptx.sha256.empty() && ptx.sha256 == other.sha256;
    if (!same_ptx) compare("CUDA compiler changed", compiler_of(ptx), compiler_of(other), differences);
  }
  // In merged runs the machine of each case is compared, in case_differences.
  if (!then.machines && !today.machines) compare_machines(then.machine, today.machine, device, differences);
  return differences;
}

std::vector<std::string> case_differences(const RecordedRun& base_run, const RecordedCase& base,
                                          const RecordedRun& new_run, const RecordedCase& now) {
  Texts differences;
  const RecordedMachine& then = base_run.context.machine_of(base.session);
  const RecordedMachine& today = new_run.context.machine_of(now.session);
  if (base_run.context.machines || new_run.context.machines) {
    compare_machines(then, today, base.device, differences);
  }
  compare_shapes(base.shape, now.shape, differences);
  compare("input differs", base.input, now.input, differences);
  if (base.time && now.time) {
    compare("a different kind of time was taken", base.time->of, now.time->of, differences);
    compare("the caches were in a different state", base.time->cache, now.time->cache, differences);
  }
  if (base.counters && now.counters) {
    compare("images executed differ", base.counters->images_executed, now.counters->images_executed, differences);
  }
  if (base.time.has_value() != now.time.has_value() || base.counters.has_value() != now.counters.has_value()) {
    differences.emplace_back("one is timed, the other counted");
  }
  if (base.library()) {
    compare_libraries(then, today, base.variant, differences);
    compare("the library chose another algorithm", base.choice, now.choice, differences);
  }
  return differences;
}

std::vector<std::string> context_notes(const RecordedRun& base, const RecordedRun& now) {
  Texts notes;
  for (const RecordedRun* const run : {&base, &now}) {
    if (!run->complete)
      notes.push_back(fmt::format("{} is not complete: the run was interrupted or is still running", run->file));
    if (!run->context.imported_from.empty()) {
      notes.push_back(
          fmt::format("{} was written by {}: its results were not verified here, its benchmarks not measured "
                      "in turns, and what they were compiled with is not known",
                      printable(run->file), run->context.imported_from));
    }
  }
  compare("the hosts differ", base.context.machine.host, now.context.machine.host, notes);
  compare("the kernels differ", base.context.machine.kernel, now.context.machine.kernel, notes);
  compare("the frequency governors differ", base.context.machine.governor, now.context.machine.governor, notes);
  const CompiledPtx then = executed_ptx_of(base.context);
  const CompiledPtx today = executed_ptx_of(now.context);
  if (!then.sha256.empty() && !today.sha256.empty() && then.sha256 != today.sha256) {
    notes.push_back(
        compiler_of(then) == compiler_of(today)
            ? fmt::format("the kernels' PTX differs, made by the same {}: their code changed", compiler_of(today))
            : "the kernels' PTX differs, and so does its compiler");
  }
  return notes;
}

}  // namespace convladder
