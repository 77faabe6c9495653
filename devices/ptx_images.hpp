// The PTX that was compiled of this build's kernels.
#pragma once

#include <string>
#include <vector>

#include "devices/embedded_file.hpp"

namespace convladder {

/// What one compiler made of all sources with kernels.
struct PtxImages {
  std::string compiler;             ///< "nvcc" or "clang"
  std::string version;              ///< "13.0.88"
  std::vector<EmbeddedFile> files;  ///< one for each source
};

/// An entry for each compiler that took part in this build. The first one's PTX is what runs unless another is asked
/// for: nvcc's where it was there. Empty in a build without a compiler for kernels.
const std::vector<PtxImages>& ptx_images();

/// A static object of this type makes the images known.
struct PtxImagesRegistration {
  explicit PtxImagesRegistration(const std::vector<PtxImages>& (*images)());
};

}  // namespace convladder
