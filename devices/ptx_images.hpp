// The PTX of this build's kernels.
#pragma once

#include <string>
#include <vector>

#include "support/file_bytes.hpp"

namespace convladder {

/// The PTX that one compiler made of all sources with kernels.
struct PtxImages {
  std::string compiler;             ///< "nvcc" or "clang"
  std::string version;              ///< "13.0.88"
  std::vector<EmbeddedFile> files;  ///< one for each source, by name
};

/// One entry for each compiler that took part in this build. The first one's PTX runs unless another is asked for; it
/// is nvcc's where nvcc was available. Empty in a build without a compiler for kernels.
const std::vector<PtxImages>& ptx_images();

/// A static object of this type registers the PTX that a compiler made of one library's sources
/// (cmake/KernelLibrary.cmake).
struct PtxImagesRegistration {
  PtxImagesRegistration(const char* compiler, const char* version, const std::vector<EmbeddedFile>& (*files)());
};

}  // namespace convladder
