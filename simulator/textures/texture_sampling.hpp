// Finds the texels that a fetch reads at a coordinate and their weights, by the formulas of the CUDA C++ Programming
// Guide, appendix "Texture Fetching".
#pragma once

#include <array>
#include <cstdint>

namespace convladder::simulated {

enum class AddressMode : std::uint8_t { wrap, mirror, clamp, border };
enum class FilterMode : std::uint8_t { point, linear };

struct SamplerDescription {
  std::array<AddressMode, 3> address{AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};  ///< x, y, z
  FilterMode filter = FilterMode::point;
  bool normalized_coordinates = false;  ///< whether coordinates go from 0 to 1 instead of to the number of texels
  std::array<float, 4> border{};        ///< the colour that AddressMode::border gives outside
};

/// Texels along one axis: one, or two with a linear filter.
struct AxisSample {
  static constexpr std::int64_t kBorder = -1;  ///< outside of the texture, where the border's colour is
  int count = 1;
  std::array<std::int64_t, 2> index{};
  std::array<double, 2> weight{1, 0};  ///< multiples of 1/256
};

/// The texel at index `i`, a whole number or an infinity, on an axis of `size` texels.
std::int64_t addressed_texel(double i, std::uint64_t size, AddressMode mode);

/// The texels at a float coordinate on axis `axis`, shifted by `offset` texels. The guide leaves the following open, so
/// it is a convention here: NaN is 0; the fraction that weighs two texels is rounded to the nearest of its 9 bits, 8 of
/// them after the point, "so 1.0 is exactly represented"; wrap and mirror need normalized coordinates and act as clamp
/// without them.
AxisSample sample_axis(float coordinate, int offset, std::uint64_t size, const SamplerDescription& sampler, int axis);

/// The two texels along an axis that tld4 reads, both with weight 1.
AxisSample gather_axis(float coordinate, int offset, std::uint64_t size, const SamplerDescription& sampler, int axis);

/// The texel at a whole coordinate, neither normalized nor filtered.
AxisSample fetch_axis(std::int64_t coordinate, std::uint64_t size, AddressMode mode);

/// The point where a direction from the middle of a cube meets it: the face (+x, -x, +y, -y, +z, -z) and the place
/// there, from 0 to 1.
struct CubeSample {
  int face = 0;
  float x = 0;
  float y = 0;
};
CubeSample cube_sample(float x, float y, float z);

}  // namespace convladder::simulated
