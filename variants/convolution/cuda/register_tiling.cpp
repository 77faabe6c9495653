#include "variants/convolution/cuda/register_tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "variants/convolution/cuda/map_loop_tiling.hpp"

namespace convladder {
namespace {

constexpr int kBanks = 32;
/// Shared memory of a block: three blocks fit into the 96 KB of Volta, and seven into an H100's.
constexpr std::int64_t kSharedFloats = 32 * 1024 / sizeof(float);
constexpr std::int64_t kMostSharedFloats = max_shared_bytes / sizeof(float);

int round_up(int number, int multiple) { return ceil_div(number, multiple) * multiple; }

/// A division of the layer, among which the plan chooses.
struct Division {
  RegisterTileSize size;
  int rows;
  int strips;
  int map_groups;

  int threads() const { return rows * strips * map_groups; }
  int block_maps() const { return map_groups * size.maps; }
  int tile_rows() const { return rows * size.rows; }
  int plane_rows() const { return (tile_rows() - 1) * size.stride + size.kernel; }
  int plane_columns() const { return (strips * size.pixels - 1) * size.stride + size.kernel; }
  /// Columns that vectors of four read beyond the last window of a row.
  int columns_beyond() const {
    const int run_window = (size.run - 1) * size.stride + size.kernel;
    return size.run == 4 ? round_up(run_window, 4) - run_window : 0;
  }
  int weights_per_load() const { return size.maps % 4 == 0 ? 4 : size.maps % 2 == 0 ? 2 : 1; }
};

/// The number of consecutive accesses to the banks, over all warps, when each thread reads the first pixel of its row:
/// a float, or four side by side, which the banks serve for eight threads at a time.
int wavefronts(const Division& division, int pitch) {
  const int width = division.size.run == 4 ? 4 : 1;
  const int banks = kBanks / width;
  const int at_once = warp_threads / width;
  const int threads_of_group = division.rows * division.strips;
  int all = 0;
  for (int first = 0; first < division.threads(); first += at_once) {
    std::array<std::vector<int>, kBanks> addresses;
    for (int thread = first; thread < std::min(first + at_once, division.threads()); ++thread) {
      const int place = thread % threads_of_group;
      const int address = (place / division.strips * division.size.rows * division.size.stride * pitch +
                           place % division.strips * division.size.run * division.size.stride) /
                          width;
      std::vector<int>& of_bank = addresses[static_cast<std::size_t>(address % banks)];
      if (std::ranges::find(of_bank, address) == of_bank.end()) of_bank.push_back(address);
    }
    std::size_t most = 0;
    for (const std::vector<int>& of_bank : addresses) most = std::max(most, of_bank.size());
    all += static_cast<int>(most);
  }
  return all;
}

/// The distance of rows in floats that takes the fewest wavefronts; the narrowest of several.
int best_pitch(const Division& division) {
  const int step = division.size.run == 4 ? 4 : 1;
  const int narrowest = round_up(division.plane_columns() + division.columns_beyond(), step);
  int best = narrowest;
  int fewest = std::numeric_limits<int>::max();
  for (int pitch = narrowest; pitch < narrowest + kBanks / 2; pitch += step) {
    const int number = wavefronts(division, pitch);
    if (number < fewest) {
      fewest = number;
      best = pitch;
    }
  }
  return best;
}

std::int64_t shared_floats_per_channel(const Division& division, int pitch) {
  return std::int64_t{division.plane_rows()} * pitch +
         std::int64_t{division.size.kernel} * division.size.kernel * division.block_maps();
}

/// Thread instructions for one image and group, roughly: what unrolled code executes per tap, and index arithmetic.
double cost(const ConvShape& shape, const Division& d) {
  constexpr double kCopyInput = 16;
  constexpr double kCopyWeights = 8;
  constexpr double kRow = 8;
  constexpr double kStore = 1.5;
  const double channels = shape.channels_per_group();
  const double kernel = d.size.kernel;
  const double window = (d.size.pixels - 1) * d.size.stride + d.size.kernel;
  const double sums = d.size.maps * d.size.rows * d.size.pixels;
  const double row = kernel * sums + d.size.rows * window + kernel * d.size.maps / d.weights_per_load() + kRow;
  const double per_thread = channels * kernel * row + kStore * sums;
  const double copies = channels * (kCopyInput * d.plane_rows() * d.plane_columns() +
                                    kCopyWeights * kernel * kernel * d.block_maps() / d.weights_per_load());
  const double blocks = 1.0 * ceil_div(shape.out_height(), d.tile_rows()) *
                        ceil_div(shape.out_width(), d.strips * d.size.pixels) *
                        ceil_div(shape.maps_per_group(), d.block_maps());
  return blocks * (round_up(d.threads(), warp_threads) * per_thread + copies);
}

/// Calls `visit` with every division of the layer for the size that a block's threads allow.
template <typename Visit>
void for_each_division(const ConvShape& shape, const RegisterTileSize& size, const Visit& visit) {
  const int all_strips = ceil_div(shape.out_width(), size.pixels);
  const int all_groups = ceil_div(shape.maps_per_group(), size.maps);
  for (int groups = 1; groups <= std::min(all_groups, register_tile_threads); ++groups) {
    if (ceil_div(all_groups, ceil_div(all_groups, groups)) != groups) continue;  // fewer groups need as many blocks
    for (int strips = std::min(all_strips, register_tile_threads / groups); strips >= 1; strips /= 2) {
      const int most = std::min(ceil_div(shape.out_height(), size.rows), register_tile_threads / groups / strips);
      for (int rows = 1; rows <= most; ++rows) visit(Division{size, rows, strips, groups});
    }
  }
}

/// The number that divides the channels of a step: the inputs follow the weights of a step, and vectors of four are
/// read from multiples of 16 bytes.
int channel_multiple(const Division& division) {
  return division.size.run == 4 ? 4 / std::gcd(4, division.size.kernel * division.size.kernel * division.block_maps())
                                : 1;
}

/// Whether the fewest possible channels fit into shared memory, whatever pitch will be the best.
bool fits(const ConvShape& shape, const Division& division) {
  const int channels = channel_multiple(division);
  return channels <= shape.channels_per_group() &&
         channels * shared_floats_per_channel(division, division.plane_columns() + kBanks) <= kMostSharedFloats;
}

bool is_wanted(const Division& division, const Configuration& wanted) {
  return wanted.allows("maps", division.size.maps) && wanted.allows("pixels", division.size.pixels) &&
         wanted.allows("rows", division.rows) && wanted.allows("strips", division.strips) &&
         wanted.allows("map_groups", division.map_groups);
}

/// The division's plan, if one channel, or the wanted number of channels, fits into shared memory.
std::optional<RegisterTilePlan> plan_of(const ConvShape& shape, const Division& division,
                                        std::optional<int> wanted_channels) {
  const int pitch = best_pitch(division);
  const std::int64_t per_channel = shared_floats_per_channel(division, pitch);
  const int all_channels = shape.channels_per_group();
  const std::int64_t fitting = std::clamp<std::int64_t>(kSharedFloats / per_channel, 1, all_channels);
  const std::int64_t multiple = channel_multiple(division);
  const std::int64_t channels =
      wanted_channels.value_or(static_cast<int>(std::max(multiple, fitting / multiple * multiple)));
  if (channels > all_channels || channels % multiple != 0 || channels * per_channel > kMostSharedFloats)
    return std::nullopt;
  RegisterTilePlan plan;
  plan.size = division.size;
  plan.tiling = {division.rows,
                 division.strips,
                 division.map_groups,
                 ceil_div(shape.maps_per_group(), division.block_maps()),
                 static_cast<int>(channels),
                 pitch,
                 1};
  const int tiles = ceil_div(shape.out_height(), division.tile_rows()) *
                    ceil_div(shape.out_width(), division.strips * division.size.pixels);
  plan.grid = {static_cast<unsigned>(shape.batch), static_cast<unsigned>(shape.groups * plan.tiling.map_blocks),
               static_cast<unsigned>(tiles)};
  plan.block = {static_cast<unsigned>(round_up(division.threads(), warp_threads)), 1, 1};
  plan.shared_bytes = static_cast<std::size_t>(channels * per_channel) * sizeof(float);
  return plan;
}

}  // namespace

std::optional<RegisterTilePlan> register_tile_plan(const ConvShape& shape, std::span<const RegisterTileSize> compiled,
                                                   const Configuration& wanted) {
  std::optional<Division> best;
  std::size_t best_index = 0;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < compiled.size(); ++index) {
    const RegisterTileSize& size = compiled[index];
    if (size.kernel != shape.kernel || size.stride != shape.stride) continue;
    for_each_division(shape, size, [&](const Division& division) {
      const double instructions = cost(shape, division);
      if (!(instructions < lowest) || !is_wanted(division, wanted) || !fits(shape, division)) return;
      lowest = instructions;
      best = division;
      best_index = index;
    });
  }
  if (!best) return std::nullopt;
  std::optional<RegisterTilePlan> plan = plan_of(shape, *best, wanted.value("channels"));
  if (plan) plan->compiled = best_index;
  return plan;
}

Configuration register_tile_configuration(const RegisterTilePlan& plan, bool with_images) {
  std::vector<Parameter> parameters = {{"maps", plan.size.maps},
                                       {"pixels", plan.size.pixels},
                                       {"rows", plan.tiling.rows},
                                       {"strips", plan.tiling.strips},
                                       {"map_groups", plan.tiling.map_groups},
                                       {"channels", plan.tiling.channels_per_step}};
  if (with_images) parameters.push_back({"images", plan.tiling.images_per_block});
  return Configuration(std::move(parameters));
}

std::vector<RankedDivision> register_tile_divisions(const ConvShape& shape,
                                                    std::span<const RegisterTileSize> compiled) {
  std::vector<RankedDivision> divisions;
  for (const RegisterTileSize& size : compiled) {
    if (size.kernel != shape.kernel || size.stride != shape.stride) continue;
    for_each_division(shape, size, [&](const Division& d) {
      if (!fits(shape, d)) return;
      const std::int64_t per_channel = shared_floats_per_channel(d, d.plane_columns() + kBanks);
      divisions.push_back(
          {Configuration({{"maps", size.maps},
                          {"pixels", size.pixels},
                          {"rows", d.rows},
                          {"strips", d.strips},
                          {"map_groups", d.map_groups}}),
           cost(shape, d), ceil_div(d.threads(), warp_threads),
           static_cast<int>(std::min<std::int64_t>(kMostSharedFloats / per_channel, shape.channels_per_group()))});
    });
  }
  std::ranges::stable_sort(divisions, {}, &RankedDivision::cost);
  return divisions;
}

int images_per_block(int batch) {
  constexpr int kMany = 4 * images_that_fill_a_gpu;
  if (batch % 4 == 0 && batch >= kMany) return 4;
  return batch % 2 == 0 && batch >= 8 ? 2 : 1;
}

RegisterTilePlan with_images_per_block(RegisterTilePlan plan, int images) {
  plan.tiling.images_per_block = images;
  plan.grid.x /= static_cast<unsigned>(images);
  return plan;
}

std::optional<RegisterTilePlan> with_two_buffers(RegisterTilePlan plan) {
  const std::size_t channel_bytes = plan.shared_bytes / static_cast<std::size_t>(plan.tiling.channels_per_step);
  constexpr std::size_t kVectorBytes = 16;  // both buffers begin at a multiple of this
  const std::size_t fitting = (max_shared_bytes / 2 - kVectorBytes) / channel_bytes;
  if (fitting == 0) return std::nullopt;
  plan.tiling.channels_per_step = std::min(plan.tiling.channels_per_step, static_cast<int>(fitting));
  const std::size_t buffer = static_cast<std::size_t>(plan.tiling.channels_per_step) * channel_bytes;
  plan.shared_bytes = 2 * ((buffer + kVectorBytes - 1) / kVectorBytes * kVectorBytes);
  return plan;
}

std::string register_tile_error(const ConvShape& shape, std::span<const RegisterTileSize> compiled) {
  const std::optional<RegisterTilePlan> plan = register_tile_plan(shape, compiled);
  if (plan) return grid_error(plan->grid);
  std::vector<std::string> known;
  for (const RegisterTileSize& size : compiled) {
    if (size.kernel == shape.kernel && size.stride == shape.stride)
      return "one row of the input does not fit into shared memory";
    std::string name = fmt::format("{}/{}", size.kernel, size.stride);
    if (std::ranges::find(known, name) == known.end()) known.push_back(std::move(name));
  }
  return fmt::format("kernel {} with stride {} is not among the compiled ones (kernel/stride): {}", shape.kernel,
                     shape.stride, fmt::join(known, ", "));
}

std::vector<float> pack_for_register_tile(const ConvShape& shape, const RegisterTilePlan& plan, const float* weights) {
  const int block_maps = plan.tiling.map_groups * plan.size.maps;
  const int taps = shape.channels_per_group() * shape.kernel * shape.kernel;
  std::vector<float> packed(static_cast<std::size_t>(shape.groups) * static_cast<std::size_t>(plan.tiling.map_blocks) *
                            static_cast<std::size_t>(taps) * static_cast<std::size_t>(block_maps));
  auto to = packed.begin();
  for (int group = 0; group < shape.groups; ++group) {
    for (int map_block = 0; map_block < plan.tiling.map_blocks; ++map_block) {
      for (int tap = 0; tap < taps; ++tap) {
        for (int i = 0; i < block_maps; ++i, ++to) {
          const int map = map_block * block_maps + i;
          if (map < shape.maps_per_group()) *to = weights[(group * shape.maps_per_group() + map) * taps + tap];
        }
      }
    }
  }
  return packed;
}

std::string register_tile_choice(const RegisterTilePlan& plan) {
  const std::string images =
      plan.tiling.images_per_block == 1 ? "" : fmt::format(" of {} images", plan.tiling.images_per_block);
  const std::string rows = plan.size.rows == 1 ? "" : fmt::format("{} x ", plan.size.rows);
  return fmt::format("{} maps x {}{} pixels per thread, {} x {} pixels x {} maps{} per block, {} channels per step",
                     plan.size.maps, rows, plan.size.pixels, plan.tiling.rows * plan.size.rows,
                     plan.tiling.strips * plan.size.pixels, plan.tiling.map_groups * plan.size.maps, images,
                     plan.tiling.channels_per_step);
}

}  // namespace convladder
