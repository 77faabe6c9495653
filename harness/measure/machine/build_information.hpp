#pragma once

/// The facts about this build that go into the record. cmake/BuildInformation.cmake writes the file that defines them,
/// anew for every commit; nothing includes that file, so a commit compiles it alone.
namespace convladder::build {

extern const char* const version;             ///< the project's, "0.1.0"
extern const char* const commit;              ///< 40 hexadecimal digits, "unknown" outside a git repository
extern const bool dirty;                      ///< the working tree has changes that are not committed
extern const char* const build_type;          ///< "Release"
extern const char* const compiler;            ///< of C++: "GNU 12.2.0"
extern const char* const cxx_flags;           ///< of every file
extern const char* const cpu_variant_flags;   ///< besides those, of the CPU variants
extern const char* const cuda_compiler;       ///< "NVIDIA 13.0.88", "Clang 14.0.6"; empty without the cuda family
extern const char* const cuda_architectures;  ///< of machine code and PTX in the program; empty without nvcc
extern const char* const benchmark_version;   ///< of Google Benchmark: "1.7.1"
extern const bool sanitized;                  ///< built with sanitizers: its times say nothing

}  // namespace convladder::build
