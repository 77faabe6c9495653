// Shifted rows with the bias, the activation and the max pooling that follow them.
//
// Against stage 9 an image is not convolved into the output but into a buffer that each thread has in its second-level
// cache, and is pooled, activated and written from there. So the convolution's output never reaches memory, as in the
// fused register tile, and with the faster convolution; and windows may overlap at no cost, since all rows of the image
// are there. It loses where the sums of one image are larger than that cache, as those of AlexNet's first layer are,
// and where there are fewer images than cores.

#include <fmt/format.h>
#include <omp.h>

#include "variants/convolution/cpu/shifted_rows.hpp"
#include "variants/fused/cpu/pooled_store.hpp"
#include "variants/fused/cpu_fused.hpp"

namespace convladder {
namespace {

constexpr int kSumsAtOnce = 4096;  // of a map: rows of maxima stay in the first-level cache

/// The pooled outputs of one image from its sums.
struct PooledImage {
  const FusedShape& shape;
  const PooledStore& stored;
  const float* sums;  ///< [out_channels][out_height][out_width]
  int rows_at_once;
  float* scratch;
  float* output;

  template <typename Set>
  static void run(const PooledImage& image) {
    const ConvShape& s = image.shape.convolution;
    const int height = image.shape.pooled_height();
    for (int map = 0; map < s.out_channels; ++map) {
      const float* const of_map = image.sums + std::int64_t{map} * s.out_height() * s.out_width();
      for (int row = 0; row < height; row += image.rows_at_once) {
        image.stored.store(map, of_map + std::int64_t{row} * image.shape.pool_stride * s.out_width(), s.out_width(),
                           std::min(image.rows_at_once, height - row), image.scratch,
                           image.output + (std::int64_t{map} * height + row) * image.shape.pooled_width());
      }
    }
  }
};

class FusedShiftedRows {
 public:
  FusedShiftedRows(const FusedShape& s, const float* weights, const float* bias)
      : shape_(s),
        rows_(s.convolution, weights, ShiftedRowsDivision(s.convolution, 1, {})),  // an image belongs to one thread
        stored_(s, bias),
        rows_at_once_(std::clamp(kSumsAtOnce / s.convolution.out_width() / s.pool_stride, 1, s.pooled_height())) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.emplace_back(*this);
  }

  void run(const float* input, float* output) {
    const auto image_outputs = static_cast<std::int64_t>(shape_.output().elements());
    const int threads = static_cast<int>(workspaces_.size());
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int image = 0; image < shape_.convolution.batch; ++image) {
      Workspace& work = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
      const float* const pixels = input + image * shape_.convolution.input_elements_per_image();
      for (int band = 0; band < rows_.bands(); ++band) {
        rows_.convolve(work.copies.data(), pixels, work.sums.data(), band, false);
      }
      run_with<PooledImage>(rows_.instruction_set(), PooledImage{shape_, stored_, work.sums.data(), rows_at_once_,
                                                                 work.scratch.data(), output + image * image_outputs});
    }
  }

  std::string choice() const { return fmt::format("{}, {} pooled rows at once", rows_.choice(), rows_at_once_); }

 private:
  struct Workspace {
    explicit Workspace(const FusedShiftedRows& of)
        : copies(of.rows_.copy_floats()),
          sums(of.shape_.convolution.output_elements_per_image()),
          scratch(of.stored_.scratch(of.rows_at_once_)) {}
    AlignedFloats copies;
    AlignedFloats sums;
    AlignedFloats scratch;
  };

  FusedShape shape_;
  ShiftedRows rows_;
  PooledStore stored_;
  int rows_at_once_;
  std::vector<Workspace> workspaces_;  ///< of each thread
};

const FusedRegistration registration{
    {.family = "cpu",
     .rung = {},
     .name = "fused-shifted-rows",
     .title = "Shifted rows, pooled in the store",
     .builds_on = "shifted-rows",
     .hypothesis = "The convolution's output of an image stays in the second-level cache until it is pooled."},
    std::make_unique<CpuFusedVariant<FusedShiftedRows>>()};

}  // namespace
}  // namespace convladder
