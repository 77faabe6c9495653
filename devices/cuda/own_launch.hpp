// Launches of the harness's own kernels.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

namespace convladder {

/// Launches a kernel and returns the status of this launch alone. `<<<>>>` and cudaGetLastError would also return an
/// error that a stage's own calls have left there.
template <typename... Parameters>
cudaError_t launch_own(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, cudaStream_t stream,
                       std::type_identity_t<Parameters>... arguments) {
  void* addresses[] = {&arguments..., nullptr};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads), addresses, 0, stream);
}

}  // namespace convladder
