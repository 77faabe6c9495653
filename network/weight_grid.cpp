#include "network/weight_grid.hpp"

#include <algorithm>

#include "network/weights.hpp"

namespace convladder {
namespace {

/// Calls `visit(place, cell)` for every place of every map, with their indices among all of a layer's.
template <typename Visit>
void for_each_place(const Layer& layer, WeightGrid grid, const Visit& visit) {
  const ActivationShape& input = layer.input;
  const std::int64_t maps = std::int64_t{layer.output.channels} * input.channels;
  std::size_t place = 0;
  for (std::int64_t map = 0; map < maps; ++map) {
    for (int y = 0; y < input.height; ++y) {
      const std::int64_t row = (map * grid.height + y * grid.height / input.height) * grid.width;
      for (int x = 0; x < input.width; ++x) {
        visit(place++, static_cast<std::size_t>(row + x * grid.width / input.width));
      }
    }
  }
}

std::size_t cells_of(const Layer& layer, WeightGrid grid) {
  return static_cast<std::size_t>(layer.output.channels) * layer.input.channels * grid.height * grid.width;
}

}  // namespace

WeightGrid grid_of(const Layer& layer, int side) {
  return {.height = std::min(side, layer.input.height), .width = std::min(side, layer.input.width)};
}

bool is_on_grid(const Network& network, std::size_t layer_index, int side) {
  const Layer& layer = network.layers[layer_index];
  return layer.type == LayerType::fully_connected && (layer.input.height > side || layer.input.width > side) &&
         layer_index != first_layer_with_weights(network);
}

std::vector<std::int64_t> grid_shape(const Layer& layer, WeightGrid grid) {
  return {layer.output.channels, layer.input.channels, grid.height, grid.width};
}

std::vector<float> cell_means(const Layer& layer, WeightGrid grid, std::span<const float> weights) {
  std::vector<float> sums(cells_of(layer, grid));
  std::vector<float> places(sums.size());
  for_each_place(layer, grid, [&](std::size_t place, std::size_t cell) {
    sums[cell] += weights[place];
    places[cell] += 1;
  });
  std::ranges::transform(sums, places, sums.begin(), [](float sum, float count) { return sum / count; });
  return sums;
}

std::vector<float> spread_cells(const Layer& layer, WeightGrid grid, std::span<const float> cells) {
  std::vector<float> weights(static_cast<std::size_t>(layer.output.channels) * layer.input.elements());
  for_each_place(layer, grid, [&](std::size_t place, std::size_t cell) { weights[place] = cells[cell]; });
  return weights;
}

}  // namespace convladder
