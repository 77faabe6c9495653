// Stage 10: outputs leave past the caches.
//
// A layer with one channel writes far more than it reads, and every line that an ordinary store touches is read from
// memory first. Against stage 9 a register tile goes to memory by streaming stores, which fill whole lines in a buffer
// of the processor and read nothing. What it relieves is the memory's bandwidth, by a third to a half. It is left out
// where it loses: where the last-level cache holds the outputs of a call, so that nothing has to leave; and where a
// map's outputs are no multiple of a line, so that the registers' parts of lines do not fit the memory's. To gather
// whole images in a buffer and to stream them from there, a few lines after each register tile, cost more than it
// relieved: 10 to 48 % of the layer's time in duels with stage 9.

#include <omp.h>

#include <vector>

#include "variants/cpu/shifted_rows.hpp"
#include "variants/cpu_variant.hpp"

namespace convladder {
namespace {

class StreamedOutput {
 public:
  StreamedOutput(const ConvShape& shape, const float* weights)
      : shape_(shape),
        rows_(shape, weights, omp_get_max_threads()),
        streamed_(outgrows_caches(shape.output_elements()) && rows_.whole_lines()) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) copies_.emplace_back(rows_.copy_floats());
  }

  void convolve(const float* input, float* output) {
    const bool past_caches = streamed_ && floats_to_line(output) == 0;
    const int threads = static_cast<int>(copies_.size());
    const std::int64_t tasks = std::int64_t{shape_.batch} * rows_.bands();
#pragma omp parallel num_threads(threads)
    {
      float* const copies = copies_[static_cast<std::size_t>(omp_get_thread_num())].data();
#pragma omp for schedule(static) nowait
      for (std::int64_t task = 0; task < tasks; ++task) {
        const std::int64_t image = task / rows_.bands();
        rows_.convolve(copies, input + image * shape_.input_elements_per_image(),
                       output + image * shape_.output_elements_per_image(), static_cast<int>(task % rows_.bands()),
                       past_caches);
      }
      finish_streams();
    }
  }

  std::string choice() const {
    return rows_.choice() + (streamed_ ? ", streamed from registers" : ", stored through the caches");
  }

 private:
  ConvShape shape_;
  ShiftedRows rows_;
  bool streamed_;
  std::vector<AlignedFloats> copies_;  ///< of each thread
};

const VariantRegistration registration{
    {.family = "cpu",
     .rung = 10,
     .name = "streamed-output",
     .title = "Streamed output",
     .builds_on = "shifted-rows",
     .hypothesis = "Lines that are written whole are not read first: up to half of the memory's traffic goes away."},
    std::make_unique<PreparingCpuVariant<StreamedOutput>>()};

}  // namespace
}  // namespace convladder
