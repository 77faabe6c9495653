// The layout of a texel in memory, and the results of fetches and formatted stores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace convladder::simulated {

/// The type of a channel in memory.
enum class ChannelType : std::uint8_t { u8, s8, u16, s16, u32, s32, f16, f32 };

int channel_bytes(ChannelType type);
bool is_floating(ChannelType type);
bool is_signed_integer(ChannelType type);

/// A texel: 1, 2 or 4 consecutive channels of one type.
struct TexelFormat {
  ChannelType type = ChannelType::f32;
  int channels = 1;

  bool operator==(const TexelFormat&) const = default;
  int bytes() const { return channel_bytes(type) * channels; }
};

/// How a fetch reads an integer: as an integer, or as a number from 0 to 1 or -1 to 1 ("normalized float").
enum class ReadMode : std::uint8_t { element, normalized };

/// The channels as registers hold them: integers extended to 32 bits, floats in single precision. Channels that the
/// format lacks are 0, or 1 for the last one.
std::array<std::uint32_t, 4> texel_words(const TexelFormat& format, const std::byte* texel);

/// The channels as numbers: floats as they are, integers divided by the largest of their type, at least -1, rounded to
/// single precision. With `srgb` the first three channels of unsigned bytes are linearised (IEC 61966-2-1).
std::array<float, 4> texel_numbers(const TexelFormat& format, bool srgb, const std::byte* texel);

/// A formatted store (PTX ISA 9.0, 9.7.11.2, sust.p): converts 32-bit registers to the format's type. Integers that do
/// not fit become the nearest that does, floats of 16 bits are rounded to nearest even.
void store_texel(const TexelFormat& format, const std::array<std::uint32_t, 4>& words, int given, std::byte* texel);

}  // namespace convladder::simulated
