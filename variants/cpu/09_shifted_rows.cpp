// Stage 9: the input copied once for each column of the filter.
//
// In stage 7 a run of outputs goes on over the columns between the end of an output row and the next, which belong to
// no output: 6 of 33 lanes at a filter of 7 and 27 outputs. Here a band's input is copied once for each column of the
// filter, shifted by it and cut to the output's width. Then the inputs of any tap are one line without gaps, as the
// outputs are: no lane is spent between rows, sums are stored as they are, and a tap is still nothing but an offset.
// The copies are as many as the filter has columns, a seventh of what stage 8 writes down for a filter of 7; they are
// read again for every row of the filter. The register tile is wider where there are few maps, so that it has sums
// enough. Known as MEC, Cho and Brand, "MEC: Memory-efficient Convolution for Deep Neural Network", ICML 2017, there
// with a matrix product over the copies. It loses where many channels leave the copies of a band no room in the
// second-level cache, and where a batch is too small to give each core a band.

#include <omp.h>

#include <vector>

#include "variants/cpu/shifted_rows.hpp"
#include "variants/cpu_variant.hpp"

namespace convladder {
namespace {

class ShiftedRowsConvolution {
 public:
  ShiftedRowsConvolution(const ConvShape& shape, const float* weights)
      : shape_(shape), rows_(shape, weights, omp_get_max_threads()) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) copies_.emplace_back(rows_.copy_floats());
  }

  void convolve(const float* input, float* output) {
    const int threads = static_cast<int>(copies_.size());
    const std::int64_t tasks = std::int64_t{shape_.batch} * rows_.bands();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t task = 0; task < tasks; ++task) {
      const std::int64_t image = task / rows_.bands();
      rows_.convolve(copies_[static_cast<std::size_t>(omp_get_thread_num())].data(),
                     input + image * shape_.input_elements_per_image(),
                     output + image * shape_.output_elements_per_image(), static_cast<int>(task % rows_.bands()),
                     false);
    }
  }

  std::string choice() const { return rows_.choice(); }

 private:
  ConvShape shape_;
  ShiftedRows rows_;
  std::vector<AlignedFloats> copies_;  ///< of each thread
};

const VariantRegistration registration{
    {.family = "cpu",
     .rung = 9,
     .name = "shifted-rows",
     .title = "Shifted rows",
     .builds_on = "register-tile",
     .hypothesis = "A copy of the input for each column of the filter: no lane is spent between output rows."},
    std::make_unique<PreparingCpuVariant<ShiftedRowsConvolution>>()};

}  // namespace
}  // namespace convladder
