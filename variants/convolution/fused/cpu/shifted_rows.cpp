// Shifted rows with the bias, the activation and the max pooling that follow them.
//
// Against stage 9 sums do not go to the output but, for a tile of maps and a few rows at a time, into a buffer that
// each thread has in its first-level cache, and are pooled, activated and written from there. So the convolution's
// output never reaches memory, as in the fused register tile, and with the faster convolution; and rows that belong to
// no window are not computed. If there are too few images to give each core one, they are shared out by maps and rows,
// and each core copies the inputs that it needs. Where windows overlap a buffer has all rows of its maps, so that no
// row is convolved twice. It loses where the copies of one image are larger than the second-level cache, as those of
// AlexNet's first layer are.

#include <fmt/format.h>
#include <omp.h>

#include <limits>

#include "variants/convolution/cpu/shifted_rows.hpp"
#include "variants/convolution/fused/cpu/pooled_store.hpp"
#include "variants/convolution/fused/cpu_fused.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {
namespace {

constexpr int kNearSums = 5120;  // sums that stay in the first-level cache, beside weights and inputs

/// Computes the pooled outputs of some maps from the sums of whole windows.
struct PooledMaps {
  const FusedShape& shape;
  const PooledStore& stored;
  const RowsOfMaps& sums;
  int first_map;
  int end_map;
  int first_row;  ///< first pooled row; there are `rows` of them
  int rows;
  float* scratch;
  float* output;  ///< output of the image

  template <typename Set>
  static void run(const PooledMaps& maps) {
    const int width = maps.shape.convolution.out_width();
    for (int map = maps.first_map; map < maps.end_map; ++map) {
      maps.stored.store(
          map, maps.sums.output + (map - maps.first_map) * maps.sums.map_pitch, width, maps.rows, maps.scratch,
          maps.output + (std::int64_t{map} * maps.shape.pooled_height() + maps.first_row) * maps.shape.pooled_width());
    }
  }
};

class FusedShiftedRows {
 public:
  FusedShiftedRows(const FusedShape& s, const float* weights, const float* bias)
      : shape_(s),
        threads_(omp_get_max_threads()),
        shared_images_(s.convolution.batch % threads_),
        rows_(s.convolution, weights,
              ShiftedRowsDivision(s.convolution, 1, Configuration({{"rows", s.convolution.out_height()}}))),
        stored_(s, bias),
        pooled_rows_(best_pooled_rows(1, 1)),
        shared_pooled_rows_(best_pooled_rows(std::max(1, shared_images_), threads_)) {
    for (int thread = 0; thread < threads_; ++thread) workspaces_.emplace_back(*this);
  }

  void run(const float* input, float* output) {
    const int of_one_thread = shape_.convolution.batch - shared_images_;
    const int parts = bands(shared_pooled_rows_) * rows_.map_tiles();
#pragma omp parallel num_threads(threads_)
    {
      Workspace& work = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(static) nowait
      for (int image = 0; image < of_one_thread; ++image) {
        rows_.copy(work.copies.data(), image_input(input, image));
        for (int part = 0; part < bands(pooled_rows_) * rows_.map_tiles(); ++part) {
          run_part(work, pooled_rows_, part, image_input(input, image), image_output(output, image));
        }
      }
      int copied = -1;
#pragma omp for schedule(static)
      for (int task = 0; task < shared_images_ * parts; ++task) {
        const int image = of_one_thread + task / parts;
        if (image != copied) rows_.copy(work.copies.data(), image_input(input, image));
        copied = image;
        run_part(work, shared_pooled_rows_, task % parts, image_input(input, image), image_output(output, image));
      }
    }
  }

  std::string choice() const {
    return fmt::format("{}, {} pooled rows at once", rows_.choice(),
                       shared_images_ < shape_.convolution.batch ? pooled_rows_ : shared_pooled_rows_);
  }

 private:
  struct Workspace {
    explicit Workspace(const FusedShiftedRows& of)
        : copies(of.rows_.copy_floats()),
          sums(of.most_maps() * of.sums_of_map(std::max(of.pooled_rows_, of.shared_pooled_rows_))),
          scratch(of.stored_.scratch(std::max(of.pooled_rows_, of.shared_pooled_rows_))) {}
    AlignedFloats copies;
    AlignedFloats sums;  ///< [map of a tile][row][out_width]
    AlignedFloats scratch;
  };

  int bands(int pooled_rows) const { return rounded_up_quotient(shape_.pooled_height(), pooled_rows); }
  /// Rows of sums for `pooled_rows` pooled rows.
  int rows_of(int pooled_rows) const { return (pooled_rows - 1) * shape_.pool_stride + shape_.pool_size; }
  std::int64_t sums_of_map(int pooled_rows) const {
    return std::int64_t{rows_of(pooled_rows)} * shape_.convolution.out_width();
  }
  int most_maps() const {
    int most = 0;
    for (int tile = 0; tile < rows_.map_tiles(); ++tile) {
      most = std::max(most, rows_.first_map(tile + 1) - rows_.first_map(tile));
    }
    return most;
  }

  /// The pooled rows of a part that give the busiest thread the least work, if `threads` threads share `images` images.
  /// Large parts start less often and leave fewer lanes idle; small ones keep their sums near.
  int best_pooled_rows(int images, int threads) const {
    if (shape_.pool_size > shape_.pool_stride) return shape_.pooled_height();
    constexpr int kBeginning = 4;      // the time to start a part, in units of a tile's vector
    constexpr double kFarAway = 1.05;  // times as long, if the sums leave the first-level cache
    int best = 1;
    double least = std::numeric_limits<double>::infinity();
    for (int rows = 1; rows <= shape_.pooled_height(); ++rows) {
      const std::int64_t parts = std::int64_t{images} * bands(rows) * rows_.map_tiles();
      const double cost = static_cast<double>(rounded_up_quotient(parts, threads)) *
                          (rows_.vectors_of(rows_of(rows)) + kBeginning) *
                          (most_maps() * sums_of_map(rows) > kNearSums ? kFarAway : 1);
      if (cost > least) continue;
      least = cost;
      best = rows;
    }
    return best;
  }

  const float* image_input(const float* input, int image) const {
    return input + image * shape_.convolution.input_elements_per_image();
  }
  float* image_output(float* output, int image) const {
    return output + image * static_cast<std::int64_t>(shape_.output().elements());
  }

  /// Computes a tile of maps of a band of pooled rows, from copies that exist already.
  void run_part(Workspace& work, int pooled_rows, int part, const float* input, float* output) const {
    const int tile = part / bands(pooled_rows);
    const int first = part % bands(pooled_rows) * pooled_rows;
    const int rows = std::min(pooled_rows, shape_.pooled_height() - first);
    const RowsOfMaps sums{first * shape_.pool_stride,
                          rows_of(rows),
                          tile,
                          tile + 1,
                          work.sums.data(),
                          static_cast<std::ptrdiff_t>(sums_of_map(rows))};
    rows_.convolve(work.copies.data(), input, sums);
    run_with<PooledMaps>(rows_.instruction_set(),
                         PooledMaps{shape_, stored_, sums, rows_.first_map(tile), rows_.first_map(tile + 1), first,
                                    rows, work.scratch.data(), output});
  }

  FusedShape shape_;
  int threads_;
  int shared_images_;  ///< the last images of a batch, if there are not enough of them to give each thread its own
  ShiftedRows rows_;
  PooledStore stored_;
  int pooled_rows_;                    ///< pooled rows of a part
  int shared_pooled_rows_;             ///< pooled rows of a part of shared images
  std::vector<Workspace> workspaces_;  ///< for each thread
};

/// Whether the sums of a map fit into a second-level cache of 1 MiB beside the copies, even where windows overlap.
bool suits(const FusedShape& shape) {
  const ConvShape& s = shape.convolution;
  return shifted_copies_fit(s) && s.output_elements_per_image() * 4 <= 448 * 1024;
}

const VariantRegistration registration{
    "fused-convolution",
    {.family = "cpu",
     .rung = 4,
     .name = "fused-shifted-rows",
     .title = "Shifted rows, pooled in the store",
     .builds_on = "separate-shifted-rows",
     .hypothesis = "The convolution's output stays in the nearest caches until it is pooled."},
    cpu_fused_variant<FusedShiftedRows>(nullptr, suits)};

}  // namespace
}  // namespace convladder
