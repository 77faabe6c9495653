// The facts about a program's CUDA that its file tells before it runs: an ELF file's sections and needed libraries.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace convladder {

struct ProgramFile {
  std::string path;                 ///< of the file that the system will run
  bool is_elf = false;              ///< otherwise a script, whose interpreter runs
  bool is_privileged = false;       ///< setuid or setgid: the loader ignores LD_LIBRARY_PATH
  bool has_kernels = false;         ///< nvcc has compiled part of it
  bool has_static_runtime = false;  ///< the CUDA runtime is part of it
  bool has_names = false;           ///< the names of that runtime's functions
  bool is_static = false;           ///< no dynamic linker loads it
  std::vector<std::string> needed;  ///< libraries by name
};

/// The file of a program, found as a shell finds it: a name without '/' on PATH. Throws UserError: not found, not a
/// file, not executable.
ProgramFile find_program_file(const std::string& name);

/// Why the stand-in, in that folder, cannot take the runtime's place in the program, in one line with a remedy; empty
/// if it can, or if nothing is known about it.
std::string why_not_simulated(const ProgramFile& program, const std::filesystem::path& stand_in);

/// "libcublas.so.13, libcudnn.so.9": the needed libraries that hold no PTX.
std::vector<std::string> needed_without_ptx(const ProgramFile& program);

}  // namespace convladder
