#include "harness/measure/verification/fresh_input.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "support/element_type.hpp"
#include "support/random_bits.hpp"

namespace convladder {
namespace {

/// The bits of each place of an image in a call: 32-bit arithmetic, which vector units have.
struct FreshBits {
  std::uint32_t low;
  std::uint32_t high;
  float of_all;  ///< a factor of the whole image: without it, the sum of very many elements would stay almost the same

  FreshBits(std::uint64_t seed, std::int64_t call, int image) {
    const std::uint64_t state = random_state(seed, static_cast<std::uint64_t>(call));
    const std::uint64_t key = random_bits(state, static_cast<std::uint64_t>(image));
    low = static_cast<std::uint32_t>(key);
    high = static_cast<std::uint32_t>(key >> 32U);
    of_all = 1.0F - static_cast<float>(random_bits(state, ~static_cast<std::uint64_t>(image)) >> 52U) * 0x1p-13F;
  }
  std::uint32_t at(std::uint32_t place) const {  // the finalizer of MurmurHash3, with a key between its steps
    std::uint32_t bits = place * 0x9e3779b1U ^ low;
    bits = (bits ^ (bits >> 16U)) * 0x85ebca6bU + high;
    bits = (bits ^ (bits >> 13U)) * 0xc2b2ae35U;
    return bits ^ (bits >> 16U);
  }
  /// Between 1/4 and 1.
  float part(std::uint32_t place) const {
    return of_all * (1.0F - static_cast<float>(static_cast<std::int32_t>(at(place) >> 9U)) * 0x1p-24F);
  }
};

/// The number from which distances are scaled: 0 where the range holds it, else the limit that is nearer to it.
double middle_of(const InputLayout& layout) {
  if (!layout.range) return 0;
  if (layout.range->low > 0) return layout.range->low;
  return layout.range->high < 0 ? layout.range->high : 0;
}

template <typename T>
T scaled(T value, float part, double from) {
  return from_double<T>(from + (to_double(value) - from) * double{part});
}

/// Scales `count` neighbouring elements of the problem's image, the first of which goes to place `at`.
template <typename T>
void write_scaled(T* to, const T* from, std::int64_t at, std::int64_t count, const FreshBits& bits, float factor,
                  double middle) {
  const auto first = static_cast<std::uint32_t>(at);
  if constexpr (std::is_same_v<T, float>) {
    if (middle == 0) {
#pragma omp simd
      for (std::int64_t i = 0; i < count; ++i) {
        to[i] = factor * from[i] * bits.part(first + static_cast<std::uint32_t>(i));
      }
      return;
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = scaled(from[i], bits.part(first + static_cast<std::uint32_t>(i)), middle);
  }
}

template <typename T>
void write_drawn(T* to, const T* from, const InputLayout& layout, std::int64_t first_element, std::int64_t at,
                 std::int64_t count, const FreshBits& bits) {
  const auto elements = static_cast<std::uint64_t>(layout.elements_per_image());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto place = static_cast<std::uint64_t>(at + i);
    const std::uint64_t drawn = bits.at(static_cast<std::uint32_t>(place));
    if (layout.may_move) {
      // Images of more than 2^32 elements are drawn from their first ones.
      to[i] = from[(drawn * std::min(elements, std::uint64_t{1} << 32U)) >> 32U];
    } else if ((drawn & 1U) == 0 || !layout.range) {
      const std::uint64_t source = place + static_cast<std::uint64_t>(first_element);
      to[i] = from[source < elements ? source : source - elements];
    } else {
      const double value = value_in_range(mix_bits(drawn ^ place << 32U), layout.range->low, layout.range->high);
      to[i] = from_double<T>(std::round(value));
    }
  }
}

}  // namespace

void write_fresh_elements(void* to, const InputChange& change, const InputLayout& layout, const void* input, int image,
                          std::int64_t call, std::int64_t first, std::int64_t count) {
  const FreshBits bits(change.of_tensor(layout).pokes, call, image);
  const std::int64_t elements = layout.elements_per_image();
  const std::int64_t begin = change.first_element(layout);
  with_element_type(layout.type, [&]<typename T>(T) {
    const T* const from = static_cast<const T*>(input) + change.source(image, layout.batch) * elements;
    T* const values = static_cast<T*>(to) + first;
    if (!is_floating(layout.type)) return write_drawn(values, from, layout, begin, first, count, bits);
    const double middle = middle_of(layout);
    for (std::int64_t done = 0; done < count;) {  // the elements lie in a circle
      const std::int64_t source = (begin + first + done) % elements;
      const std::int64_t now = std::min(count - done, elements - source);
      write_scaled(values + done, from + source, first + done, now, bits, change.factor, middle);
      done += now;
    }
  });
}

void write_image_of_call(void* to, const InputChange& change, const InputLayout& layout, const void* input, int image,
                         std::int64_t call) {
  if (change.fresh && !layout.stays_as_filled) {
    return write_fresh_elements(to, change, layout, input, image, call, 0, layout.elements_per_image());
  }
  write_changed_image(to, change, layout, input, image);
  if (change.pokes != 0) poke_image(to, change, layout, input, image, call);
}

}  // namespace convladder
