// What the tests' cuDNN has to offer: algorithms and engines with times, errors, notes and failures of a test's choice.
//
// "cudnn" in CONVLADDER_TEST_LIBRARIES (calls.hpp) changes the built-in ones:
//   {"algorithms": {"GEMM in FMA math": {"passes": 1}, "GEMM": {"status": 3000}}, "engines": [{"index": 7, …}]}
// An algorithm is looked for with its math type, then without. Engines replace the built-in ones, which are none.
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace library_of_tests {

/// How a convolution is done.
struct Way {
  int passes = 1;    ///< kernels that it launches, of which the first computes all: how long it takes; 0: nothing
  double error = 0;  ///< of every output, relative to the sum of magnitudes of its products
  std::size_t workspace = 0;                         ///< bytes
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;       ///< of the run
  cudnnStatus_t size_status = CUDNN_STATUS_SUCCESS;  ///< of the question for its workspace, or of making its plan
};

/// As `Way`, by what the graph interface says of it.
struct Engine {
  std::int64_t index = 0;
  std::int64_t tile = 0;  ///< the value of its knob CUDNN_KNOB_TYPE_TILE_SIZE; 0: it has none
  std::vector<int> notes;
  std::vector<int> modes;  ///< of the heuristics that name it
  Way way;
};

/// `standard` as the settings change it.
Way algorithm(cudnnConvolutionFwdAlgo_t algorithm, cudnnMathType_t math, const Way& standard);

const std::vector<Engine>& engines();

/// Sizes of a convolution; whether channels are last in all of its tensors.
struct Sizes {
  int batch, in_channels, height, width, out_channels, channels_per_group, kernel, out_height, out_width, padding,
      stride, groups;
  bool channels_last;
};

/// Enqueues it.
cudnnStatus_t forward(const Sizes& sizes, const Way& way, float alpha, const void* input, const void* weights,
                      float beta, void* output);

bool is_handle(cudnnHandle_t handle);

}  // namespace library_of_tests
