#include "simulator/textures/texture_sampling.hpp"

#include <cmath>

namespace convladder::simulated {
namespace {

AddressMode mode_of(const SamplerDescription& sampler, int axis) {
  const AddressMode mode = sampler.address[static_cast<std::size_t>(axis)];
  const bool needs_normalized = mode == AddressMode::wrap || mode == AddressMode::mirror;
  return needs_normalized && !sampler.normalized_coordinates ? AddressMode::clamp : mode;
}

/// The coordinate in texels. Exact: a float times a size needs no more bits than a double has.
double in_texels(float coordinate, std::uint64_t size, const SamplerDescription& sampler, AddressMode mode) {
  if (std::isnan(coordinate)) return 0;
  if (!sampler.normalized_coordinates) return coordinate;
  // From here on every float is even, and both modes repeat after 2, so that products stay small enough to be exact.
  const bool repeats = mode == AddressMode::wrap || mode == AddressMode::mirror;
  if (repeats && std::abs(coordinate) >= 0x1p24F) return 0;
  return static_cast<double>(coordinate) * static_cast<double>(size);
}

}  // namespace

std::int64_t addressed_texel(double i, std::uint64_t size, AddressMode mode) {
  const auto count = static_cast<double>(size);
  switch (mode) {
    case AddressMode::clamp:
      return i < 0 ? 0 : i >= count ? static_cast<std::int64_t>(size) - 1 : static_cast<std::int64_t>(i);
    case AddressMode::border:
      return i < 0 || i >= count ? AxisSample::kBorder : static_cast<std::int64_t>(i);
    default:
      break;
  }
  const double period = mode == AddressMode::wrap ? count : 2 * count;
  double place = std::fmod(i, period);
  if (place < 0) place += period;
  const auto texel = static_cast<std::int64_t>(place);
  const auto last = static_cast<std::int64_t>(size) - 1;
  return texel > last ? 2 * last + 1 - texel : texel;
}

AxisSample sample_axis(float coordinate, int offset, std::uint64_t size, const SamplerDescription& sampler, int axis) {
  const AddressMode mode = mode_of(sampler, axis);
  const double x = in_texels(coordinate, size, sampler, mode);
  AxisSample sample;
  if (sampler.filter == FilterMode::point) {
    sample.index[0] = addressed_texel(std::floor(x) + offset, size, mode);
    return sample;
  }
  const double shifted = x - 0.5;
  const double first = std::floor(shifted);
  const double fraction = std::isinf(shifted) ? 0 : std::floor((shifted - first) * 256 + 0.5) / 256;
  sample.count = 2;
  sample.weight = {1 - fraction, fraction};
  sample.index = {addressed_texel(first + offset, size, mode), addressed_texel(first + 1 + offset, size, mode)};
  return sample;
}

AxisSample gather_axis(float coordinate, int offset, std::uint64_t size, const SamplerDescription& sampler, int axis) {
  SamplerDescription linear = sampler;
  linear.filter = FilterMode::linear;
  AxisSample sample = sample_axis(coordinate, offset, size, linear, axis);
  sample.weight = {1, 1};
  return sample;
}

AxisSample fetch_axis(std::int64_t coordinate, std::uint64_t size, AddressMode mode) {
  const AddressMode outside = mode == AddressMode::border ? mode : AddressMode::clamp;
  AxisSample sample;
  sample.index[0] = addressed_texel(static_cast<double>(coordinate), size, outside);
  return sample;
}

CubeSample cube_sample(float x, float y, float z) {
  const float ax = std::abs(x);
  const float ay = std::abs(y);
  const float az = std::abs(z);
  CubeSample sample;
  float s = 0;
  float t = 0;
  float major = 1;
  if (ax > ay && ax > az) {
    sample.face = x >= 0 ? 0 : 1;
    s = x >= 0 ? -z : z;
    t = -y;
    major = ax;
  } else if (ay > az && ay >= ax) {
    sample.face = y >= 0 ? 2 : 3;
    s = x;
    t = y >= 0 ? z : -z;
    major = ay;
  } else {
    sample.face = z >= 0 ? 4 : 5;
    s = z >= 0 ? x : -x;
    t = -y;
    major = az;
  }
  sample.x = (s / major + 1) / 2;
  sample.y = (t / major + 1) / 2;
  return sample;
}

}  // namespace convladder::simulated
