#include "harness/commands/duel_setup.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "harness/machine/environment.hpp"
#include "harness/plan/run_material.hpp"
#include "harness/runs/case_json.hpp"

namespace convladder {

using nlohmann::ordered_json;

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
