// CUDA's compiler, where there is no NVRTC: it makes the same PTX from a program's text.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace convladder::stand_in::nvrtc {

struct SourceText {
  std::string name;
  std::string text;
};

struct Compiled {
  bool succeeded = false;
  std::string ptx;
  std::string log;
};

/// Compiles a text with nvcc. `names` are expressions, such as "&f<int>", whose kernels and variables have to be there.
Compiled compile(const std::filesystem::path& compiler, const SourceText& source,
                 const std::vector<SourceText>& headers, const std::vector<std::string>& options,
                 const std::vector<std::string>& names);

/// The name in the PTX of an expression such as "&space::kernel<float, 4>"; empty if there is none.
std::string lowered_name(const std::string& ptx, const std::string& expression);

/// The options for PTX with lines: "compute_90" for one that asks for "sm_90", in any of its forms, and -lineinfo;
/// others stay as they are. True in `second` if machine code was asked for.
std::pair<std::vector<std::string>, bool> for_ptx(const std::vector<std::string>& options);

}  // namespace convladder::stand_in::nvrtc
