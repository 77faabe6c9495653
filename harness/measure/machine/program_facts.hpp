// Which build of this program it is.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/machine/ptx_hash.hpp"

namespace convladder {

/// The description that a build gives of itself. Another build may not say all of it: then it is empty.
struct ProgramFacts {
  std::string name;
  std::string version;
  std::string commit;
  bool dirty = false;
  std::string build_type;
  std::string compiler;
  std::string compiler_flags;
  std::string cpu_variant_flags;
  std::string cuda_compiler;       ///< empty without the cuda family
  std::string cuda_architectures;  ///< empty without nvcc
  std::vector<CompiledPtx> ptx;
  bool sanitized = false;
};

ProgramFacts this_program();

}  // namespace convladder
