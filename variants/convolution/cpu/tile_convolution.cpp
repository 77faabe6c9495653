#include "variants/convolution/cpu/tile_convolution.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "devices/cpu/tile_unit.hpp"
#include "variants/convolution/cpu/bfloat16_parts.hpp"
#include "variants/convolution/cpu/tile_kernel.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {
namespace {

// Processors with AMX have a first-level cache of 48 KiB and a second-level cache of 2 MiB.
constexpr int kMostSteps = 4;           // steps of a panel: 24 KiB for three parts of 32 pixels
constexpr int kMostStepsOfFewMaps = 2;  // with few maps, whose weights are to stay in the same cache
constexpr std::int64_t kSumsBytes = 1024 * 1024;
constexpr std::int64_t kInputBytes = 384 * 1024;
constexpr std::int64_t kWeightsBytes = 512 * 1024;  // bytes of weights that stay in a cache from one task to the next
constexpr int kMostImages = 64;                     // images of a task

std::uint32_t part_of(float value, int part) {
  const Bfloat16Parts parts = bfloat16_parts(value);
  return part == kHigh ? parts.high : part == kMiddle ? parts.middle : parts.low;
}

}  // namespace

TileConvolution::TileConvolution(const ConvShape& shape, const float* weights, PartProducts products)
    : shape_(shape),
      products_(products),
      parts_(part_count(products)),
      is_emulated_(tile_unit() != TileUnit::processor),
      set_(chosen_instruction_set().kind),
      pixels_(shape.out_height() * shape.out_width()),
      pixel_tiles_(static_cast<int>(rounded_up_quotient(pixels_, kTileRows))),
      map_tiles_(static_cast<int>(rounded_up_quotient(shape.maps_per_group(), kTileRows))),
      pairs_(tap_pairs(shape)),
      whole_pairs_(
          static_cast<int>(std::ranges::count_if(pairs_, [](const TapPair& pair) { return pair.second >= 0; }))),
      steps_(static_cast<int>(rounded_up_quotient(static_cast<int>(pairs_.size()), kTileRows))),
      most_steps_(map_tiles_ <= 2 ? kMostStepsOfFewMaps : kMostSteps),
      panel_tiles_(map_tiles_ == 1 ? 3 : 2) {
  require_tile_unit();
  const int threads = omp_get_max_threads();
  divide(threads);
  add_slices();
  pack(weights);
  for (int thread = 0; thread < threads; ++thread) workspaces_.push_back(workspace());
  add_pieces();
}

int TileConvolution::rows_of(int pixel_tiles) const {
  return std::min(shape_.out_height(), (pixel_tiles * kTileRows - 2) / shape_.out_width() + 2);
}

int TileConvolution::first_row(int part) const { return part * part_tiles_ * kTileRows / shape_.out_width(); }

std::int64_t TileConvolution::plane_words(int rows) const {
  const std::int64_t columns = (shape_.out_width() - 1) * shape_.stride + shape_.kernel;
  return ((rows - 1) * shape_.stride + shape_.kernel) * columns;
}

/// Chooses the division that gives the busiest thread the least work. Work is counted in products of four tiles over a
/// step: those products; copying two tiles of pixels, for each part of the maps; reading weights that do not stay in a
/// cache, for each task; cutting the input. The last three were measured on one processor; only their magnitude
/// matters.
void TileConvolution::divide(int threads) {
  constexpr double kCopying = 0.6;
  constexpr double kReading = 1.9;
  constexpr double kCutting = 0.01;  // per number
  constexpr double kSpilled = 4;     // times that, where the cut input does not stay in a cache
  const std::int64_t map_pairs = rounded_up_quotient(map_tiles_, 2);
  double least_cost = std::numeric_limits<double>::max();
  const auto consider = [&](std::int64_t maps, std::int64_t pixels, std::int64_t images) {
    const std::int64_t tiles = rounded_up_quotient(pixel_tiles_, pixels) * images;
    const std::int64_t map_pairs_of_part = rounded_up_quotient(map_pairs, maps);
    if (tiles * 2 * map_pairs_of_part * kTileBytes > kSumsBytes && (tiles > panel_tiles_ || map_pairs_of_part > 1)) {
      return;
    }
    const std::int64_t plane = plane_words(rows_of(static_cast<int>(tiles / images)));
    const std::int64_t planes = PairedInput::planes_of_group(shape_);
    const double step =
        static_cast<double>(rounded_up_quotient(tiles, 2)) * (static_cast<double>(map_pairs_of_part) + kCopying);
    const bool stays = map_pairs_of_part * 2 * steps_ * step_words() * 4 <= kWeightsBytes;
    const double reading = stays ? 0 : kReading * static_cast<double>(map_pairs_of_part);
    const std::int64_t planes_of_block = std::min(planes, planes * most_steps_ / steps_ + 2);
    const bool is_spilled = plane * planes_of_block * images * parts_ * 4 > kInputBytes;
    const double cutting = (is_spilled ? kSpilled : 1) * kCutting * 2 * static_cast<double>(plane * planes * images);
    const std::int64_t tasks = rounded_up_quotient(shape_.batch, images) * shape_.groups * pixels * maps;
    const double cost =
        static_cast<double>(rounded_up_quotient(tasks, threads)) * (steps_ * (step + reading) + cutting);
    if (cost >= least_cost) return;
    least_cost = cost;
    map_parts_ = static_cast<int>(maps);
    pixel_parts_ = static_cast<int>(pixels);
    images_ = static_cast<int>(images);
  };
  const std::int64_t most_tiles = std::min<std::int64_t>(pixel_tiles_, kSumsBytes / (2 * kTileBytes));
  for (std::int64_t maps = 1; maps <= map_pairs; ++maps) {
    for (std::int64_t tiles = most_tiles; tiles >= 1; --tiles) {
      consider(maps, rounded_up_quotient(pixel_tiles_, tiles), 1);
    }
    for (std::int64_t images = 2; images <= std::min(shape_.batch, kMostImages); ++images) consider(maps, 1, images);
  }
  part_tiles_ = static_cast<int>(rounded_up_quotient(pixel_tiles_, pixel_parts_));
  pixel_parts_ = static_cast<int>(rounded_up_quotient(pixel_tiles_, part_tiles_));
}

void TileConvolution::add_slices() {
  const auto blocks = static_cast<int>(rounded_up_quotient(steps_, most_steps_));
  for (int block = 0; block < blocks; ++block) {
    const int first = steps_ * block / blocks;
    blocks_.push_back({first, steps_ * (block + 1) / blocks - first});
  }
  const std::int64_t plane_bytes = plane_words(rows_of(part_tiles_)) * parts_ * images_ * 4;
  for (int block = 0; block < blocks; ++block) {
    const auto& [first_step, steps] = blocks_[static_cast<std::size_t>(block)];
    const auto end_pair = std::min(pairs_.size(), static_cast<std::size_t>(first_step + steps) * kTileRows);
    const int first_plane = pairs_[static_cast<std::size_t>(first_step) * kTileRows].plane;
    const int end_plane = pairs_[end_pair - 1].plane + 1;
    if (slices_.empty() || (end_plane - slices_.back().first_plane) * plane_bytes > kInputBytes) {
      slices_.push_back({first_plane, 0, block, block});
    }
    slices_.back().planes = end_plane - slices_.back().first_plane;
    slices_.back().end_block = block + 1;
  }
}

void TileConvolution::pack(const float* weights) {
  weights_ = AlignedWords<std::uint32_t>(std::int64_t{shape_.groups} * map_tiles_ * steps_ * step_words());
  const int maps = shape_.maps_per_group();
  const int taps = shape_.channels_per_group() * shape_.kernel * shape_.kernel;
  const std::int64_t tiles = std::int64_t{shape_.groups} * map_tiles_;
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t group = tile / map_tiles_;
    const std::int64_t map_tile = tile % map_tiles_;
    const int first_map = static_cast<int>(map_tile) * kTileRows;
    for (const Block& block : blocks_) {
      std::uint32_t* const block_words = weights_.data() + weights_at(group, block, map_tile);
      for (int map = first_map; map < std::min(maps, first_map + kTileRows); ++map) {
        const float* const from = weights + (group * maps + map) * taps;
        const int end = std::min(static_cast<int>(pairs_.size()), (block.first_step + block.steps) * kTileRows);
        for (int i = block.first_step * kTileRows; i < end; ++i) {
          const TapPair& pair = pairs_[static_cast<std::size_t>(i)];
          std::uint32_t* to = block_words + (i / kTileRows - block.first_step) * step_words() +
                              (map - first_map) * kTileRows + i % kTileRows;
          for (int part = 0; part < parts_; ++part, to += kTileWords) {
            const std::uint32_t second = pair.second < 0 ? 0 : part_of(from[pair.second], part);
            *to = part_of(from[pair.first], part) | second << 16U;
          }
        }
      }
    }
  }
}

void TileConvolution::add_pieces() {
  const PairedInput& input = workspaces_.front().input;
  for (const TapPair& pair : pairs_) offsets_.push_back(input.offset(pair.plane, pair.kernel_row, pair.column));
  const int width = shape_.out_width();
  for (int pixel_tile = 0; pixel_tile < pixel_tiles_; ++pixel_tile) {
    first_piece_.push_back(static_cast<int>(pieces_.size()));
    const int top = first_row(pixel_tile / part_tiles_);
    const int end = std::min(pixels_, (pixel_tile + 1) * kTileRows);
    for (int pixel = pixel_tile * kTileRows; pixel < end; pixel += width - pixel % width) {
      const int lane = pixel - pixel_tile * kTileRows;
      pieces_.push_back({.from = (pixel / width - top) * input.pitch() + pixel % width - lane, .first_lane = lane});
    }
  }
  first_piece_.push_back(static_cast<int>(pieces_.size()));
}

TileConvolution::Workspace TileConvolution::workspace() const {
  int planes = 0;
  for (const Slice& slice : slices_) planes = std::max(planes, slice.planes);
  const std::int64_t map_pairs = rounded_up_quotient(map_tiles_, 2);
  return {.input = PairedInput(shape_, rows_of(part_tiles_), planes, images_, parts_),
          .panel = AlignedWords<std::uint32_t>(panel_tiles_ * panel_steps() * step_words()),
          .sums = AlignedFloats(2 * rounded_up_quotient(map_pairs, std::int64_t{map_parts_}) * part_tiles_ * images_ *
                                kTileWords)};
}

std::int64_t TileConvolution::panel_steps() const {
  return rounded_up_quotient(steps_, static_cast<std::int64_t>(blocks_.size()));
}

int TileConvolution::tiles_of(const Task& task) const {
  return std::min(part_tiles_, pixel_tiles_ - task.part * part_tiles_);
}

TileConvolution::TileOfTask TileConvolution::tile_of(const Task& task, int tile) const {
  const int of_image = tiles_of(task);
  return {.image = tile / of_image, .pixel_tile = task.part * part_tiles_ + tile % of_image};
}

void TileConvolution::fill_tile(Workspace& work, const Slice& slice, const Block& block, const TileOfTask& tile,
                                std::uint32_t* to) const {
  const auto piece = static_cast<std::size_t>(tile.pixel_tile);
  const int first_pair = block.first_step * kTileRows;
  const auto pairs = std::min(static_cast<int>(pairs_.size()) - first_pair, block.steps * kTileRows);
  fill(set_, {.words = work.input.words(tile.image) - work.input.offset(slice.first_plane, 0, 0),
              .part_words = work.input.part_words(),
              .parts = parts_,
              .offsets = offsets_.data() + first_pair,
              .pairs = pairs,
              .whole_pairs = std::clamp(whole_pairs_ - first_pair, 0, pairs),
              .steps = block.steps,
              .pieces = pieces_.data() + first_piece_[piece],
              .piece_count = first_piece_[piece + 1] - first_piece_[piece],
              .to = to});
}

float* TileConvolution::output_at(const Task& task, int map_tile, const TileOfTask& tile) const {
  return task.output + tile.image * shape_.output_elements_per_image() + std::int64_t{map_tile} * kTileRows * pixels_ +
         tile.pixel_tile * kTileRows;
}

TileOfSums TileConvolution::sums_of(Workspace& work, const Task& task, const Block& block, int map_tile, int tile,
                                    const TileOfTask& of_task) const {
  const std::int64_t at = std::int64_t{map_tile - task.first_map_tile} * part_tiles_ * images_ + tile;
  float* const sums = work.sums.data() + at * kTileWords;
  const bool is_last = block.first_step + block.steps == steps_;
  const bool is_whole =
      (map_tile + 1) * kTileRows <= shape_.maps_per_group() && (of_task.pixel_tile + 1) * kTileRows <= pixels_;
  if (!is_last || !is_whole) return {.from = sums, .to = sums, .row_bytes = kTileRowBytes};
  return {.from = sums, .to = output_at(task, map_tile, of_task), .row_bytes = std::int64_t{4} * pixels_};
}

void TileConvolution::store(const float* sums, const Task& task, int map_tile, const TileOfTask& tile) const {
  const int maps = std::min(kTileRows, shape_.maps_per_group() - map_tile * kTileRows);
  const int pixels = std::min(kTileRows, pixels_ - tile.pixel_tile * kTileRows);
  const std::size_t bytes = static_cast<std::size_t>(pixels) * sizeof(float);
  float* output = output_at(task, map_tile, tile);
  for (int map = 0; map < maps; ++map, sums += kTileRows, output += pixels_) std::memcpy(output, sums, bytes);
}

/// Multiplies the taps of a block for a panel of the task's tiles and all maps.
template <typename Tiles>
void TileConvolution::add_panel(Tiles& tiles, Workspace& work, const Task& task, const Slice& slice, const Block& block,
                                int first_tile, int tiles_of_panel) const {
  BlockOfTiles one{.weights = {}, .pixels = {}, .sums = {}, .steps = block.steps, .is_first = block.first_step == 0};
  TileOfTask of_task[BlockOfTiles::kMostPixels];
  for (int p = 0; p < tiles_of_panel; ++p) {
    of_task[p] = tile_of(task, first_tile + p);
    std::uint32_t* const pixels = work.panel.data() + p * block.steps * step_words();
    fill_tile(work, slice, block, of_task[p], pixels);
    one.pixels[p] = pixels;
  }
  const bool is_last = block.first_step + block.steps == steps_;
  for (int map_tile = task.first_map_tile; map_tile < task.end_map_tile; map_tile += 2) {
    const int map_tiles = std::min(2, task.end_map_tile - map_tile);
    for (int m = 0; m < map_tiles; ++m) {
      one.weights[m] = weights_.data() + weights_at(task.group, block, map_tile + m);
      for (int p = 0; p < tiles_of_panel; ++p) {
        one.sums[m][p] = sums_of(work, task, block, map_tile + m, first_tile + p, of_task[p]);
      }
    }
    multiply(tiles, one, map_tiles, tiles_of_panel, products_);
    for (int m = 0; is_last && m < map_tiles; ++m) {
      for (int p = 0; p < tiles_of_panel; ++p) {
        const TileOfSums& sums = one.sums[m][p];
        if (sums.to == sums.from) store(sums.from, task, map_tile + m, of_task[p]);
      }
    }
  }
}

template <typename Tiles>
void TileConvolution::run(Tiles& tiles, Workspace& work, const Task& task) const {
  const int count = tiles_of(task) * task.images;
  for (const Slice& slice : slices_) {
    for (int image = 0; image < task.images; ++image) {
      work.input.load(set_, task.input + image * shape_.input_elements_per_image(), slice.first_plane, slice.planes,
                      first_row(task.part), image);
    }
    for (int block = slice.first_block; block < slice.end_block; ++block) {
      for (int tile = 0; tile < count; tile += panel_tiles_) {
        add_panel(tiles, work, task, slice, blocks_[static_cast<std::size_t>(block)], tile,
                  std::min(panel_tiles_, count - tile));
      }
    }
  }
}

std::int64_t TileConvolution::tasks() const {
  return rounded_up_quotient(std::int64_t{shape_.batch}, std::int64_t{images_}) * shape_.groups * pixel_parts_ *
         map_parts_;
}

TileConvolution::Task TileConvolution::task(std::int64_t index, const float* input, float* output) const {
  const int map_part = static_cast<int>(index % map_parts_);
  index /= map_parts_;
  const int part = static_cast<int>(index % pixel_parts_);
  index /= pixel_parts_;
  const int group = static_cast<int>(index % shape_.groups);
  const std::int64_t image = index / shape_.groups * images_;
  const std::int64_t first_channel = std::int64_t{group} * shape_.channels_per_group();
  const std::int64_t first_map = std::int64_t{group} * shape_.maps_per_group();
  const int map_pairs = (map_tiles_ + 1) / 2;
  return {.input = input + image * shape_.input_elements_per_image() + first_channel * shape_.height * shape_.width,
          .output = output + image * shape_.output_elements_per_image() + first_map * pixels_,
          .images = static_cast<int>(std::min<std::int64_t>(images_, shape_.batch - image)),
          .group = group,
          .part = part,
          .first_map_tile = 2 * (map_pairs * map_part / map_parts_),
          .end_map_tile = std::min(map_tiles_, 2 * (map_pairs * (map_part + 1) / map_parts_))};
}

template <typename Tiles>
void TileConvolution::run_all(const float* input, float* output) {
  const int threads = static_cast<int>(workspaces_.size());
#pragma omp parallel num_threads(threads)
  {
    Tiles tiles;
    Workspace& work = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic)
    for (std::int64_t i = 0; i < tasks(); ++i) run(tiles, work, task(i, input, output));
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
  return fmt::format("{}, panels of {} taps, tasks of {} image{} in {} x {} parts, {} tile products a call",
                     is_emulated_ ? "AMX, emulated" : "AMX", panel_steps() * kTileDepth, images_,
                     images_ == 1 ? "" : "s", pixel_parts_, map_parts_, tile_products());
}

}  // namespace convladder
