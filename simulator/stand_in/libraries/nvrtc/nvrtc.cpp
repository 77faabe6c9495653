// NVRTC for a device that reads PTX: the real library compiles, or CUDA's compiler where there is none. Where a program
// asks for machine code it gets the PTX, which this stand-in's cuModuleLoadData takes.
#include <nvrtc.h>

#include <cstring>
#include <map>
#include <memory>

#include "simulator/stand_in/libraries/answer.hpp"
#include "simulator/stand_in/libraries/living_objects.hpp"
#include "simulator/stand_in/libraries/nvrtc/compiler.hpp"
#include "simulator/stand_in/libraries/nvrtc/real_library.hpp"
#include "simulator/stand_in/libraries/toolkits/toolkits.hpp"

/// The program's handle points to it.
struct _nvrtcProgram {  // NOLINT(bugprone-reserved-identifier): NVRTC's own name
  nvrtcProgram real = nullptr;
  bool asked_for_machine_code = false;
  // For the compiler.
  convladder::stand_in::nvrtc::SourceText source;
  std::vector<convladder::stand_in::nvrtc::SourceText> headers;
  std::vector<std::string> names;
  std::map<std::string, std::string> lowered;
  bool is_compiled = false;
  convladder::stand_in::nvrtc::Compiled compiled;
};

namespace convladder::stand_in {
namespace {

const char* nvrtc_status_name(int status) {
  switch (status) {
    case NVRTC_SUCCESS:
      return "NVRTC_SUCCESS";
    case NVRTC_ERROR_OUT_OF_MEMORY:
      return "NVRTC_ERROR_OUT_OF_MEMORY";
    case NVRTC_ERROR_PROGRAM_CREATION_FAILURE:
      return "NVRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case NVRTC_ERROR_INVALID_INPUT:
      return "NVRTC_ERROR_INVALID_INPUT";
    case NVRTC_ERROR_INVALID_PROGRAM:
      return "NVRTC_ERROR_INVALID_PROGRAM";
    case NVRTC_ERROR_INVALID_OPTION:
      return "NVRTC_ERROR_INVALID_OPTION";
    case NVRTC_ERROR_COMPILATION:
      return "NVRTC_ERROR_COMPILATION";
    case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
      return "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    case NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION:
      return "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    case NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION:
      return "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID:
      return "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    case NVRTC_ERROR_INTERNAL_ERROR:
      return "NVRTC_ERROR_INTERNAL_ERROR";
    default:
      return "NVRTC_ERROR unknown";
  }
}

}  // namespace

const LibraryInfo kNvrtc = {.name = "NVRTC",
                            .status_name = nvrtc_status_name,
                            .not_supported = NVRTC_ERROR_INTERNAL_ERROR,
                            .failed = NVRTC_ERROR_INTERNAL_ERROR,
                            .needs_context = false};

int refuse_nvrtc_call(const char* function) noexcept { return library_machine().refuse(kNvrtc, function); }

namespace nvrtc {
namespace {

/// Copies a text with the zero behind it.
nvrtcResult give_text(const std::string& text, char* to) {
  if (to == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return NVRTC_SUCCESS;
}
nvrtcResult give_size(std::size_t size, std::size_t* to) {
  if (to == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *to = size;
  return NVRTC_SUCCESS;
}

/// Calls `of_real(library)` where there is a real library, and `of_compiled()` otherwise.
template <typename OfReal, typename OfCompiled>
nvrtcResult with(nvrtcProgram program, const OfReal& of_real, const OfCompiled& of_compiled) noexcept {
  try {
    if (!living_objects().has(program)) return NVRTC_ERROR_INVALID_PROGRAM;
    if (program->real != nullptr) return of_real(*real_library());
    return of_compiled();
  } catch (...) {
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
}

/// A function of the real library alone.
template <typename... Parameters, typename... Arguments>
nvrtcResult only_real(const char* name, nvrtcProgram program,
                      nvrtcResult (*RealLibrary::*function)(nvrtcProgram, Parameters...),
                      Arguments... arguments) noexcept {
  const auto refuse = [&] { return static_cast<nvrtcResult>(refuse_nvrtc_call(name)); };
  return with(
      program,
      [&](const RealLibrary& real) {
        return real.*function == nullptr ? refuse() : (real.*function)(program->real, arguments...);
      },
      refuse);
}

}  // namespace
}  // namespace nvrtc
}  // namespace convladder::stand_in

using namespace convladder::stand_in;
using namespace convladder::stand_in::nvrtc;

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) { return nvrtc_status_name(result); }

nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  if (const RealLibrary* const real = real_library()) return real->version(major, minor);
  *major = 13;
  *minor = 0;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  const RealLibrary* const real = real_library();
  if (real == nullptr || real->architecture_count == nullptr)
    return static_cast<nvrtcResult>(refuse_nvrtc_call(__func__));
  return real->architecture_count(count);
}
nvrtcResult nvrtcGetSupportedArchs(int* architectures) {
  const RealLibrary* const real = real_library();
  if (real == nullptr || real->architectures == nullptr) return static_cast<nvrtcResult>(refuse_nvrtc_call(__func__));
  return real->architectures(architectures);
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int header_count,
                               const char* const* headers, const char* const* header_names) {
  if (program == nullptr || source == nullptr || header_count < 0) return NVRTC_ERROR_INVALID_INPUT;
  auto made = std::make_unique<_nvrtcProgram>();
  if (const RealLibrary* const real = real_library()) {
    const nvrtcResult result = real->create(&made->real, source, name, header_count, headers, header_names);
    if (result != NVRTC_SUCCESS) return result;
  } else if (find_compiler().empty()) {
    return answer_call<nvrtcResult>(kNvrtc, "nvrtcCreateProgram", [](LibraryCall&) {
      throw Refused(NVRTC_ERROR_INTERNAL_ERROR,
                    "this machine has neither libnvrtc nor nvcc, one of which has to compile: a CUDA toolkit, or the "
                    "Python package nvidia-cuda-nvrtc");
    });
  } else {
    made->source = {name == nullptr ? "default_program" : name, source};
    for (int i = 0; i < header_count; ++i) made->headers.push_back({header_names[i], headers[i]});
  }
  *program = living_objects().add(made.release());
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (program == nullptr || !living_objects().remove(*program)) return NVRTC_ERROR_INVALID_PROGRAM;
  const std::unique_ptr<_nvrtcProgram> its(*program);
  *program = nullptr;
  return its->real == nullptr ? NVRTC_SUCCESS : real_library()->destroy(&its->real);
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* given) {
  if (count < 0 || (count > 0 && given == nullptr)) return NVRTC_ERROR_INVALID_INPUT;
  const auto [options, is_changed] = for_ptx(std::vector<std::string>(given, given + count));
  const bool asked = is_changed;
  const std::vector<std::string>& all = options;
  return with(
      program,
      [&](const RealLibrary& real) {
        program->asked_for_machine_code = asked;
        std::vector<const char*> words;
        for (const std::string& option : all) words.push_back(option.c_str());
        return real.compile(program->real, static_cast<int>(words.size()), words.data());
      },
      [&] {
        program->asked_for_machine_code = asked;
        program->compiled = compile(find_compiler(), program->source, program->headers, all, program->names);
        program->is_compiled = true;
        return program->compiled.succeeded ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
      });
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* size) {
  return with(
      program, [&](const RealLibrary& real) { return real.ptx_size(program->real, size); },
      [&] {
        if (!program->compiled.succeeded) return NVRTC_ERROR_INVALID_PROGRAM;
        return give_size(program->compiled.ptx.size() + 1, size);
      });
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx) {
  return with(
      program, [&](const RealLibrary& real) { return real.ptx(program->real, ptx); },
      [&] {
        if (!program->compiled.succeeded) return NVRTC_ERROR_INVALID_PROGRAM;
        return give_text(program->compiled.ptx, ptx);
      });
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) {
  return with(
      program,
      [&](const RealLibrary& real) {
        if (program->asked_for_machine_code || real.machine_code_size == nullptr)
          return real.ptx_size(program->real, size);
        return real.machine_code_size(program->real, size);
      },
      [&] {
        if (!program->asked_for_machine_code) return give_size(0, size);
        return nvrtcGetPTXSize(program, size);
      });
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image) {
  return with(
      program,
      [&](const RealLibrary& real) {
        if (program->asked_for_machine_code || real.machine_code == nullptr) return real.ptx(program->real, image);
        return real.machine_code(program->real, image);
      },
      [&] { return nvrtcGetPTX(program, image); });
}
nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram program, size_t* size) {
  return only_real(__func__, program, &RealLibrary::intermediate_size, size);
}
nvrtcResult nvrtcGetLTOIR(nvrtcProgram program, char* code) {
  return only_real(__func__, program, &RealLibrary::intermediate, code);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* size) {
  return with(
      program, [&](const RealLibrary& real) { return real.log_size(program->real, size); },
      [&] { return give_size(program->compiled.log.size() + 1, size); });
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  return with(
      program, [&](const RealLibrary& real) { return real.log(program->real, log); },
      [&] { return give_text(program->compiled.log, log); });
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* const expression) {
  return with(
      program, [&](const RealLibrary& real) { return real.add_name(program->real, expression); },
      [&] {
        if (program->is_compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
        program->names.emplace_back(expression);
        return NVRTC_SUCCESS;
      });
}
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* const expression, const char** name) {
  return with(
      program, [&](const RealLibrary& real) { return real.lowered_name(program->real, expression, name); },
      [&] {
        if (!program->is_compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
        if (name == nullptr) return NVRTC_ERROR_INVALID_INPUT;
        std::string& lowered = program->lowered[expression];
        if (lowered.empty()) lowered = nvrtc::lowered_name(program->compiled.ptx, expression);
        *name = lowered.c_str();
        return lowered.empty() ? NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID : NVRTC_SUCCESS;
      });
}

}  // extern "C"
