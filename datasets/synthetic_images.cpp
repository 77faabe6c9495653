#include "datasets/synthetic_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "datasets/canvas.hpp"
#include "datasets/garments.hpp"
#include "support/seeded_random.hpp"
#include "support/sha256.hpp"

namespace convladder {
namespace {

constexpr int classes = static_cast<int>(garment_names.size());
constexpr int image_size = Canvas::size * Canvas::size;
constexpr int kImagesOfTheHash = 10;  // every class once

// Images draw from the streams 2 * index, the order of the classes from the odd ones.
std::uint64_t image_stream(int index) { return 2 * static_cast<std::uint64_t>(index); }
std::uint64_t order_stream(int group) { return 2 * static_cast<std::uint64_t>(group) + 1; }

/// The class of image `index`: its place in a shuffled deck of all classes (Fisher-Yates), one deck for every ten.
int label_of(int index, std::uint64_t seed) {
  SeededRandom random(seed, order_stream(index / classes));
  std::array<int, classes> deck{};
  for (int i = 0; i < classes; ++i) deck[static_cast<std::size_t>(i)] = i;
  for (int i = classes - 1; i > 0; --i) {
    std::swap(deck[static_cast<std::size_t>(i)], deck[static_cast<std::size_t>(random.between(0, i))]);
  }
  return deck[static_cast<std::size_t>(index % classes)];
}

Placement random_placement(SeededRandom& random) {
  const int scale = random.between(830, 1060);
  return {.scale_x = scale * random.between(90, 110) / 100,
          .scale_y = scale * random.between(92, 106) / 100,
          .shear = random.between(-110, 110),
          .shift_x = random.between(-380, 380),
          .shift_y = random.between(-300, 300)};
}

/// How much darker the cloth is at a pixel.
class Texture {
 public:
  explicit Texture(SeededRandom& random)
      : pattern_(random.between(0, 6)),
        depth_(random.between(10, 80)),
        period_(random.between(2, 6)),
        phase_(random.between(0, 5)),
        slope_(random.between(-2, 2)) {}

  int at(int row, int column) const {
    const int shade = slope_ * (column - Canvas::size / 2);
    switch (pattern_) {
      case 0:
        return shade + depth_ * stripe(row);
      case 1:
        return shade + depth_ * stripe(column);
      case 2:
        return shade + depth_ * (stripe(row) ^ stripe(column));
      case 3:
        return shade + depth_ * stripe(row + column);
      default:
        return shade;
    }
  }

 private:
  int stripe(int position) const { return (position + phase_) / ((period_ + 1) / 2) & 1; }

  int pattern_;
  int depth_;
  int period_;
  int phase_;
  int slope_;
};

/// Two bytes of a random number make a triangular distribution, close enough to the noise of a sensor.
void add_noise(std::span<int> pixels, SeededRandom& random) {
  const int strength = random.between(6, 40);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (i % 4 == 0) bits = random.next();
    const int difference = static_cast<int>(bits & 255) - static_cast<int>(bits >> 8 & 255);
    bits >>= 16;
    pixels[i] += difference * strength / 256;
  }
}

void draw_image(int index, int label, std::uint64_t seed, std::uint8_t* out) {
  SeededRandom random(seed, image_stream(index));
  Canvas canvas(random_placement(random));
  draw_garment(label, canvas, random, random.between(90, 245));
  const Texture texture(random);
  std::array<int, image_size>& pixels = canvas.pixels();
  for (int i = 0; i < image_size; ++i) {
    int& value = pixels[static_cast<std::size_t>(i)];
    // Scaled by the brightness, so that soft edges stay soft and black stays black.
    value -= value * texture.at(i / Canvas::size, i % Canvas::size) / 256;
  }
  add_noise(pixels, random);
  for (const int value : pixels) *out++ = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

}  // namespace

ImageSet synthetic_images(int count, std::uint64_t seed) {
  ImageSet set;
  set.name = "synthetic";
  set.source = fmt::format("garments drawn with seed {}", seed);
  set.count = count;
  set.height = Canvas::size;
  set.width = Canvas::size;
  set.pixels.resize(static_cast<std::size_t>(count) * image_size);
  set.labels.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const int label = label_of(i, seed);
    set.labels.push_back(static_cast<std::uint8_t>(label));
    draw_image(i, label, seed, set.pixels.data() + static_cast<std::size_t>(i) * image_size);
  }
  // The first images are the same however many there are, and so runs of other batches can be compared.
  set.sha256 = count < kImagesOfTheHash
                   ? synthetic_images(kImagesOfTheHash, seed).sha256
                   : sha256_hex(std::span(set.pixels).first(static_cast<std::size_t>(kImagesOfTheHash) * image_size));
  set.class_names.assign(garment_names.begin(), garment_names.end());
  return set;
}

}  // namespace convladder
