#include "harness/measure/machine/program_facts.hpp"

#include "harness/measure/machine/build_information.hpp"

namespace convladder {

ProgramFacts this_program() {
  return {.name = "convladder",
          .version = build::version,
          .commit = build::commit,
          .dirty = build::dirty,
          .build_type = build::build_type,
          .compiler = build::compiler,
          .compiler_flags = build::cxx_flags,
          .cpu_variant_flags = build::cpu_variant_flags,
          .cuda_compiler = build::cuda_compiler,
          .cuda_architectures = build::cuda_architectures,
          .ptx = compiled_ptx(),
          .sanitized = build::sanitized};
}

}  // namespace convladder
