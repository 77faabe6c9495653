// The PTX that was compiled of this build's kernels.
#pragma once

#include <vector>

#include "devices/embedded_file.hpp"

namespace convladder {

/// One file for each source with kernels; empty in a build without a compiler for them.
const std::vector<EmbeddedFile>& ptx_images();

/// A static object of this type makes the images known.
struct PtxImagesRegistration {
  explicit PtxImagesRegistration(const std::vector<EmbeddedFile>& (*images)());
};

}  // namespace convladder
