#include "ladders/compiled_stage.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "devices/device_error.hpp"
#include "ladders/launch_plan.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

using Call = void (*)(void* const* arguments);
using LaunchFailure = const char* (*)();

struct LoadedCall {
  Call call;
  LaunchFailure failure;  ///< the reason why the last call of a stage with @launch did not launch everything; null for
                          ///< other stages
};

/// Loads the library once, and for as long as the process lives: a stage may have threads, or something to do at the
/// end. Functions are looked up when they are called: a header may have some that call libraries which nobody needs
/// here.
LoadedCall load(const std::string& library, const char* function) {
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = dlerror();
    throw DeviceError(fmt::format("it cannot be loaded: {}", error == nullptr ? library : error));
  }
  void* const found = dlsym(handle, function);
  if (found == nullptr) throw DeviceError(fmt::format("{} has no {}", library, function));
  return {reinterpret_cast<Call>(found), reinterpret_cast<LaunchFailure>(dlsym(handle, kLaunchFailure))};
}

std::vector<StageArgument> arguments_of(const LadderProblem& problem, const ProblemSize& size,
                                        const ProblemTensors& tensors) {
  std::vector<StageArgument> arguments;
  auto input = tensors.inputs.begin();
  auto output = tensors.outputs.begin();
  auto in_out = tensors.in_outs.begin();
  for (const LadderTensor& one : problem.tensors) {
    auto& next = one.role == TensorRole::in ? input : one.role == TensorRole::out ? output : in_out;
    arguments.push_back({.tensor = (next++)->address});
  }
  const auto add = [&arguments](const auto& value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    arguments.push_back({.number = {bytes, bytes + sizeof value}});
  };
  const SizeValues values = problem.size_values(size.values);
  for (const LadderScalar& one : problem.scalars) {
    with_element_type(one.type, [&]<typename T>(T) { add(from_double<T>(one.value.value(values))); });
  }
  for (const int dimension : size.values) add(dimension);
  return arguments;
}

/// A stage that runs in this process.
class LoadedStage final : public PreparedVariant {
 public:
  LoadedStage(Device& device, LoadedCall call, std::vector<StageArgument> arguments, std::string choice)
      : device_(device), call_(call), arguments_(std::move(arguments)), choice_(std::move(choice)) {
    for (StageArgument& one : arguments_) {
      addresses_.push_back(one.tensor != nullptr ? one.tensor : static_cast<void*>(one.number.data()));
    }
  }

  void run() override {
    call_.call(addresses_.data());
    if (call_.failure == nullptr) return;
    if (const char* const failure = call_.failure(); failure != nullptr) fail(printable(failure));
  }
  std::string choice() const override { return choice_; }

 private:
  /// Throws the reason, with the device's details beyond the number of an error.
  [[noreturn]] void fail(std::string reason) {
    try {
      device_.wait();
    } catch (const DeviceError& error) {
      reason += fmt::format(": {}", error.what());
    }
    throw DeviceError(reason);
  }

  Device& device_;
  LoadedCall call_;
  std::vector<StageArgument> arguments_;
  std::string choice_;
  std::vector<void*> addresses_;
};

/// A stage that runs in another process.
class HostedStage final : public PreparedVariant {
 public:
  HostedStage(StageHost& host, std::string choice) : host_(host), choice_(std::move(choice)) {}

  void run() override { host_.call(); }
  std::string choice() const override { return choice_; }

 private:
  StageHost& host_;
  std::string choice_;
};

constexpr std::size_t kMostCombinations = 100'000;

/// All combinations of the parameters' values, those closest to the first values in front. Throws std::invalid_argument
/// for too many.
std::vector<Configuration> combinations(const std::vector<StageParameter>& parameters) {
  struct Combination {
    std::vector<Parameter> values;
    int others = 0;  // values other than the first
  };
  std::vector<Combination> all{{}};
  for (const StageParameter& parameter : parameters) {
    std::vector<Combination> longer;
    if (all.size() * parameter.values.size() > kMostCombinations) {
      throw std::invalid_argument("its parameters have more than 100000 combinations");
    }
    for (const Combination& one : all) {
      for (std::size_t i = 0; i < parameter.values.size(); ++i) {
        longer.push_back(one);
        longer.back().values.push_back({parameter.name, parameter.values[i]});
        longer.back().others += i == 0 ? 0 : 1;
      }
    }
    all = std::move(longer);
  }
  std::ranges::stable_sort(all, {}, &Combination::others);
  std::vector<Configuration> configurations;
  for (Combination& one : all) configurations.emplace_back(std::move(one.values));
  return configurations;
}

class StageVariant final : public Variant {
 public:
  StageVariant(CompiledStage stage, StageBuilds builds) : stage_(std::move(stage)), builds_(std::move(builds)) {
    for (const std::string& need : stage_.source.needs) needs_.emplace_back(need, ladder().names());
  }

  const CompiledStage* compiled_stage() const override { return &stage_; }
  std::string not_here() const override { return stage_.build.missing; }
  std::string does_not_compile() const override { return stage_.build.error; }
  bool launches_by_itself() const override { return stage_.launches_by_itself(); }
  double tolerance() const override { return stage_.problem->granted_tolerance(0, {}); }

  std::string unsupported_reason(const ProblemSize& size) const override {
    const SizeValues values = ladder().size_values(size.values);
    const auto missed =
        std::ranges::find_if(needs_, [&](const Expression& need) { return !(need.value(values) != 0); });
    return missed == needs_.end() ? std::string() : fmt::format("it requires {}", missed->text());
  }

  /// Throws DeviceError if the library cannot be loaded.
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    std::vector<StageArgument> arguments = arguments_of(ladder(), size, tensors);
    const std::string library = stage_.build.library.string();
    if (auto* const host = dynamic_cast<StageHost*>(&device)) {
      host->load(library, kSolveCall, arguments);
      return std::make_unique<HostedStage>(*host, stage_.choice);
    }
    return std::make_unique<LoadedStage>(device, load(library, kSolveCall), std::move(arguments), stage_.choice);
  }

  /// All combinations of its parameters' values; those closest to the first values come first.
  Configurations configurations(const ProblemSize& size, const Configuration& wanted, int most) const override {
    if (stage_.source.parameters.empty() || !builds_) return {};
    const std::vector<Configuration> all = combinations(stage_.source.parameters);
    if (std::string why = impossible_configuration(wanted, all, size_name(size)); !why.empty()) {
      throw std::invalid_argument(why);
    }
    Configurations found;
    found.candidates = candidates_of(all, wanted, most);
    found.by_model = found.candidates.front();
    found.possible = std::ranges::count_if(all, [&](const Configuration& one) { return wanted.agrees_with(one); });
    return found;
  }

  /// The stage compiled with these parameters, or `does_not_compile`.
  std::unique_ptr<Variant> configured(const ProblemSize& size, const Configuration& wanted,
                                      ChosenBy chosen_by) const override {
    const Configuration chosen = configurations(size, wanted, 1).candidates.at(0);
    StageDefinitions definitions;
    for (const Parameter& one : chosen.parameters()) definitions.emplace_back(one.name, one.value);
    return stage_variant({stage_.problem, stage_.source, builds_(definitions),
                          chosen.text() + chosen_by_text(chosen_by), stage_.folder});
  }

 private:
  const LadderProblem& ladder() const { return stage_.problem->ladder(); }

  CompiledStage stage_;
  StageBuilds builds_;
  std::vector<Expression> needs_;
};

}  // namespace

std::unique_ptr<Variant> stage_variant(CompiledStage stage, StageBuilds builds) {
  return std::make_unique<StageVariant>(std::move(stage), std::move(builds));
}

VariantInfo info_of(const CompiledStage& stage, std::string_view builds_on) {
  const StageSource& source = stage.source;
  return {.family = source.family(),
          .rung = source.rung == 0 ? std::nullopt : std::optional(source.rung),
          .name = source.name,
          .title = source.title,
          .builds_on = builds_on,
          .hypothesis = source.hypothesis};
}

}  // namespace convladder
