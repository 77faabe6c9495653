// Shifted rows whose outputs go past the caches, and whose copies may be made while others are used: stages 10 and 13.
#pragma once

#include <omp.h>

#include <string>
#include <vector>

#include "variants/cpu/shifted_rows.hpp"

namespace convladder {

/// A convolution over all cores; each thread has its images, or bands of them, one after the other.
class StreamedRows {
 public:
  /// When a band's copies are made.
  enum class Copies {
    before,  ///< before it is computed
    ahead,   ///< while the one before it is computed
  };

  /// `weights` OIHW.
  StreamedRows(const ConvShape& shape, const float* weights, Copies copies)
      : shape_(shape),
        rows_(shape, weights, omp_get_max_threads()),
        copies_(copies),
        outputs_(way_of_outputs(shape, rows_)) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.emplace_back(*this);
  }

  /// `input` and `output` NCHW.
  void convolve(const float* input, float* output) {
    const auto threads = static_cast<std::int64_t>(workspaces_.size());
    const std::int64_t bands = std::int64_t{shape_.batch} * rows_.bands();
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
      const int thread = omp_get_thread_num();
      Workspace& work = workspaces_[static_cast<std::size_t>(thread)];
      convolve(work, input, output, bands * thread / threads, bands * (thread + 1) / threads);
      work.stream.finish(rows_.instruction_set());
      finish_streams();
    }
  }

  std::string choice() const {
    constexpr const char* kNames[] = {"stored through the caches", "streamed from registers", "streamed from a buffer"};
    return rows_.choice() + ", " + kNames[static_cast<int>(outputs_)];
  }

 private:
  enum class Outputs { through_caches, from_registers, from_buffer };

  struct Workspace {
    AlignedFloats copies[2];   ///< of one band each; the second is used where they are made ahead
    AlignedFloats buffers[2];  ///< of one image each; the stream empties one while the other is filled
    OutputStream stream;
    int filling = 0;

    explicit Workspace(const StreamedRows& all) {
      copies[0] = AlignedFloats(all.rows_.copy_floats());
      if (all.copies_ == Copies::ahead) copies[1] = AlignedFloats(all.rows_.copy_floats());
      if (all.outputs_ != Outputs::from_buffer) return;
      for (AlignedFloats& buffer : buffers) {
        buffer = AlignedFloats(all.shape_.output_elements_per_image() + OutputStream::kLineFloats);
      }
    }
  };

  static Outputs way_of_outputs(const ConvShape& s, const ShiftedRows& rows) {
    constexpr std::int64_t kBufferBytes = 256 * 1024;  // twice that, beside the copies, in a cache of 1 MiB
    constexpr std::int64_t kFloatBytes = sizeof(float);
    if (!outgrows_caches(s.output_elements()) || rows.bands() > 1) return Outputs::through_caches;
    if (rows.whole_lines()) return Outputs::from_registers;
    return s.output_elements_per_image() * kFloatBytes <= kBufferBytes ? Outputs::from_buffer : Outputs::through_caches;
  }

  /// The bands `first` to `end - 1`, counted through all images.
  void convolve(Workspace& work, const float* input, float* output, std::int64_t first, std::int64_t end) const {
    const int used = copies_ == Copies::ahead ? 2 : 1;
    ShiftedCopy next = copy_of(first, input, work.copies[0]);
    for (std::int64_t band = first; band < end; ++band) {
      rows_.finish(next);
      const float* const copies = work.copies[(band - first) % used].data();
      if (used == 2 && band + 1 < end) next = copy_of(band + 1, input, work.copies[(band + 1 - first) % used]);
      convolve(work, copies, output + band / rows_.bands() * shape_.output_elements_per_image(),
               static_cast<int>(band % rows_.bands()), &next);
      if (used == 1 && band + 1 < end) next = copy_of(band + 1, input, work.copies[0]);
    }
  }

  ShiftedCopy copy_of(std::int64_t band, const float* input, AlignedFloats& copies) const {
    return rows_.copy_of(static_cast<int>(band % rows_.bands()),
                         input + band / rows_.bands() * shape_.input_elements_per_image(), copies.data());
  }

  /// One band of the image at `output`.
  void convolve(Workspace& work, const float* copies, float* output, int band, ShiftedCopy* ahead) const {
    if (outputs_ != Outputs::from_buffer) {
      const bool lines = OutputStream::floats_to_line(output) == 0;
      rows_.convolve(copies, output, band,
                     {.past_caches = outputs_ == Outputs::from_registers && lines, .ahead = ahead});
      return;
    }
    // The same place in a line as the output has.
    const std::int64_t place =
        (OutputStream::kLineFloats - OutputStream::floats_to_line(output)) % OutputStream::kLineFloats;
    float* const buffer = work.buffers[work.filling].data() + place;
    rows_.convolve(copies, buffer, band, {.behind = &work.stream, .ahead = ahead});
    work.stream.finish(rows_.instruction_set());
    work.stream.begin(buffer, output, shape_.output_elements_per_image());
    work.filling = 1 - work.filling;
  }

  ConvShape shape_;
  ShiftedRows rows_;
  Copies copies_;
  Outputs outputs_;
  std::vector<Workspace> workspaces_;  ///< of each thread
};

}  // namespace convladder
