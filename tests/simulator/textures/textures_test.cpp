// Textures: what fetches give, against the formulas of the CUDA C++ Programming Guide in whole numbers; and what is
// said of handles and descriptions that are wrong.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "devices/device_error.hpp"
#include "simulator/textures/texture_device.hpp"
#include "support/half.hpp"

namespace convladder::simulated {
namespace {

// --- the guide's formulas, in whole numbers -------------------------------------------------------------------------

/// floor(coordinate * scale) of a float, exactly; very large ones become 2^50.
std::int64_t scaled(float coordinate, std::int64_t scale) {
  constexpr std::int64_t huge = std::int64_t{1} << 50;
  if (std::isinf(coordinate)) return coordinate > 0 ? huge : -huge;
  int exponent = 0;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(coordinate, &exponent), 24));
  exponent -= 24;
  const std::int64_t product = mantissa * scale;  // 24 and 13 bits
  if (mantissa == 0) return 0;
  if (exponent > 12) return mantissa > 0 ? huge : -huge;
  return exponent >= 0 ? product << exponent : product >> std::min(-exponent, 63);
}

/// Texel i of the endless row that an address mode makes of `size` texels; -1 is the border.
std::int64_t endless(std::int64_t i, std::int64_t size, AddressMode mode) {
  if (mode == AddressMode::clamp) return i < 0 ? 0 : i >= size ? size - 1 : i;
  if (mode == AddressMode::border) return i < 0 || i >= size ? -1 : i;
  const std::int64_t period = mode == AddressMode::wrap ? size : 2 * size;
  const std::int64_t place = ((i % period) + period) % period;
  return place < size ? place : 2 * size - 1 - place;
}

struct ExpectedAxis {
  std::array<std::int64_t, 2> texel{};
  std::array<std::int64_t, 2> weight{256, 0};  // of 256
};

ExpectedAxis expected_axis(float u, std::int64_t size, AddressMode mode, bool normalized, bool linear) {
  if (std::isnan(u)) u = 0;
  const bool repeats = mode == AddressMode::wrap || mode == AddressMode::mirror;
  if (repeats && !normalized) mode = AddressMode::clamp;
  if (repeats && normalized) u = std::isinf(u) ? 0 : static_cast<float>(std::remainder(double{u}, 2.0));  // exact
  const std::int64_t per_texel = normalized ? size : 1;
  ExpectedAxis axis;
  if (!linear) {
    axis.texel[0] = endless(scaled(u, per_texel), size, mode);
    return axis;
  }
  // In units of 1/256 of a texel, from the middle of texel 0 on and rounded: a carry is the next texel.
  std::int64_t place = (scaled(u, per_texel * 512) - 255) >> 1;
  if (std::isinf(u)) place = scaled(u, 1);
  const std::int64_t first = place >> 8;
  axis.weight[1] = place & 255;
  axis.weight[0] = 256 - axis.weight[1];
  axis.texel = {endless(first, size, mode), endless(first + 1, size, mode)};
  return axis;
}

/// Coordinates that are likely to go wrong, and others, for a texture of `size` texels.
std::vector<float> awkward_coordinates(std::size_t count, bool normalized, std::int64_t size) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values{0.0F,   -0.0F,  nan,      -nan,           inf,       -inf,      3e38F,
                            -3e38F, 1e-40F, -1e-40F,  -1e-9F,         1.0F,      -1.0F,     0.5F,
                            -0.5F,  2.0F,   0x1p24F,  -0x1p24F,       0x1p31F,   -0x1p32F,  0x1p63F,
                            1e20F,  -1e20F, 16777215, 0x1.fffffep-1F, 123456.7F, -98765.4F, 0x1.8p23F};
  const float scale = normalized ? 1.0F / static_cast<float>(size) : 1.0F;
  for (std::uint32_t state = 77; values.size() < count;) {
    state = state * 1664525U + 1013904223U;
    const auto sixteenths = static_cast<float>(static_cast<int>(state >> 8) % 4096) - 2048.0F;
    const float fine = static_cast<float>(state >> 20) * 0x1p-17F;
    values.push_back((sixteenths / 16.0F + ((state & 128U) != 0 ? fine : 0.0F)) * scale);
  }
  return values;
}

constexpr std::array kModes{AddressMode::wrap, AddressMode::mirror, AddressMode::clamp, AddressMode::border};

// --- every way to address, in one, two and three dimensions ---------------------------------------------------------

constexpr std::size_t kThreads = 96;

struct Shape {
  Geometry geometry;
  const char* name;
  std::int64_t width;
  std::int64_t height;
  std::int64_t depth;
};

/// A number for every texel; sums of their parts are exact.
float texel_value(std::int64_t x, std::int64_t y, std::int64_t z) {
  return static_cast<float>((x * 37 + y * 101 + z * 211) % 509) / 64.0F;
}

TEST(Textures, EveryAddressModeAndFilterGivesWhatTheGuideSays) {
  const std::array shapes{Shape{Geometry::one, "1d", 13, 1, 1}, Shape{Geometry::two, "2d", 13, 7, 1},
                          Shape{Geometry::three, "3d", 5, 4, 3}, Shape{Geometry::one_layered, "a1d", 13, 1, 3},
                          Shape{Geometry::two_layered, "a2d", 5, 6, 4}};
  TextureDevice device;
  for (const Shape& shape : shapes) {
    std::vector<float> texels;
    for (std::int64_t z = 0; z < shape.depth; ++z) {
      for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x) texels.push_back(texel_value(x, y, z));
      }
    }
    const TexelResource array =
        device.array(shape.geometry, {ChannelType::f32, 1}, {shape.width, shape.height, shape.depth}, texels);
    const int axes = dimensions(shape.geometry);
    for (std::size_t mode = 0; mode < kModes.size(); ++mode) {
      for (const bool normalized : {false, true}) {
        for (const bool linear : {false, true}) {
          TextureDescription texture{.resource = array};
          texture.sampler = {.address = {kModes[mode], kModes[(mode + 1) % 4], kModes[(mode + 2) % 4]},
                             .filter = linear ? FilterMode::linear : FilterMode::point,
                             .normalized_coordinates = normalized,
                             .border = {3.5F, 0, 0, 0}};
          std::array<std::vector<float>, 3> u;
          const std::array<std::int64_t, 3> sizes{shape.width, shape.height, shape.depth};
          for (std::size_t axis = 0; axis < 3; ++axis) {
            u[axis] = awkward_coordinates(kThreads, normalized, sizes[axis]);
            std::rotate(u[axis].begin(), u[axis].begin() + static_cast<std::ptrdiff_t>(axis * 29), u[axis].end());
          }
          std::vector<std::uint32_t> layers(kThreads);
          for (std::size_t i = 0; i < kThreads; ++i) layers[i] = static_cast<std::uint32_t>(i % 7 == 6 ? -1 : i % 7);
          const std::uint64_t handle = device.get().textures().create_texture(texture);
          const std::string opcode = fmt::format("tex.{}.v4.f32.f32", shape.name);
          const Words found = device.fetch(opcode, handle, kThreads, device.coordinates(shape.geometry, u, layers));
          device.get().textures().destroy(handle);
          for (std::size_t i = 0; i < kThreads; ++i) {
            std::array<ExpectedAxis, 3> axis;
            axis[2].texel[0] = std::min<std::int64_t>(layers[i], shape.depth - 1);
            if (!is_layered(shape.geometry)) axis[2].texel[0] = 0;
            for (int a = 0; a < axes; ++a) {
              axis[a] = expected_axis(u[a][i], sizes[a], texture.sampler.address[a], normalized, linear);
            }
            double expected = 0;
            for (int corner = 0; corner < 8; ++corner) {
              const std::array<std::size_t, 3> side{std::size_t(corner & 1), std::size_t(corner >> 1 & 1),
                                                    std::size_t(corner >> 2)};
              double weight = 1;
              bool is_border = false;
              for (std::size_t a = 0; a < 3; ++a) {
                weight *= static_cast<double>(axis[a].weight[side[a]]) / 256;
                is_border = is_border || axis[a].texel[side[a]] < 0;
              }
              if (weight == 0) continue;
              expected += weight * (is_border ? 3.5
                                              : double{texel_value(axis[0].texel[side[0]], axis[1].texel[side[1]],
                                                                   axis[2].texel[side[2]])});
            }
            ASSERT_EQ(std::bit_cast<float>(found[4 * i]), static_cast<float>(expected))
                << opcode << " mode " << mode << (normalized ? " normalized" : "") << (linear ? " linear" : "")
                << " at " << u[0][i] << ", " << u[1][i] << ", " << u[2][i] << ", layer " << layers[i];
            const bool outside = expected == 3.5 && !linear && axis[0].texel[0] < 0;
            if (!outside && !linear && axis[1].texel[0] >= 0 && axis[2].texel[0] >= 0) {
              ASSERT_EQ(std::bit_cast<float>(found[4 * i + 3]), 1.0F);  // a channel that is not there
            }
          }
        }
      }
    }
  }
}

// --- formats and read modes -----------------------------------------------------------------------------------------

/// The texels of every format are the bytes 0 to 255 and back: two texels of four 32-bit channels.
std::vector<std::uint8_t> every_byte() {
  std::vector<std::uint8_t> bytes(512);
  for (std::size_t i = 0; i < 256; ++i) bytes[i] = bytes[511 - i] = static_cast<std::uint8_t>(i * 167);
  return bytes;
}

double number_of(ChannelType type, const std::uint8_t* at) {
  const auto as = [at]<typename T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case ChannelType::u8:
      return *at / 255.0;
    case ChannelType::s8:
      return std::max(as(std::int8_t{}) / 127.0, -1.0);
    case ChannelType::u16:
      return as(std::uint16_t{}) / 65535.0;
    case ChannelType::s16:
      return std::max(as(std::int16_t{}) / 32767.0, -1.0);
    case ChannelType::f16:
      return to_float(Half{as(std::uint16_t{})});
    default:
      return as(float{});
  }
}

TEST(Textures, EveryFormatIsReadAsItsElementsAndAsNumbers) {
  const std::vector<std::uint8_t> bytes = every_byte();
  TextureDevice device;
  for (const ChannelType type : {ChannelType::u8, ChannelType::s8, ChannelType::u16, ChannelType::s16, ChannelType::u32,
                                 ChannelType::s32, ChannelType::f16, ChannelType::f32}) {
    for (const int channels : {1, 2, 4}) {
      const TexelFormat format{type, channels};
      const auto count = static_cast<std::size_t>(std::min(32, 512 / format.bytes()));
      const TexelResource linear = device.linear(format, count, bytes);
      std::vector<std::uint32_t> x(count);
      for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<std::uint32_t>(i);
      for (const ReadMode read : {ReadMode::element, ReadMode::normalized}) {
        const bool is_32 = type == ChannelType::u32 || type == ChannelType::s32;
        const TextureDescription description{.resource = linear, .read = read};
        if (is_32 && read == ReadMode::normalized) {
          EXPECT_THROW(device.get().textures().create_texture(description), DeviceError);
          continue;
        }
        const std::uint64_t handle = device.get().textures().create_texture(description);
        const Words found = device.fetch("tex.1d.v4.s32.s32", handle, count, x);
        for (std::size_t i = 0; i < count; ++i) {
          for (std::size_t c = 0; c < 4; ++c) {
            const auto size = static_cast<std::size_t>(channel_bytes(type));
            const std::uint8_t* const at = bytes.data() + (i * static_cast<std::size_t>(channels) + c) * size;
            const bool is_there = c < static_cast<std::size_t>(channels);
            const std::uint32_t word = found[4 * i + c];
            if (read == ReadMode::normalized || is_floating(type)) {
              const auto expected = static_cast<float>(is_there ? number_of(type, at) : c == 3 ? 1 : 0);
              if (std::isnan(expected)) {
                EXPECT_TRUE(std::isnan(std::bit_cast<float>(word)));
              } else {
                EXPECT_EQ(std::bit_cast<float>(word), expected) << "channel " << c << " of " << static_cast<int>(type);
              }
              continue;
            }
            std::uint32_t expected = c == 3 ? 1 : 0;
            if (is_there) {
              expected = 0;
              std::memcpy(&expected, at, size);
              if (is_signed_integer(type) && size < 4 && (at[size - 1] & 0x80U) != 0) expected |= ~0U << (8 * size);
            }
            EXPECT_EQ(word, expected) << "channel " << c << " of " << static_cast<int>(type);
          }
        }
        device.get().textures().destroy(handle);
      }
    }
  }
}

TEST(Textures, HalvesPairsAndLinearisedBytes) {
  TextureDevice device;
  const std::vector<std::uint8_t> bytes{0, 10, 255, 128, 55, 200, 1, 7};
  TextureDescription texture{.resource = device.linear({ChannelType::u8, 4}, 2, bytes), .read = ReadMode::normalized};
  const std::uint64_t plain = device.get().textures().create_texture(texture);
  texture.srgb = true;
  const std::uint64_t srgb = device.get().textures().create_texture(texture);
  const Words words = device.fetch("tex.1d.v4.f32.s32", srgb, 2, {0, 1});
  const Words halves = device.fetch("tex.1d.v4.f16.s32", plain, 2, {0, 1});
  const Words pairs = device.fetch("tex.1d.v2.f16x2.s32", plain, 2, {0, 1});
  for (std::size_t i = 0; i < 8; ++i) {
    const double value = bytes[i] / 255.0;
    const double light = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    EXPECT_NEAR(std::bit_cast<float>(words[i]), i % 4 == 3 ? value : light, 1e-7);
    EXPECT_EQ(halves[i], round_to<Half>(static_cast<float>(value)).bits);
    EXPECT_EQ((pairs[4 * (i / 4) + i % 4 / 2] >> (i % 2 * 16)) & 0xffffU, halves[i]);
  }
}

TEST(Textures, WholeCoordinatesOutsideGiveZeroOfLinearMemoryAndTheEdgeOfArrays) {
  TextureDevice device;
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const std::vector<std::uint32_t> x{0, 5, 6, 0xffffffffU, 0x7fffffffU, 0x80000000U};
  const TexelResource linear = device.linear({ChannelType::f32, 1}, 6, values);
  const std::uint64_t of_memory = device.get().textures().create_texture({.resource = linear});
  EXPECT_EQ(device.floats(device.fetch("tex.1d.v4.f32.s32", of_memory, 6, x)), (std::vector<float>{1, 6, 0, 0, 0, 0}));
  const TexelResource array = device.array(Geometry::one, {ChannelType::f32, 1}, {6, 1, 1}, values);
  const std::uint64_t of_array = device.get().textures().create_texture({.resource = array});
  EXPECT_EQ(device.floats(device.fetch("tex.1d.v4.f32.s32", of_array, 6, x)), (std::vector<float>{1, 6, 6, 1, 6, 1}));
}

TEST(Textures, RowsMayHaveAPitchAndOffsetsMoveTheTexel) {
  TextureDevice device;
  std::vector<float> rows(3 * 8, -1);
  for (std::size_t y = 0; y < 3; ++y) {
    for (std::size_t x = 0; x < 5; ++x) rows[8 * y + x] = static_cast<float>(10 * y + x);
  }
  TexelResource pitched = device.linear({ChannelType::f32, 1}, rows.size(), rows);
  pitched.geometry = Geometry::two;
  pitched.is_linear = false;
  pitched.width = 5;
  pitched.height = 3;
  pitched.row_pitch = 32;
  pitched.slice_pitch = 96;
  const std::uint64_t handle = device.get().textures().create_texture({.resource = pitched});
  const auto at = [&](const std::string& opcode, const std::string& behind, Words words) {
    return device.floats(device.fetch(opcode, handle, words.size() / 2, words, behind));
  };
  const auto f = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  EXPECT_EQ(at("tex.2d.v4.f32.f32", "", {f(4.9F), f(2.5F), f(99), f(1)}), (std::vector<float>{24, 14}));
  EXPECT_EQ(at("tex.2d.v4.f32.f32", ", {-1, 1}", {f(4.9F), f(0.5F), f(0), f(2)}), (std::vector<float>{13, 20}));
  EXPECT_EQ(at("tex.2d.v4.f32.s32", "", {3, 1, 7, 2}), (std::vector<float>{13, 24}));
  EXPECT_EQ(at("tex.level.2d.v4.f32.f32", ", 0f40000000", {f(1), f(1)}), (std::vector<float>{11}));
  EXPECT_EQ(at("tex.grad.2d.v4.f32.f32", ", {%f1, %f1}, {%f2, %f2}", {f(1), f(1)}), (std::vector<float>{11}));
  EXPECT_EQ(at("tex.base.2d.v4.f32.f32", "", {f(2), f(1)}), (std::vector<float>{12}));
}

TEST(Textures, GatheringTakesOneChannelOfFourTexelsAgainstTheClock) {
  TextureDevice device;
  std::vector<float> texels;
  for (int i = 0; i < 4 * 3; ++i) texels.insert(texels.end(), {static_cast<float>(i), static_cast<float>(100 + i)});
  const TexelResource array = device.array(Geometry::two, {ChannelType::f32, 2}, {4, 3, 1}, texels);
  const std::uint64_t handle = device.get().textures().create_texture({.resource = array});
  const Words words{std::bit_cast<std::uint32_t>(1.6F), std::bit_cast<std::uint32_t>(1.5F)};
  const auto gathered = [&](const std::string& opcode, const std::string& behind = "") {
    std::vector<float> four;
    for (const std::uint32_t word : device.fetch(opcode, handle, 1, words, behind))
      four.push_back(std::bit_cast<float>(word));
    return four;
  };
  EXPECT_EQ(gathered("tld4.r.2d.v4.f32.f32"), (std::vector<float>{9, 10, 6, 5}));
  EXPECT_EQ(gathered("tld4.g.2d.v4.f32.f32"), (std::vector<float>{109, 110, 106, 105}));
  EXPECT_EQ(gathered("tld4.r.2d.v4.f32.f32", ", {1, -1}"), (std::vector<float>{6, 7, 3, 2}));
  EXPECT_EQ(gathered("tld4.a.2d.v4.f32.f32"), (std::vector<float>{1, 1, 1, 1}));
}

TEST(Textures, ADirectionMeetsAFaceOfTheCube) {
  TextureDevice device;
  std::vector<float> texels;
  for (int face = 0; face < 12; ++face) {
    for (int i = 0; i < 4; ++i) texels.push_back(static_cast<float>(10 * face + i));
  }
  const std::uint64_t one = device.get().textures().create_texture(
      {.resource = device.array(Geometry::cube, {ChannelType::f32, 1}, {2, 2, 6}, texels)});
  const std::uint64_t two = device.get().textures().create_texture(
      {.resource = device.array(Geometry::cube_layered, {ChannelType::f32, 1}, {2, 2, 12}, texels)});
  // Texel 3 of a face has s and t above 0: of the guide's table, +x (s, t) = (-z, -y), -x (z, -y), +y (x, z), -y (x,
  // -z), +z (x, -y), -z (-x, -y).
  const std::array<std::array<float, 3>, 6> directions{
      {{5, -1, -1}, {-5, -1, 1}, {1, 5, 1}, {1, -5, -1}, {1, -1, 5}, {-1, -1, -5}}};
  Words plain;
  Words layered;
  for (const auto& direction : directions) {
    layered.push_back(1);
    for (const float value : direction) {
      plain.push_back(std::bit_cast<std::uint32_t>(value));
      layered.push_back(std::bit_cast<std::uint32_t>(value));
    }
  }
  EXPECT_EQ(device.floats(device.fetch("tex.cube.v4.f32.f32", one, 6, plain)),
            (std::vector<float>{3, 13, 23, 33, 43, 53}));
  EXPECT_EQ(device.floats(device.fetch("tex.acube.v4.f32.f32", two, 6, layered)),
            (std::vector<float>{63, 73, 83, 93, 103, 113}));
}

}  // namespace
}  // namespace convladder::simulated
