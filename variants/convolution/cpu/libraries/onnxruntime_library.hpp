// The part of ONNX Runtime's C API that this program uses, opened at run time: the program builds and starts without
// it.
//
// The packages of npm and pip have no header, so the few functions are declared here, with their places in the table
// that the library hands out. That is its binary interface: a table of a version keeps its order for ever, later
// versions only append to it, and a library without the requested version hands out none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace convladder {

// The library's own types, by their own names: this program only sees pointers to them.
struct OrtEnv;
struct OrtMemoryInfo;
struct OrtSession;
struct OrtSessionOptions;
struct OrtStatus;
struct OrtValue;

/// The file to open if the dynamic linker does not find it: CONVLADDER_ONNXRUNTIME=FILE in the environment.
inline constexpr const char* kOnnxRuntimeVariable = "CONVLADDER_ONNXRUNTIME";

/// Functions that return a status return null where all went well.
struct OnnxRuntimeLibrary {
#define CONVLADDER_ORT_FUNCTIONS(apply)                                                                            \
  apply(2, const char*, GetErrorMessage, (const OrtStatus*));                                                      \
  apply(3, OrtStatus*, CreateEnv, (int severity, const char* name, OrtEnv**));                                     \
  apply(8, OrtStatus*, CreateSessionFromArray,                                                                     \
        (const OrtEnv*, const void* model, std::size_t bytes, const OrtSessionOptions*, OrtSession**));            \
  apply(9, OrtStatus*, Run,                                                                                        \
        (OrtSession*, const void* options, const char* const* input_names, const OrtValue* const* inputs,          \
         std::size_t input_count, const char* const* output_names, std::size_t output_count, OrtValue** outputs)); \
  apply(10, OrtStatus*, CreateSessionOptions, (OrtSessionOptions**));                                              \
  apply(24, OrtStatus*, SetIntraOpNumThreads, (OrtSessionOptions*, int));                                          \
  apply(49, OrtStatus*, CreateTensorWithDataAsOrtValue,                                                            \
        (const OrtMemoryInfo*, void* data, std::size_t bytes, const std::int64_t* sizes, std::size_t dimensions,   \
         int element_type, OrtValue**));                                                                           \
  apply(69, OrtStatus*, CreateCpuMemoryInfo, (int allocator, int memory, OrtMemoryInfo**));                        \
  apply(93, void, ReleaseStatus, (OrtStatus*));                                                                    \
  apply(94, void, ReleaseMemoryInfo, (OrtMemoryInfo*));                                                            \
  apply(95, void, ReleaseSession, (OrtSession*));                                                                  \
  apply(96, void, ReleaseValue, (OrtValue*));                                                                      \
  apply(100, void, ReleaseSessionOptions, (OrtSessionOptions*));                                                   \
  apply(130, OrtStatus*, AddSessionConfigEntry, (OrtSessionOptions*, const char* key, const char* value))
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declared name takes none
#define CONVLADDER_ORT_MEMBER(place, result, name, parameters) result(*name) parameters = nullptr
  CONVLADDER_ORT_FUNCTIONS(CONVLADDER_ORT_MEMBER);
#undef CONVLADDER_ORT_MEMBER

  std::string version;  ///< "1.30.0"
  std::string missing;  ///< empty if it can be used, otherwise why not
  std::string file;     ///< full path
};

/// Opens the file that CONVLADDER_ONNXRUNTIME names, or else libonnxruntime.so.1 or libonnxruntime.so where the dynamic
/// linker looks; once.
const OnnxRuntimeLibrary& onnxruntime_library();

/// A dense float32 tensor of the caller's that a model knows by this name.
struct OnnxTensor {
  std::string name;
  std::vector<std::int64_t> sizes;
  float* data = nullptr;
};

/// A model made ready for one input and one output, whose addresses do not change.
class OnnxRuntimeSession {
 public:
  /// `model` is written by OnnxModel. `threads` of the library work on a call, including the caller. Throws DeviceError
  /// with the library's message.
  OnnxRuntimeSession(const std::string& model, int threads, OnnxTensor input, OnnxTensor output);
  void run();

 private:
  template <typename T>
  using Owned = std::unique_ptr<T, void (*)(T*)>;

  Owned<OrtValue> value_of(const OnnxTensor& tensor) const;

  OnnxTensor input_;
  OnnxTensor output_;
  Owned<OrtSession> session_;
  Owned<OrtValue> input_value_;
  Owned<OrtValue> output_value_;
};

}  // namespace convladder
