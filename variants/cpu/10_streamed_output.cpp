// Stage 10: outputs leave past the caches, while the next ones are computed.
//
// A layer with one channel writes far more than it reads, and every line that an ordinary store touches is read from
// memory first. Against stage 9 the outputs go to memory by streaming stores, which fill whole lines in a buffer of the
// processor and read nothing. Where a map's outputs are a multiple of a line, registers are stored that way at once.
// Elsewhere the maps begin anywhere in a line: then an image is computed into a buffer in the second-level cache, and
// while the next one is computed it goes on its way, after each register tile as many lines as the tile has, so that
// memory is never waited for. What it relieves is the memory's bandwidth, by a third to a half. It loses, and is
// therefore left out, where the last-level cache holds the outputs of a call: then nothing has to leave.

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <vector>

#include "variants/cpu/shifted_rows.hpp"
#include "variants/cpu_variant.hpp"

namespace convladder {
namespace {

class StreamedOutput {
 public:
  StreamedOutput(const ConvShape& shape, const float* weights)
      : shape_(shape), rows_(shape, weights, omp_get_max_threads()), way_(way_of(shape, rows_)) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.emplace_back(*this);
  }

  void convolve(const float* input, float* output) {
    const int threads = static_cast<int>(workspaces_.size());
    const std::int64_t tasks = std::int64_t{shape_.batch} * rows_.bands();
#pragma omp parallel num_threads(threads)
    {
      Workspace& work = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(static) nowait
      for (std::int64_t task = 0; task < tasks; ++task) {
        const std::int64_t image = task / rows_.bands();
        convolve(work, input + image * shape_.input_elements_per_image(),
                 output + image * shape_.output_elements_per_image(), static_cast<int>(task % rows_.bands()));
      }
      work.stream.finish(rows_.instruction_set());
      finish_streams();
    }
  }

  std::string choice() const {
    constexpr const char* kNames[] = {"stored through the caches", "streamed from registers", "streamed from a buffer"};
    return fmt::format("{}, {}", rows_.choice(), kNames[static_cast<int>(way_)]);
  }

 private:
  enum class Way { through_caches, from_registers, from_buffer };

  struct Workspace {
    AlignedFloats copies;
    AlignedFloats buffers[2];  ///< of one image each; the stream empties one while the other is filled
    OutputStream stream;
    int filling = 0;

    explicit Workspace(const StreamedOutput& all) : copies(all.rows_.copy_floats()) {
      if (all.way_ != Way::from_buffer) return;
      for (AlignedFloats& buffer : buffers) {
        buffer = AlignedFloats(all.shape_.output_elements_per_image() + OutputStream::kLineFloats);
      }
    }
  };

  static Way way_of(const ConvShape& s, const ShiftedRows& rows) {
    constexpr std::int64_t kBufferBytes = 256 * 1024;  // twice that, beside the copies, in a cache of 1 MiB
    constexpr std::int64_t kFloatBytes = sizeof(float);
    if (!outgrows_caches(s.output_elements()) || rows.bands() > 1) return Way::through_caches;
    if (rows.whole_lines()) return Way::from_registers;
    return s.output_elements_per_image() * kFloatBytes <= kBufferBytes ? Way::from_buffer : Way::through_caches;
  }

  void convolve(Workspace& work, const float* input, float* output, int band) const {
    const bool lines = OutputStream::floats_to_line(output) == 0;
    if (way_ != Way::from_buffer) {
      rows_.convolve(work.copies.data(), input, output, band, {.past_caches = way_ == Way::from_registers && lines});
      return;
    }
    // The same place in a line as the output has.
    const std::int64_t place =
        (OutputStream::kLineFloats - OutputStream::floats_to_line(output)) % OutputStream::kLineFloats;
    float* const buffer = work.buffers[work.filling].data() + place;
    rows_.convolve(work.copies.data(), input, buffer, band, {.behind = &work.stream});
    work.stream.finish(rows_.instruction_set());
    work.stream.begin(buffer, output, shape_.output_elements_per_image());
    work.filling = 1 - work.filling;
  }

  ConvShape shape_;
  ShiftedRows rows_;
  Way way_;
  std::vector<Workspace> workspaces_;  ///< of each thread
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
