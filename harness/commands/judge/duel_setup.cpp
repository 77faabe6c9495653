#include "harness/commands/judge/duel_setup.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "harness/measure/machine/environment.hpp"
#include "harness/measure/plan/run_material.hpp"
#include "harness/measure/records/case_json.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"

namespace convladder {

using nlohmann::ordered_json;

void compare_programs(const OtherProgram& base, const OtherProgram& now, std::vector<std::string>& notes) {
  const auto value = [](const OtherProgram& program, const char* name) {
    return program.program.contains(name) ? program.program.at(name) : ordered_json();
  };
  for (const char* const name : {"sanitized", "build_type"}) {
    if (value(base, name) == value(now, name)) continue;
    throw UserError(fmt::format("the builds cannot be compared: {} is {} in the base, {} in the new one", name,
                                short_json(value(base, name)), short_json(value(now, name))));
  }
  for (const char* const name :
       {"compiler", "compiler_flags", "cpu_variant_flags", "cuda_compiler", "cuda_architectures"}) {
    if (value(base, name) == value(now, name)) continue;
    notes.push_back(
        fmt::format("{} differs: {}, now {}", name, short_json(value(base, name)), short_json(value(now, name))));
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

ImageSet duel_images(const std::vector<DuelGroup>& plan, const RunOptions& options) {
  int largest = 1;
  for (const DuelGroup& group : plan) largest = std::max(largest, group.work.shape.batch);
  return load_images(options.data_folder, options.seed, largest);
}

ordered_json duel_context(const std::vector<std::string>& command_line, const ImageSet& images) {
  ordered_json context = environment_json();
  context["command_line"] = command_line;
  context["date"] = utc_now();
  context["dataset"] = dataset_json(images);
  return context;
}

}  // namespace convladder
