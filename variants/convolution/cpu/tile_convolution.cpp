#include "variants/convolution/cpu/tile_convolution.hpp"
#include "support/quotient.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "devices/cpu/tile_unit.hpp"
#include "variants/convolution/cpu/bfloat16_parts.hpp"
#include "variants/convolution/cpu/tile_kernel.hpp"

namespace convladder {
namespace {

constexpr int kMostTaps = 256;  // of a panel: 48 KiB of three parts of 32 pixels, a first-level cache where AMX is
constexpr int kTapsOfMovingSums = 11;            // what loading and storing the sums takes, in taps
constexpr std::int64_t kSumsBytes = 256 * 1024;  // a second-level cache has 2 MiB where AMX is
constexpr int kMostParts = 64;

/// Cuts numbers into the first two or all three of their parts.
struct CutIntoParts {
  template <typename Set>
  static void run(const float* const& numbers, const std::int64_t& count, const int& parts, std::uint16_t* const& all) {
    with_constant<Bfloat16Parts::kCount>(parts, [&](auto kept) { cut<kept>(numbers, count, all); });
  }

 private:
  template <int kParts>
  [[gnu::always_inline]] static void cut(const float* numbers, std::int64_t count, std::uint16_t* all) {
    std::uint16_t* __restrict const high = all;
    std::uint16_t* __restrict const middle = all + count;
    std::uint16_t* __restrict const low = all + 2 * count;
    for (std::int64_t i = 0; i < count; ++i) {
      const Bfloat16Parts of = bfloat16_parts(numbers[i]);
      high[i] = of.high;
      if constexpr (kParts > 1) middle[i] = of.middle;
      if constexpr (kParts > 2) low[i] = of.low;
    }
  }
};

std::uint16_t part_of(float value, int part) {
  const Bfloat16Parts parts = bfloat16_parts(value);
  return part == kHigh ? parts.high : part == kMiddle ? parts.middle : parts.low;
}

/// Numbers of an input tile with so many channels, and what may be read behind them.
std::int64_t tile_numbers(const InputTile& tile, int channels) {
  return tile.tap_offset(channels, 0, 0) + InputTile::kSlack;
}

}  // namespace

/// The inputs of one tile of pixels, for all taps of a panel.
struct TileConvolution::FillPanel {
  const std::uint16_t* parts;
  std::int64_t part_numbers;  ///< from a part to the next
  int part_count;
  const int* tap_offsets;
  int taps;
  int steps;
  const Piece* pieces;
  int piece_count;
  std::uint32_t* to;

  static constexpr int kMostPieces = 3;  // as constants: rows of eight outputs and more have no more

  template <typename Set>
  static void run(const FillPanel& fill) {
    if (fill.piece_count > kMostPieces) return fill.fill_tile<0>();
    with_constant<kMostPieces>(fill.piece_count, [&](auto pieces) { fill.fill_tile<pieces>(); });
  }

 private:
  /// `kPieces`: 0 for any number.
  template <int kPieces>
  [[gnu::always_inline]] void fill_tile() const {
    with_constant<Bfloat16Parts::kCount>(part_count, [&](auto kept) { fill_parts<kPieces, kept>(); });
  }

  template <int kPieces, int kParts>
  [[gnu::always_inline]] void fill_parts() const {
    std::uint32_t* row = to;
    int tap = 0;
    for (; tap + 1 < taps; tap += 2, row += kParts * kTileRows) {
      fill_row<kPieces, kParts>(parts + tap_offsets[tap], parts + tap_offsets[tap + 1], row, 0xffff0000U);
    }
    if (tap < taps) {
      const std::uint16_t* const last = parts + tap_offsets[tap];
      fill_row<kPieces, kParts>(last, last, row, 0);
      row += kParts * kTileRows;
    }
    std::uint32_t* const end = to + std::int64_t{steps} * kParts * kTileWords;
    std::fill(row, end, 0);
  }

  /// A pair of taps of all parts. A piece writes 16 lanes from its first one on: those behind it belong to the next
  /// piece, those behind the row to the next row, and both are written later.
  template <int kPieces, int kParts>
  [[gnu::always_inline]] void fill_row(const std::uint16_t* first, const std::uint16_t* second, std::uint32_t* row,
                                       std::uint32_t of_second) const {
    const int count = kPieces > 0 ? kPieces : piece_count;
#pragma GCC unroll 3
    for (int part = 0; part < kParts; ++part) {
#pragma GCC unroll 3
      for (int i = 0; i < count; ++i) {
        const std::uint16_t* const a = first + part * part_numbers + pieces[i].from;
        const std::uint16_t* const b = second + part * part_numbers + pieces[i].from;
        std::uint32_t* const lanes = row + part * kTileRows + pieces[i].first_lane;
        for (int lane = 0; lane < kTileRows; ++lane) {
          lanes[lane] = a[lane] | (std::uint32_t{b[lane]} << 16U & of_second);
        }
      }
    }
  }
};

TileConvolution::TileConvolution(const ConvShape& shape, const float* weights, PartProducts products)
    : shape_(shape),
      products_(products),
      parts_(part_count(products)),
      is_emulated_(tile_unit() != TileUnit::processor),
      set_(chosen_instruction_set().kind),
      pixels_(shape.out_height() * shape.out_width()),
      pixel_tiles_(static_cast<int>(rounded_up_quotient(pixels_, kTileRows))),
      map_tiles_(static_cast<int>(rounded_up_quotient(shape.maps_per_group(), kTileRows))) {
  require_tile_unit();
  const int channels = channels_of_panel(shape);
  for (int first = 0; first < shape.channels_per_group(); first += channels) {
    const int count = std::min(channels, shape.channels_per_group() - first);
    const auto steps = static_cast<int>(rounded_up_quotient(count * shape.kernel * shape.kernel, kTileDepth));
    blocks_.push_back({first, count, steps, steps_});
    steps_ += steps;
  }
  pack(weights);
  divide(omp_get_max_threads());
  add_pieces();
  for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.push_back(workspace());
}

/// The number of channels with the fewest steps, and times that the sums are moved, in all.
int TileConvolution::channels_of_panel(const ConvShape& shape) {
  const int taps = shape.kernel * shape.kernel;
  const auto cost_of = [taps](int channels) {
    return rounded_up_quotient(std::int64_t{channels} * taps, kTileDepth) * kTileDepth + kTapsOfMovingSums;
  };
  int best = 1;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int channels = 1; channels <= std::clamp(kMostTaps / taps, 1, shape.channels_per_group()); ++channels) {
    const int rest = shape.channels_per_group() % channels;
    const std::int64_t cost =
        shape.channels_per_group() / channels * cost_of(channels) + (rest > 0 ? cost_of(rest) : 0);
    if (cost > least) continue;  // of those that cost the same the largest
    least = cost;
    best = channels;
  }
  return best;
}

/// The parts with the least work of the thread that works longest. What counts is pairs of tiles: those of sums; one
/// more for each pair of pixels that is copied for all taps, which every part of the maps does for itself; and the
/// input that every part cuts for itself, two copied numbers for each.
void TileConvolution::divide(int threads) {
  const std::int64_t pixel_pairs = rounded_up_quotient(pixel_tiles_, 2);
  const std::int64_t map_pairs = rounded_up_quotient(map_tiles_, 2);
  const std::int64_t most_pairs = std::max<std::int64_t>(1, kSumsBytes / (4 * kTileBytes * map_pairs));
  const std::int64_t least_parts = rounded_up_quotient(pixel_pairs, most_pairs);
  const double copied_for_pair = 2.0 * kTileRows * shape_.kernel * shape_.kernel;
  double least_cost = std::numeric_limits<double>::max();
  for (std::int64_t maps = 1; maps <= std::min<std::int64_t>(map_pairs, kMostParts); ++maps) {
    for (std::int64_t pixels = least_parts; pixels <= std::min(pixel_pairs, least_parts + kMostParts); ++pixels) {
      const std::int64_t tasks = std::int64_t{shape_.batch} * shape_.groups * pixels * maps;
      const std::int64_t pairs = rounded_up_quotient(pixel_pairs, pixels);
      const int rows = (rows_of(static_cast<int>(2 * pairs)) - 1) * shape_.stride + shape_.kernel;
      const double cutting = 2.0 * rows * (shape_.width + 2 * shape_.padding) / copied_for_pair;
      const auto multiplying = static_cast<double>(pairs * (rounded_up_quotient(map_pairs, maps) + 1));
      const double cost = static_cast<double>(rounded_up_quotient(tasks, threads)) * (multiplying + cutting);
      if (cost >= least_cost) continue;
      least_cost = cost;
      map_parts_ = static_cast<int>(maps);
      pixel_parts_ = static_cast<int>(pixels);
    }
  }
  part_tiles_ = 2 * static_cast<int>(rounded_up_quotient(pixel_pairs, pixel_parts_));
  pixel_parts_ = static_cast<int>(rounded_up_quotient(pixel_tiles_, part_tiles_));
}

void TileConvolution::pack(const float* weights) {
  weights_ = AlignedWords<std::uint32_t>(std::int64_t{shape_.groups} * map_tiles_ * steps_ * step_words());
  const int maps = shape_.maps_per_group();
  const int taps_of_channel = shape_.kernel * shape_.kernel;
  const std::int64_t tiles = std::int64_t{shape_.groups} * map_tiles_;
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const int first_map = static_cast<int>(tile % map_tiles_) * kTileRows;
    for (const Block& block : blocks_) {
      for (int map = first_map; map < std::min(maps, first_map + kTileRows); ++map) {
        const std::int64_t of_all = tile / map_tiles_ * maps + map;
        const float* const from =
            weights + (of_all * shape_.channels_per_group() + block.first_channel) * taps_of_channel;
        for (int tap = 0; tap < block.channels * taps_of_channel; ++tap) {
          std::uint32_t* to = weights_.data() + (tile * steps_ + block.first_step + tap / kTileDepth) * step_words() +
                              (map - first_map) * kTileRows + tap % kTileDepth / 2;
          for (int part = 0; part < parts_; ++part, to += kTileWords) {
            *to |= std::uint32_t{part_of(from[tap], part)} << (tap % 2 * 16);
          }
        }
      }
    }
  }
}

int TileConvolution::rows_of(int pixel_tiles) const {
  return std::min(shape_.out_height(), (pixel_tiles * kTileRows - 2) / shape_.out_width() + 2);
}

int TileConvolution::first_row(int part) const { return part * part_tiles_ * kTileRows / shape_.out_width(); }

void TileConvolution::add_pieces() {
  const InputTile tile(shape_, shape_.stride, rows_of(part_tiles_), blocks_.front().channels);
  tap_offsets_ = tile.tap_offsets(blocks_.front().channels);
  const int width = shape_.out_width();
  for (int pixel_tile = 0; pixel_tile < pixel_tiles_; ++pixel_tile) {
    first_piece_.push_back(static_cast<int>(pieces_.size()));
    const int top = first_row(pixel_tile / part_tiles_);
    const int end = std::min(pixels_, (pixel_tile + 1) * kTileRows);
    for (int pixel = pixel_tile * kTileRows; pixel < end; pixel += width - pixel % width) {
      pieces_.push_back(
          {.from = (pixel / width - top) * tile.pitch() + pixel % width, .first_lane = pixel - pixel_tile * kTileRows});
    }
  }
  first_piece_.push_back(static_cast<int>(pieces_.size()));
}

TileConvolution::Workspace TileConvolution::workspace() const {
  const int channels = blocks_.front().channels;
  InputTile tile(shape_, shape_.stride, rows_of(part_tiles_), channels);
  const auto numbers = static_cast<std::size_t>(tile_numbers(tile, channels));
  return {.tile = std::move(tile),
          .parts = std::vector<std::uint16_t>(numbers * static_cast<std::size_t>(parts_)),
          .panel = AlignedWords<std::uint32_t>(2 * blocks_.front().steps * step_words() + kTileRows),
          .sums = AlignedFloats(sums_at(map_tiles_, 0))};
}

void TileConvolution::fill_tile(Workspace& work, const Block& block, int pixel_tile, std::uint32_t* to) const {
  const auto tile = static_cast<std::size_t>(pixel_tile);
  const FillPanel fill{.parts = work.parts.data(),
                       .part_numbers = static_cast<std::int64_t>(work.parts.size()) / parts_,
                       .part_count = parts_,
                       .tap_offsets = tap_offsets_.data(),
                       .taps = block.channels * shape_.kernel * shape_.kernel,
                       .steps = block.steps,
                       .pieces = pieces_.data() + first_piece_[tile],
                       .piece_count = first_piece_[tile + 1] - first_piece_[tile],
                       .to = to};
  run_with<FillPanel>(set_, fill);
}

void TileConvolution::store(const Workspace& work, const Task& task, int map_tile, int pixel_tile) const {
  const float* sums = work.sums.data() + sums_at(map_tile, pixel_tile - task.part * part_tiles_);
  const int first_pixel = pixel_tile * kTileRows;
  const int first_map = map_tile * kTileRows;
  const auto bytes = static_cast<std::size_t>(std::min(kTileRows, pixels_ - first_pixel)) * sizeof(float);
  for (int map = first_map; map < std::min(shape_.maps_per_group(), first_map + kTileRows); ++map, sums += kTileRows) {
    std::memcpy(task.output + std::int64_t{map} * pixels_ + first_pixel, sums, bytes);
  }
}

template <typename Tiles>
void TileConvolution::run(Tiles& tiles, Workspace& work, const Task& task) const {
  const int first_tile = task.part * part_tiles_;
  const int end_tile = std::min(pixel_tiles_, first_tile + part_tiles_);
  for (const Block& block : blocks_) {
    work.tile.load(task.input + std::int64_t{block.first_channel} * shape_.height * shape_.width, first_row(task.part),
                   block.channels);
    run_with<CutIntoParts>(set_, work.tile.pixels(), static_cast<std::int64_t>(work.parts.size()) / parts_, parts_,
                           work.parts.data());
    const bool is_last = &block == &blocks_.back();
    const std::int64_t tile_words = block.steps * step_words();
    for (int pixel_tile = first_tile; pixel_tile < end_tile; pixel_tile += 2) {
      const int pixel_tiles = std::min(2, end_tile - pixel_tile);
      for (int p = 0; p < pixel_tiles; ++p) {
        fill_tile(work, block, pixel_tile + p, work.panel.data() + p * tile_words);
      }
      for (int map_tile = task.first_map_tile; map_tile < task.end_map_tile; map_tile += 2) {
        const int map_tiles = std::min(2, task.end_map_tile - map_tile);
        BlockOfTiles one{
            .weights = {}, .pixels = {}, .sums = {}, .steps = block.steps, .is_first = block.first_step == 0};
        for (int m = 0; m < map_tiles; ++m) {
          const std::int64_t tile = std::int64_t{task.group} * map_tiles_ + map_tile + m;
          one.weights[m] = weights_.data() + (tile * steps_ + block.first_step) * step_words();
          for (int p = 0; p < pixel_tiles; ++p) {
            one.sums[m][p] = work.sums.data() + sums_at(map_tile + m, pixel_tile - first_tile + p);
          }
        }
        for (int p = 0; p < pixel_tiles; ++p) one.pixels[p] = work.panel.data() + p * tile_words;
        multiply(tiles, one, map_tiles, pixel_tiles, products_);
        for (int m = 0; is_last && m < map_tiles; ++m) {
          for (int p = 0; p < pixel_tiles; ++p) store(work, task, map_tile + m, pixel_tile + p);
        }
      }
    }
  }
}

TileConvolution::Task TileConvolution::task(std::int64_t index, const float* input, float* output) const {
  const int map_part = static_cast<int>(index % map_parts_);
  index /= map_parts_;
  const int part = static_cast<int>(index % pixel_parts_);
  index /= pixel_parts_;
  const int group = static_cast<int>(index % shape_.groups);
  const std::int64_t image = index / shape_.groups;
  const std::int64_t first_channel = std::int64_t{group} * shape_.channels_per_group();
  const std::int64_t first_map = std::int64_t{group} * shape_.maps_per_group();
  const int map_pairs = (map_tiles_ + 1) / 2;
  return {.input = input + image * shape_.input_elements_per_image() + first_channel * shape_.height * shape_.width,
          .output = output + image * shape_.output_elements_per_image() + first_map * pixels_,
          .group = group,
          .part = part,
          .first_map_tile = 2 * (map_pairs * map_part / map_parts_),
          .end_map_tile = std::min(map_tiles_, 2 * (map_pairs * (map_part + 1) / map_parts_))};
}

template <typename Tiles>
void TileConvolution::run_all(const float* input, float* output) {
  const std::int64_t tasks = std::int64_t{shape_.batch} * shape_.groups * pixel_parts_ * map_parts_;
  const int threads = static_cast<int>(workspaces_.size());
#pragma omp parallel num_threads(threads)
  {
    Tiles tiles;
    Workspace& work = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic)
    for (std::int64_t i = 0; i < tasks; ++i) run(tiles, work, task(i, input, output));
  }
}

void TileConvolution::convolve(const float* input, float* output) {
#ifdef __x86_64__
  if (!is_emulated_) return run_all<ProcessorTiles>(input, output);
#endif
  run_all<EmulatedTiles>(input, output);
}

std::int64_t TileConvolution::tile_products() const {
  return std::int64_t{shape_.batch} * shape_.groups * map_tiles_ * pixel_tiles_ * steps_ * static_cast<int>(products_);
}

std::string TileConvolution::choice() const {
  return fmt::format("{}, panels of {} channels, images in {} x {} parts, {} tile products a call",
                     is_emulated_ ? "AMX, emulated" : "AMX", blocks_.front().channels, pixel_parts_, map_parts_,
                     tile_products());
}

}  // namespace convladder
