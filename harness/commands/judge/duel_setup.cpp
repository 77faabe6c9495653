#include "harness/commands/judge/duel_setup.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <random>

#include "harness/measure/plan/run_material.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"

namespace convladder {

void compare_programs(const OtherProgram& base, const OtherProgram& now, std::vector<std::string>& notes) {
  const ProgramFacts& before = base.program;
  const ProgramFacts& after = now.program;
  const auto refuse = [](const char* name, const auto& in_base, const auto& in_new) {
    throw UserError(
        fmt::format("the builds cannot be compared: {} is {} in the base, {} in the new one", name, in_base, in_new));
  };
  if (before.sanitized != after.sanitized) refuse("sanitized", before.sanitized, after.sanitized);
  if (before.build_type != after.build_type) {
    refuse("build_type", in_quotes(before.build_type), in_quotes(after.build_type));
  }
  const std::pair<const char*, std::string ProgramFacts::*> texts[] = {
      {"compiler", &ProgramFacts::compiler},
      {"compiler_flags", &ProgramFacts::compiler_flags},
      {"cpu_variant_flags", &ProgramFacts::cpu_variant_flags},
      {"cuda_compiler", &ProgramFacts::cuda_compiler},
      {"cuda_architectures", &ProgramFacts::cuda_architectures}};
  for (const auto& [name, text] : texts) {
    if (before.*text == after.*text) continue;
    const auto shown = [text = text](const ProgramFacts& facts) {
      return (facts.*text).empty() ? "null" : in_quotes(facts.*text);
    };
    notes.push_back(fmt::format("{} differs: {}, now {}", name, shown(before), shown(after)));
  }
}

std::uint64_t coin_seed(const CLI::App& command, const RunOptions& options) {
  return command.count("--seed") > 0 ? options.seed : std::random_device()();
}

std::string make_idle_threads_sleep() {
  const char* const policy = std::getenv("OMP_WAIT_POLICY");
  const char* const spins = std::getenv("GOMP_SPINCOUNT");
  const bool asked = policy != nullptr || spins != nullptr;
  unsetenv("OMP_WAIT_POLICY");
  unsetenv("GOMP_SPINCOUNT");  // ChildProcess then gives every child the same short one
  return asked ? "OMP_WAIT_POLICY and GOMP_SPINCOUNT are ignored: threads of the idle side have to sleep" : "";
}

DuelListener DuelProgress::listener() {
  return {.phase =
              [this](const char* phase, const std::string& id, double done) {
                const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
                progress_.show_part(fmt::format("{} {}", phase, id), done,
                                    done > 0 ? std::optional(seconds * (1 / done - 1)) : std::nullopt);
              },
          .pilot = [this](const Pilot& pilot,
                          int most_rounds) { progress_.note(pilot_text(pilot, limits_, most_rounds)); }};
}

ImageSet duel_images(const std::vector<KernelGroup>& plan, const RunOptions& options) {
  int largest = 1;
  for (const KernelGroup& group : plan) largest = std::max(largest, group.work.shape.batch);
  return load_images(options.data_folder, options.seed, largest);
}

}  // namespace convladder
