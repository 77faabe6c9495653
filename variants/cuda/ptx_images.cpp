// Makes the PTX of this folder's kernels known to the devices (devices/ptx_images.hpp). The build says which compilers
// there were: CONVLADDER_NVCC_VERSION and CONVLADDER_CLANG_VERSION.
#include "devices/ptx_images.hpp"

namespace convladder {

// Generated at build time, one file per .cu file: cmake/PtxasReports.cmake, cmake/ClangCuda.cmake.
const std::vector<EmbeddedFile>& embedded_nvcc_ptx_images();
const std::vector<EmbeddedFile>& embedded_clang_ptx_images();

namespace {

const std::vector<PtxImages>& images() {
  static const std::vector<PtxImages> all = {
#ifdef CONVLADDER_NVCC_VERSION
      {"nvcc", CONVLADDER_NVCC_VERSION, embedded_nvcc_ptx_images()},
#endif
#ifdef CONVLADDER_CLANG_VERSION
      {"clang", CONVLADDER_CLANG_VERSION, embedded_clang_ptx_images()},
#endif
  };
  return all;
}

const PtxImagesRegistration registration{images};

}  // namespace
}  // namespace convladder
