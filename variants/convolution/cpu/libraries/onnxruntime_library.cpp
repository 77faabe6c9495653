#include "variants/convolution/cpu/libraries/onnxruntime_library.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

#include "devices/device_error.hpp"
#include "support/dynamic_library.hpp"
#include "support/library_versions.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

// The oldest API whose threads can be told to stop spinning between calls, of June 2022.
constexpr std::uint32_t kApiVersion = 12;

// Values of the API's enumerations.
constexpr int kErrorsOnly = 3;
constexpr int kDeviceAllocator = 0;
constexpr int kDefaultMemory = 0;
constexpr int kFloat = 1;

/// The struct that OrtGetApiBase returns.
struct OrtApiBase {
  const void* const* (*get_api)(std::uint32_t version);
  const char* (*get_version_string)();
};

DynamicLibrary open_file() {
  const char* const named = std::getenv(kOnnxRuntimeVariable);
  if (named != nullptr && *named != '\0') return DynamicLibrary({named});
  return DynamicLibrary({"libonnxruntime.so.1", "libonnxruntime.so"});
}

OnnxRuntimeLibrary open_library() {
  OnnxRuntimeLibrary library;
  DynamicLibrary file = open_file();
  const OrtApiBase* (*api_base)() = nullptr;
  file.load(api_base, "OrtGetApiBase");
  library.missing = printable(file.missing());
  library.file = printable(file.file());
  if (api_base == nullptr) {
    library.missing += fmt::format("; {}=FILE names the library", kOnnxRuntimeVariable);
    return library;
  }
  const OrtApiBase& base = *api_base();
  library.version = printable(base.get_version_string(), kShortText);
  const void* const* const table = base.get_api(kApiVersion);
  if (table == nullptr) {
    library.missing = fmt::format("ONNX Runtime {} is too old: 1.{} or newer is needed", library.version, kApiVersion);
    return library;
  }
#define CONVLADDER_ORT_LOAD(place, result, name, parameters) \
  library.name = reinterpret_cast<decltype(library.name)>(const_cast<void*>(table[place]))
  CONVLADDER_ORT_FUNCTIONS(CONVLADDER_ORT_LOAD);
#undef CONVLADDER_ORT_LOAD
  return library;
}

/// Throws DeviceError, "CreateSessionFromArray: <what the library says>", unless `status` is null.
void require(OrtStatus* status, const char* call) {
  if (status == nullptr) return;
  const OnnxRuntimeLibrary& library = onnxruntime_library();
  const std::string message = printable(library.GetErrorMessage(status));
  library.ReleaseStatus(status);
  throw DeviceError(fmt::format("ONNX Runtime's {}: {}", call, message));
}

/// Whether `version`, such as "1.30.0", is 1.`minor` or newer.
bool is_at_least(const std::string& version, int minor) {
  int numbers[2] = {};
  std::sscanf(version.c_str(), "%d.%d", &numbers[0], &numbers[1]);
  return numbers[0] > 1 || (numbers[0] == 1 && numbers[1] >= minor);
}

/// The environment. A process has one, which lives as long as the process.
const OrtEnv* environment() {
  static const OrtEnv* const made = [] {
    OrtEnv* environment = nullptr;
    require(onnxruntime_library().CreateEnv(kErrorsOnly, "convladder", &environment), "CreateEnv");
    return environment;
  }();
  return made;
}

/// Limits how long a session's idle threads spin: 3 to 50 ms by default, in which they would take a core from the next
/// case. They may spin as long as this program lets OpenMP's threads; libraries before 1.26 cannot be told so, and
/// their threads spin only during a call.
void limit_spinning(const OnnxRuntimeLibrary& library, OrtSessionOptions* options) {
  const bool can_be_told = is_at_least(library.version, 26);
  const char* const key = can_be_told ? "session.intra_op.spin_duration_us" : "session.force_spinning_stop";
  require(library.AddSessionConfigEntry(options, key, can_be_told ? "500" : "1"), "AddSessionConfigEntry");
}

OrtSession* new_session(const std::string& model, int threads) {
  const OnnxRuntimeLibrary& library = onnxruntime_library();
  if (!library.missing.empty()) throw DeviceError(library.missing);
  OrtSessionOptions* options = nullptr;
  require(library.CreateSessionOptions(&options), "CreateSessionOptions");
  const std::unique_ptr<OrtSessionOptions, void (*)(OrtSessionOptions*)> kept(options, library.ReleaseSessionOptions);
  require(library.SetIntraOpNumThreads(options, threads), "SetIntraOpNumThreads");
  limit_spinning(library, options);
  OrtSession* session = nullptr;
  require(library.CreateSessionFromArray(environment(), model.data(), model.size(), options, &session),
          "CreateSessionFromArray");
  return session;
}

const LibraryVersionRegistration registration([] {
  const OnnxRuntimeLibrary& library = onnxruntime_library();
  return LibraryVersion{"ONNX Runtime", library.missing.empty() ? library.version : library.missing, library.file};
});

}  // namespace

const OnnxRuntimeLibrary& onnxruntime_library() {
  static const OnnxRuntimeLibrary library = open_library();
  return library;
}

OnnxRuntimeSession::OnnxRuntimeSession(const std::string& model, int threads, OnnxTensor input, OnnxTensor output)
    : input_(std::move(input)),
      output_(std::move(output)),
      session_(new_session(model, threads), onnxruntime_library().ReleaseSession),
      input_value_(value_of(input_)),
      output_value_(value_of(output_)) {}

OnnxRuntimeSession::Owned<OrtValue> OnnxRuntimeSession::value_of(const OnnxTensor& tensor) const {
  const OnnxRuntimeLibrary& library = onnxruntime_library();
  OrtMemoryInfo* memory = nullptr;
  require(library.CreateCpuMemoryInfo(kDeviceAllocator, kDefaultMemory, &memory), "CreateCpuMemoryInfo");
  const Owned<OrtMemoryInfo> kept(memory, library.ReleaseMemoryInfo);
  const std::int64_t elements =
      std::accumulate(tensor.sizes.begin(), tensor.sizes.end(), std::int64_t{1}, std::multiplies<>());
  OrtValue* value = nullptr;
  require(
      library.CreateTensorWithDataAsOrtValue(memory, tensor.data, static_cast<std::size_t>(elements) * sizeof(float),
                                             tensor.sizes.data(), tensor.sizes.size(), kFloat, &value),
      "CreateTensorWithDataAsOrtValue");
  return {value, library.ReleaseValue};
}

void OnnxRuntimeSession::run() {
  const char* const input_name = input_.name.c_str();
  const char* const output_name = output_.name.c_str();
  const OrtValue* const input = input_value_.get();
  OrtValue* output = output_value_.get();  // not null, so that the library writes to it instead of making one
  require(onnxruntime_library().Run(session_.get(), nullptr, &input_name, &input, 1, &output_name, 1, &output), "Run");
}

}  // namespace convladder
