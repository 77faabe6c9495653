#include "harness/measure/ladders/reference_process.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/isolation/case_confinement.hpp"
#include "harness/measure/isolation/helper_messages.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "ladders/compiler_settings.hpp"
#include "ladders/compilers.hpp"
#include "ladders/stage_build.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

namespace convladder {

const std::vector<EmbeddedFile>& embedded_reference_server();

namespace {

namespace fs = std::filesystem;

constexpr double kUsualSeconds = 600;  // for a call: nobody waits longer for the check of one output
constexpr int kMostSeconds = 1'000'000;
constexpr const char* kSecondsVariable = "CONVLADDER_REFERENCE_SECONDS";
// For the process that confines itself and becomes Python's.
constexpr const char* kServerVariable = "CONVLADDER_REFERENCE_SERVER";
constexpr const char* kFileVariable = "CONVLADDER_REFERENCE_FILE";
constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

double seconds_of_a_call() {
  const char* const named = std::getenv(kSecondsVariable);
  return named == nullptr ? kUsualSeconds : parse_whole_number(kSecondsVariable, named, 1, kMostSeconds);
}

/// Throws UserError for a reference with which no output can be compared. Where errors are relative to NaN, they say
/// nothing.
void require_telling(const ReferenceTensor& tensor, const std::string& reference) {
  const auto refuse = [&](const std::string& of, std::size_t at, double value, const char* what) {
    const double shown = std::isnan(value) ? std::abs(value) : value;
    throw UserError(fmt::format("{}: element {} of {} is {}, {}", reference, at, of, shown, what));
  };
  if (is_floating(tensor.tensor->type)) {
    const auto* const values = reinterpret_cast<const double*>(tensor.values.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements); ++i) {
      if (!std::isfinite(values[i])) refuse(tensor.tensor->name, i, values[i], "no number to compare with");
    }
  }
  for (std::size_t i = 0; i < tensor.scale.size(); ++i) {
    const bool is_good = std::isnan(tensor.scale[i]) || (tensor.scale[i] >= 0 && std::isfinite(tensor.scale[i]));
    if (!is_good) refuse(tensor.tensor->name + "_scale", i, tensor.scale[i], "it must be a number from 0");
  }
}

/// Copies bytes; an empty tensor may have no address.
void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

/// The program that serves a reference.py, which lies in the cache.
fs::path python_server(const fs::path& cache) {
  const std::string& text = embedded_reference_server().front().content;
  const std::string hash = sha256_hex(text);
  fs::path file = cache / (hash + ".py");
  std::error_code error;
  if (!fs::exists(file, error)) write_file_atomically(file, text);
  return file;
}

/// The process, and the memory through which it receives and returns tensors.
class Reference {
 public:
  Reference(fs::path file, std::string name, fs::path cache, Trust trust)
      : file_(std::move(file)), name_(std::move(name)), cache_(std::move(cache)), trust_(trust) {}

  void compute(const ProblemSize& size, std::vector<ReferenceTensor>& tensors) {
    const std::scoped_lock locked(lock_);
    std::vector<std::size_t> places;  // of values and scale of each tensor
    std::size_t bytes = 0;
    for (const ReferenceTensor& one : tensors) {
      places.push_back(bytes);
      bytes += aligned(one.values.size());
      places.push_back(bytes);
      bytes += aligned(one.scale.size() * sizeof(double));
    }
    start(bytes);
    const to_reference::Compute request = lay_out(size, tensors, places);
    // One that has ended answers nothing any more: the next call starts another.
    auto process = std::move(process_);
    const auto answer = process->ask_for(request);
    if (const Ending* const ending = std::get_if<Ending>(&answer)) {
      throw UserError(fmt::format("{}: {}", name_, ending->reason));
    }
    process_ = std::move(process);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      ReferenceTensor& one = tensors[i];
      if (one.tensor->role == TensorRole::in) continue;
      copy_bytes(one.values.data(), memory_->data() + places[2 * i], one.values.size());
      copy_bytes(one.scale.data(), memory_->data() + places[2 * i + 1], one.scale.size() * sizeof(double));
      require_telling(one, name_);
    }
  }

 private:
  void start(std::size_t bytes) {
    if (process_ != nullptr && memory_->bytes() >= bytes) return;
    process_.reset();
    memory_ = std::make_unique<SharedMemory>(std::max(bytes, kAlignment));
    const bool is_python = file_.extension() == ".py";
    const bool is_foreign = trust_ == Trust::foreign;
    ProcessStart start{.what = name_,
                       .command = "serve-reference",
                       .memory = {memory_->descriptor()},
                       .timeout_seconds = seconds_of_a_call(),
                       .is_environment_emptied = is_foreign};
    if (is_python) {
      start.command = python_server(cache_).string();
      start.program = find_python().empty() ? python() : find_python();
    }
    if (is_python && is_foreign) {
      start.variables = {{kServerVariable, start.command}, {kFileVariable, file_.string()}};
      start.command = "serve-confined-python";
      start.program = kThisProgram;
    }
    process_ = std::make_unique<ProcessClient<ReferenceMessages>>(
        start, to_reference::Hello{file_.string(), memory_->bytes(), is_foreign && !is_python});
  }

  to_reference::Compute lay_out(const ProblemSize& size, const std::vector<ReferenceTensor>& tensors,
                                const std::vector<std::size_t>& places) const {
    const LadderProblem& problem = dynamic_cast<const FolderProblem&>(*size.problem).ladder();
    const SizeValues values = problem.size_values(size.values);
    to_reference::Compute request;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const ReferenceTensor& one = tensors[i];
      copy_bytes(memory_->data() + places[2 * i], one.values.data(), one.values.size());
      copy_bytes(memory_->data() + places[2 * i + 1], one.scale.data(), one.scale.size() * sizeof(double));
      const ElementType type = is_floating(one.tensor->type) ? ElementType::f64 : one.tensor->type;
      to_reference::Tensor& tensor = request.tensors.emplace_back();
      tensor.name = one.tensor->name;
      tensor.role = one.tensor->role == TensorRole::in ? "in" : one.tensor->role == TensorRole::out ? "out" : "in-out";
      tensor.type = element_name(type);
      for (const Expression& extent : one.tensor->shape) {
        tensor.shape.push_back(static_cast<std::int64_t>(extent.value(values)));
      }
      tensor.at = places[2 * i];
      if (!one.scale.empty()) tensor.scale_at = places[2 * i + 1];
    }
    for (const LadderScalar& one : problem.scalars) {
      const ElementType type = is_floating(one.type) ? ElementType::f64 : one.type;
      // The value as a stage gets it: a float of 32 bits where the problem says so.
      const double value = with_element_type(
          one.type, [&]<typename T>(T) { return to_double(from_double<T>(one.value.value(values))); });
      request.scalars.push_back({one.name, std::string(element_name(type)), value});
    }
    for (std::size_t i = 0; i < problem.dimensions.size(); ++i) {
      request.dimensions.emplace_back(problem.dimensions[i].letter, size.values[i]);
    }
    return request;
  }

  fs::path file_;
  std::string name_;
  fs::path cache_;
  Trust trust_;
  std::mutex lock_;
  std::unique_ptr<SharedMemory> memory_;
  std::unique_ptr<ProcessClient<ReferenceMessages>> process_;  // gone before its memory is
};

/// The other end, for a reference.cpp.
class ReferenceServer final : public Client<ReferenceMessages> {
 public:
  ReferenceServer(const std::string& library, std::byte* memory) : memory_(memory) {
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) call_ = reinterpret_cast<Call>(dlsym(handle, kReferenceCall));
    if (call_ != nullptr) return;
    const char* const error = dlerror();
    why_not_ = error == nullptr ? "it cannot be loaded" : error;
  }

  ReferenceMessages::Answer ask(const ReferenceMessages::Request& request) override {
    if (call_ == nullptr) return Ending{Status::crashed, why_not_};
    const auto& wanted = std::get<to_reference::Compute>(request);
    std::vector<void*> arguments;
    for (const to_reference::Tensor& one : wanted.tensors) {
      arguments.push_back(memory_ + one.at);
      if (one.scale_at) arguments.push_back(memory_ + *one.scale_at);
    }
    std::vector<std::vector<std::byte>> numbers;
    for (const to_reference::Scalar& one : wanted.scalars) {
      with_element_type(element_type_of(one.type).value_or(ElementType::f64), [&]<typename T>(T) {
        const T value = from_double<T>(one.value);
        const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
        numbers.emplace_back(bytes, bytes + sizeof value);
      });
    }
    std::vector<int> dimensions;
    for (const auto& [letter, value] : wanted.dimensions) dimensions.push_back(value);
    for (std::vector<std::byte>& number : numbers) arguments.push_back(number.data());
    for (int& dimension : dimensions) arguments.push_back(&dimension);
    try {
      call_(arguments.data());
    } catch (const std::exception& error) {
      return Ending{Status::crashed, fmt::format("exception: {}", error.what())};
    }
    return Done();
  }

 private:
  using Call = void (*)(void* const* arguments);
  std::byte* memory_;
  Call call_ = nullptr;
  std::string why_not_;
};

int serve_reference(int socket, int memory, int /*window*/) {
  std::unique_ptr<SharedMemory> tensors;  // outlives the client that answers
  return serve_requests<ReferenceMessages>(socket, [&](const to_reference::Hello& hello) {
    tensors = std::make_unique<SharedMemory>(memory, hello.bytes, SharedMemory::Access::write);
    if (hello.is_confined) confine_case({.readable = {hello.file}});
    return std::make_unique<ReferenceServer>(hello.file, tensors->data());
  });
}

const ServedRegistration serve_reference_registration("serve-reference", serve_reference);

/// Confines this process, and then runs Python in it.
int serve_confined_python(int socket, int memory, int /*window*/) {
  const char* const server = std::getenv(kServerVariable);
  const char* const file = std::getenv(kFileVariable);
  if (server == nullptr || file == nullptr) return kExitError;
  ConfinementWish wish = case_confinement({.readable = {server, file}});
  wish.calls.may_start_programs = true;
  wish.is_shut_to_others = false;  // a program that is started anew is open again anyway
  wish.files.start = program_folders();
  confine(wish);
  std::vector<std::string> words{kSystemPython, server, std::to_string(socket), std::to_string(memory)};
  execv(kSystemPython, null_terminated(words).data());
  return kExitError;
}

const ServedRegistration confined_python_registration("serve-confined-python", serve_confined_python);

}  // namespace

LadderReference reference_process(const fs::path& file, const std::string& name, const fs::path& cache, Trust trust) {
  auto reference = std::make_shared<Reference>(file, name, cache, trust);
  return [reference = std::move(reference)](const ProblemSize& size, std::vector<ReferenceTensor>& tensors) {
    reference->compute(size, tensors);
  };
}

}  // namespace convladder
