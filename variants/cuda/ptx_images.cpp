// Makes the PTX of this folder's kernels known to the devices (devices/ptx_images.hpp).
#include "devices/ptx_images.hpp"

namespace convladder {

/// Generated at build time, see cmake/PtxasReports.cmake: one file per .cu file.
const std::vector<EmbeddedFile>& embedded_ptx_images();

namespace {

const PtxImagesRegistration registration{embedded_ptx_images};

}  // namespace
}  // namespace convladder
