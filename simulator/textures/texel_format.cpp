#include "simulator/textures/texel_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/half.hpp"

namespace convladder::simulated {
namespace {

template <typename T>
T channel(const std::byte* texel, int index) {
  T value;
  std::memcpy(&value, texel + sizeof(T) * static_cast<std::size_t>(index), sizeof value);
  return value;
}

template <typename T>
void put(std::byte* texel, int index, T value) {
  std::memcpy(texel + sizeof(T) * static_cast<std::size_t>(index), &value, sizeof value);
}

std::uint32_t word_of(ChannelType type, const std::byte* texel, int index) {
  switch (type) {
    case ChannelType::u8:
      return channel<std::uint8_t>(texel, index);
    case ChannelType::s8:
      return static_cast<std::uint32_t>(channel<std::int8_t>(texel, index));
    case ChannelType::u16:
      return channel<std::uint16_t>(texel, index);
    case ChannelType::s16:
      return static_cast<std::uint32_t>(channel<std::int16_t>(texel, index));
    case ChannelType::f16:
      return std::bit_cast<std::uint32_t>(to_float(Half{channel<std::uint16_t>(texel, index)}));
    default:
      return channel<std::uint32_t>(texel, index);
  }
}

/// The largest integer of a type, which is no float.
float largest(ChannelType type) {
  switch (type) {
    case ChannelType::u8:
      return std::numeric_limits<std::uint8_t>::max();
    case ChannelType::s8:
      return std::numeric_limits<std::int8_t>::max();
    case ChannelType::u16:
      return std::numeric_limits<std::uint16_t>::max();
    default:
      return std::numeric_limits<std::int16_t>::max();
  }
}

float linearised(float value) {
  const double v = value;
  return static_cast<float>(v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
}

template <typename T>
T saturated(std::int64_t value) {
  return static_cast<T>(std::clamp<std::int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

}  // namespace

int channel_bytes(ChannelType type) {
  switch (type) {
    case ChannelType::u8:
    case ChannelType::s8:
      return 1;
    case ChannelType::u16:
    case ChannelType::s16:
    case ChannelType::f16:
      return 2;
    default:
      return 4;
  }
}

bool is_floating(ChannelType type) { return type == ChannelType::f16 || type == ChannelType::f32; }

bool is_signed_integer(ChannelType type) {
  return type == ChannelType::s8 || type == ChannelType::s16 || type == ChannelType::s32;
}

std::array<std::uint32_t, 4> texel_words(const TexelFormat& format, const std::byte* texel) {
  std::array<std::uint32_t, 4> words{0, 0, 0, is_floating(format.type) ? std::bit_cast<std::uint32_t>(1.0F) : 1U};
  for (int i = 0; i < format.channels; ++i) words[static_cast<std::size_t>(i)] = word_of(format.type, texel, i);
  return words;
}

std::array<float, 4> texel_numbers(const TexelFormat& format, bool srgb, const std::byte* texel) {
  std::array<float, 4> numbers{0, 0, 0, 1};
  for (int i = 0; i < format.channels; ++i) {
    const std::uint32_t word = word_of(format.type, texel, i);
    float& number = numbers[static_cast<std::size_t>(i)];
    if (is_floating(format.type)) {
      number = std::bit_cast<float>(word);
    } else if (is_signed_integer(format.type)) {
      number = std::max(-1.0F, static_cast<float>(static_cast<std::int32_t>(word)) / largest(format.type));
    } else {
      number = static_cast<float>(word) / largest(format.type);
      if (srgb && i < 3) number = linearised(number);
    }
  }
  return numbers;
}

void store_texel(const TexelFormat& format, const std::array<std::uint32_t, 4>& words, int given, std::byte* texel) {
  for (int i = 0; i < std::min(given, format.channels); ++i) {
    const std::uint32_t word = words[static_cast<std::size_t>(i)];
    const auto as_signed = static_cast<std::int32_t>(word);
    switch (format.type) {
      case ChannelType::u8:
        put(texel, i, saturated<std::uint8_t>(word));
        break;
      case ChannelType::s8:
        put(texel, i, saturated<std::int8_t>(as_signed));
        break;
      case ChannelType::u16:
        put(texel, i, saturated<std::uint16_t>(word));
        break;
      case ChannelType::s16:
        put(texel, i, saturated<std::int16_t>(as_signed));
        break;
      case ChannelType::f16:
        put(texel, i, round_to<Half>(std::bit_cast<float>(word)).bits);
        break;
      default:
        put(texel, i, word);
    }
  }
}

}  // namespace convladder::simulated
