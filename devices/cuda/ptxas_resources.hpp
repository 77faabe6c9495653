// Passes the reports of ptxas on the kernels to `kernel_resources` (devices/kernel_resources.hpp).
#pragma once

#include <vector>

#include "support/file_bytes.hpp"

namespace convladder {

/// A static object of this type adds one library's reports, one per .cu file (cmake/NvccPtx.cmake).
struct PtxasReportsRegistration {
  explicit PtxasReportsRegistration(const std::vector<EmbeddedFile>& (*reports)());
};

}  // namespace convladder
