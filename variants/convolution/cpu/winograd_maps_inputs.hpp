// The preparation of an image for Winograd's products with maps in the lanes: its channels are put side by side and
// filtered, and the outputs with few inputs that count are found.
#pragma once

#include "variants/convolution/cpu/few_inputs_of_image.hpp"
#include "variants/convolution/cpu/winograd_maps_plan.hpp"

namespace convladder {

/// One image on its way through the stage; all threads that work on it share it.
struct WinogradImage {
  AlignedFloats channels;  ///< [row][column][channel], with the padding
  AlignedFloats filtered;  ///< as WinogradMapsPlan::filtered
  FewInputsOfImage few;

  explicit WinogradImage(const WinogradMapsPlan& plan)
      : channels(plan.image_floats()), filtered(plan.filtered_floats()), few(plan.shape) {}
};

/// A task: puts one vector of a group's channels side by side, in some rows.
struct ChannelsTask {
  const WinogradMapsPlan& plan;
  const float* zeros;  ///< a channel of zeros, for lanes without a channel
  int group;
  int vector;
  int first_row;
  int end_row;
  const float* input;  ///< the image
  WinogradImage& to;

  template <typename Set>
  static void run(const ChannelsTask& task) {
    const WinogradMapsPlan& plan = task.plan;
    const ConvShape& s = plan.shape;
    const float* runs[Set::lanes];
    for (int lane = 0; lane < Set::lanes; ++lane) {
      const int channel = task.vector * Set::lanes + lane;
      runs[lane] = channel < s.channels_per_group()
                       ? task.input + (std::int64_t{task.group} * s.channels_per_group() + channel) * s.height * s.width
                       : task.zeros;
      runs[lane] += std::ptrdiff_t{task.first_row} * s.width;
    }
    float* const first = task.to.channels.data() + plan.input(task.group, 0, 0) + task.vector * Set::lanes;
    const int* const places = plan.places.data() + std::ptrdiff_t{task.first_row} * s.width;
    interleave<Set>(runs, (task.end_row - task.first_row) * s.width, [&](int pixel) { return first + places[pixel]; });
  }
};

/// A task: filters one pair of rows of one stream of rows, in all streams of columns and all channels.
struct FilterTask {
  const WinogradMapsPlan& plan;
  int row_stream;
  int row_pair;
  WinogradImage& image;

  template <typename Set>
  static void run(const FilterTask& task) {
    const WinogradMapsPlan& plan = task.plan;
    const PairStream& rows = plan.dimension.streams[static_cast<std::size_t>(task.row_stream)];
    const float* const from =
        task.image.channels.data() + plan.input(0, plan.dimension.step * task.row_pair + rows.first, 0);
    for (int s = 0; s < plan.dimension.count(); ++s) {
      const PairStream& columns = plan.dimension.streams[static_cast<std::size_t>(s)];
      float* const to = task.image.filtered.data() + plan.filtered(task.row_stream, s, task.row_pair, 0);
      const int pairs = plan.column_pairs() + plan.last_shifts[static_cast<std::size_t>(s)];
      with_constant<2>(
          rows.filter == InputFilter::single ? 1 : 2, [&](auto of_rows) __attribute__((always_inline)) {
            with_constant<2>(
                columns.filter == InputFilter::single ? 1 : 2, [&](auto of_columns) __attribute__((always_inline)) {
                  task.filter<Set, of_rows, of_columns>(from + columns.first * plan.channel_pitch, rows.filter,
                                                        columns.filter, pairs, to);
                });
          });
    }
  }

 private:
  /// Applies the filters of a row and a column, which take one or two inputs each.
  template <typename Set, int kRows, int kColumns>
  [[gnu::always_inline]] void filter(const float* from, InputFilter row_filter, InputFilter column_filter, int pairs,
                                     float* to) const {
    const std::ptrdiff_t beside = reach(column_filter) * plan.shape.stride * plan.channel_pitch;
    const std::ptrdiff_t below = plan.input(0, reach(row_filter) * plan.shape.stride, 0);
    const float sign_beside = sign(column_filter);
    const float sign_below = sign(row_filter);
    const std::ptrdiff_t channels = plan.group_pitch() * plan.shape.groups;
    for (int pair = 0; pair < pairs; ++pair) {
      for (std::ptrdiff_t c = 0; c < channels; c += Set::lanes) {
        Vector<Set> rows[kRows];
#pragma GCC unroll 2
        for (int row = 0; row < kRows; ++row) {
          load_vector(rows[row], from + c + row * below);
          if constexpr (kColumns == 2) {
            Vector<Set> other;
            load_vector(other, from + c + row * below + beside);
            rows[row] += sign_beside * other;
          }
        }
        if constexpr (kRows == 2) rows[0] += sign_below * rows[1];
        store_vector(to + c, rows[0]);
      }
      from += plan.dimension.step * plan.channel_pitch;
      to += plan.channel_pitch;
    }
  }
};

/// A task: adds up a row of a group's inputs, to find the outputs that must not be computed from filtered inputs.
struct FewInputsTask {
  int group;
  int row;             ///< counted with the padding
  const float* input;  ///< the image
  WinogradImage& image;

  template <typename Set>
  static void run(const FewInputsTask& task) {
    task.image.few.add_up_row(task.group, task.row, task.input);
  }
};

}  // namespace convladder
