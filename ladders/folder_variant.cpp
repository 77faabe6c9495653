#include "ladders/folder_variant.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "devices/device_error.hpp"

namespace convladder {
namespace {

using Call = void (*)(void* const* arguments);

/// Loaded once, and for as long as the process lives: a stage may have threads, or something to do at the end.
Call load(const std::string& library, const char* function) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = dlerror();
    throw DeviceError(fmt::format("it cannot be loaded: {}", error == nullptr ? library : error));
  }
  void* const found = dlsym(handle, function);
  if (found == nullptr) throw DeviceError(fmt::format("{} has no {}", library, function));
  return reinterpret_cast<Call>(found);
}

class PreparedStage final : public PreparedVariant {
 public:
  PreparedStage(Call call, const LadderProblem& problem, const ProblemSize& size, const ProblemTensors& tensors)
      : call_(call), dimensions_(size.values) {
    auto input = tensors.inputs.begin();
    auto output = tensors.outputs.begin();
    auto in_out = tensors.in_outs.begin();
    for (const LadderTensor& one : problem.tensors) {
      auto& next = one.role == TensorRole::in ? input : one.role == TensorRole::out ? output : in_out;
      arguments_.push_back((next++)->address);
    }
    const SizeValues values = problem.size_values(size.values);
    numbers_.resize(problem.scalars.size());
    for (std::size_t i = 0; i < problem.scalars.size(); ++i) {
      with_element_type(problem.scalars[i].type, [&]<typename T>(T) {
        const T value = from_double<T>(problem.scalars[i].value.value(values));
        std::memcpy(numbers_[i].data(), &value, sizeof value);
      });
      arguments_.push_back(numbers_[i].data());
    }
    for (int& dimension : dimensions_) arguments_.push_back(&dimension);
  }

  void run() override { call_(arguments_.data()); }

 private:
  Call call_;
  std::vector<int> dimensions_;
  std::vector<std::array<std::byte, sizeof(double)>> numbers_;
  std::vector<void*> arguments_;
};

}  // namespace

FolderVariant::FolderVariant(const FolderProblem& problem, StageSource source, StageBuild build)
    : problem_(problem), source_(std::move(source)), build_(std::move(build)) {
  for (const std::string& need : source_.needs) needs_.emplace_back(need, problem.ladder().names());
}

std::string FolderVariant::unsupported_reason(const ProblemSize& size) const {
  const SizeValues values = problem_.ladder().size_values(size.values);
  const auto missed = std::ranges::find_if(needs_, [&](const Expression& need) { return !(need.value(values) != 0); });
  return missed == needs_.end() ? std::string() : fmt::format("it requires {}", missed->text());
}

std::unique_ptr<PreparedVariant> FolderVariant::prepare(Device& /*device*/, const ProblemSize& size,
                                                        const ProblemTensors& tensors) const {
  return std::make_unique<PreparedStage>(load(build_.library, kSolveCall), problem_.ladder(), size, tensors);
}

double FolderVariant::tolerance() const { return problem_.granted_tolerance(0, {}); }

VariantInfo info_of(const FolderVariant& variant, std::string_view builds_on) {
  const StageSource& source = variant.source();
  return {.family = source.language == StageLanguage::cpp ? "cpu" : "cuda",
          .rung = source.rung == 0 ? std::nullopt : std::optional(source.rung),
          .name = source.name,
          .title = source.title,
          .builds_on = builds_on,
          .hypothesis = source.hypothesis};
}

}  // namespace convladder
