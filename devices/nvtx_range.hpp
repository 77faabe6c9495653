// Named ranges on the timeline of Nsight Systems and in the filters of Nsight Compute (`--nvtx-include`).
//
//   NvtxRange range{"cuda/block-remap/lenet28.conv1/1000"};   // until the end of the block
//
// Ranges are in the domain "convladder". Without a profiler a range costs a few nanoseconds; without NVTX at build
// time, nothing but the call.
#pragma once

#include <string>

namespace convladder {

class NvtxRange {
 public:
  explicit NvtxRange(const std::string& message);
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
  ~NvtxRange();
};

}  // namespace convladder
