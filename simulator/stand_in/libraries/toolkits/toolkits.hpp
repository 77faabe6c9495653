// CUDA's compilers on this machine, which compile without a GPU.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace convladder::stand_in {

/// nvcc on the PATH or in a toolkit's usual place; empty if there is none.
std::filesystem::path find_compiler();

/// Opens NVIDIA's own library of one of these names, for which a stand-in of the same name is loaded: of the version
/// that the program asked for if it is there, else the first that is. Null where there is none. It is looked for where
/// the program's loader looks, in toolkits' folders, and beside libraries that are loaded.
void* open_real_library(std::vector<std::string> names);

}  // namespace convladder::stand_in
