// Shifted rows with the bias, the activation and the max pooling that follow them.
//
// Against stage 9 an image is not convolved into the output but into a buffer that each thread has in its second-level
// cache, and is pooled, activated and written from there. So the convolution's output never reaches memory, as in the
// fused register tile, and with the faster convolution; and windows may overlap at no cost, since all rows of the image
// are there. Images that are too few for a core each are done by all cores together: bands of rows first, then the
// pooling, map by map. It loses where the sums of one image are larger than that cache, as those of AlexNet's first
// layer are.

#include <fmt/format.h>
#include <omp.h>

#include "variants/convolution/cpu/batch_of_lanes.hpp"
#include "variants/fused/cpu/pooled_store.hpp"
#include "variants/fused/cpu_fused.hpp"

namespace convladder {
namespace {

constexpr int kSumsAtOnce = 4096;  // of a map: rows of maxima stay in the first-level cache

/// The pooled outputs of some maps of one image from their sums.
struct PooledMaps {
  const FusedShape& shape;
  const PooledStore& stored;
  const float* sums;  ///< of the image, [out_channels][out_height][out_width]
  int rows_at_once;
  int first_map;
  int end_map;
  float* scratch;
  float* output;  ///< of the image

  template <typename Set>
  static void run(const PooledMaps& maps) {
    const ConvShape& s = maps.shape.convolution;
    const int height = maps.shape.pooled_height();
    for (int map = maps.first_map; map < maps.end_map; ++map) {
      const float* const of_map = maps.sums + std::int64_t{map} * s.out_height() * s.out_width();
      for (int row = 0; row < height; row += maps.rows_at_once) {
        maps.stored.store(map, of_map + std::int64_t{row} * maps.shape.pool_stride * s.out_width(), s.out_width(),
                          std::min(maps.rows_at_once, height - row), maps.scratch,
                          maps.output + (std::int64_t{map} * height + row) * maps.shape.pooled_width());
      }
    }
  }
};

class FusedShiftedRows {
 public:
  FusedShiftedRows(const FusedShape& s, const float* weights, const float* bias)
      : shape_(s),
        threads_(omp_get_max_threads()),
        shared_images_(s.convolution.batch % threads_),
        rows_(s.convolution, weights, ShiftedRowsDivision(s.convolution, 1, {})),
        shared_rows_(shared(s), weights, ShiftedRowsDivision(shared(s), threads_, {})),
        shared_sums_(shared_images_ * s.convolution.output_elements_per_image()),
        stored_(s, bias),
        rows_at_once_(std::clamp(kSumsAtOnce / s.convolution.out_width() / s.pool_stride, 1, s.pooled_height())) {
    for (int thread = 0; thread < threads_; ++thread) workspaces_.emplace_back(*this);
  }

  void run(const float* input, float* output) {
    const int batch = shape_.convolution.batch;
    const int of_one_thread = batch - shared_images_;
    const int bands = shared_rows_.bands();
    const int maps = shape_.convolution.out_channels;
    const std::int64_t image_sums = shape_.convolution.output_elements_per_image();
#pragma omp parallel num_threads(threads_)
    {
      Workspace& work = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(static) nowait
      for (int image = 0; image < of_one_thread; ++image) {
        for (int band = 0; band < rows_.bands(); ++band) {
          rows_.convolve(work.copies.data(), image_input(input, image), work.sums.data(), band, TileStores::plain);
        }
        pool(work, work.sums.data(), 0, maps, image_output(output, image));
      }
#pragma omp for schedule(static)
      for (int task = 0; task < shared_images_ * bands; ++task) {
        const int image = task / bands;
        shared_rows_.convolve(work.shared_copies.data(), image_input(input, of_one_thread + image),
                              shared_sums_.data() + image * image_sums, task % bands, TileStores::plain);
      }
#pragma omp for schedule(static)
      for (int task = 0; task < shared_images_ * maps; ++task) {
        const int image = task / maps;
        const int map = task % maps;
        pool(work, shared_sums_.data() + image * image_sums, map, map + 1, image_output(output, of_one_thread + image));
      }
    }
  }

  std::string choice() const { return fmt::format("{}, {} pooled rows at once", rows_.choice(), rows_at_once_); }

 private:
  struct Workspace {
    explicit Workspace(const FusedShiftedRows& of)
        : copies(of.rows_.copy_floats()),
          shared_copies(of.shared_images_ > 0 ? of.shared_rows_.copy_floats() : 0),
          sums(of.shape_.convolution.output_elements_per_image()),
          scratch(of.stored_.scratch(of.rows_at_once_)) {}
    AlignedFloats copies;
    AlignedFloats shared_copies;  ///< apart, since those of a whole image keep their padding from call to call
    AlignedFloats sums;
    AlignedFloats scratch;
  };

  ConvShape shared(const FusedShape& s) const { return s.convolution.with_batch(std::max(1, shared_images_)); }
  const float* image_input(const float* input, int image) const {
    return input + image * shape_.convolution.input_elements_per_image();
  }
  float* image_output(float* output, int image) const {
    return output + image * static_cast<std::int64_t>(shape_.output().elements());
  }
  void pool(Workspace& work, const float* sums, int first_map, int end_map, float* output) const {
    run_with<PooledMaps>(rows_.instruction_set(), PooledMaps{shape_, stored_, sums, rows_at_once_, first_map, end_map,
                                                             work.scratch.data(), output});
  }

  FusedShape shape_;
  int threads_;
  int shared_images_;        ///< the last ones of a batch, which leave some threads without an image of their own
  ShiftedRows rows_;         ///< of images that belong to one thread
  ShiftedRows shared_rows_;  ///< of the others
  AlignedFloats shared_sums_;
  PooledStore stored_;
  int rows_at_once_;
  std::vector<Workspace> workspaces_;  ///< of each thread
};

/// The sums of an image find room in a second-level cache of 1 MiB beside the copies of its input.
bool suits(const FusedShape& shape) {
  const ConvShape& s = shape.convolution;
  return shifted_copies_fit(s) && s.output_elements_per_image() * 4 <= 448 * 1024;
}

const FusedRegistration registration{
    {.family = "cpu",
     .rung = {},
     .name = "fused-shifted-rows",
     .title = "Shifted rows, pooled in the store",
     .builds_on = "shifted-rows",
     .hypothesis = "The convolution's output of an image stays in the second-level cache until it is pooled."},
    std::make_unique<CpuFusedVariant<FusedShiftedRows>>(nullptr, suits)};

}  // namespace
}  // namespace convladder
