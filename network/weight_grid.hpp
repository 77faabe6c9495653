// Weights of a fully connected layer on a grid: each map of its input is cut into cells, and the places of a cell share
// one weight. A file then holds a value for each cell, a fraction of what the layer has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "network/network.hpp"

namespace convladder {

struct WeightGrid {
  int height = 0;
  int width = 0;
};

/// The grid of a fully connected layer with at most `side` cells each way: no finer than its input's maps.
WeightGrid grid_of(const Layer& layer, int side);

/// Whether a layer's weights lie on a grid that is coarser than its input: a fully connected one of maps that are
/// larger than `side`, but not the network's first layer with weights, which has to look at every pixel.
bool is_on_grid(const Network& network, std::size_t layer_index, int side);

/// The shape of such weights in a file: [out, channels, grid's height, grid's width].
std::vector<std::int64_t> grid_shape(const Layer& layer, WeightGrid grid);

/// A value for each cell: the mean of its places' weights. `weights` are the layer's, [out][in].
std::vector<float> cell_means(const Layer& layer, WeightGrid grid, std::span<const float> weights);

/// The layer's weights, [out][in], that have a cell's value at each of its places.
std::vector<float> spread_cells(const Layer& layer, WeightGrid grid, std::span<const float> cells);

}  // namespace convladder
