// Drawings of the ten classes of garments of Fashion-MNIST, each with random proportions.
#pragma once

#include <array>
#include <string_view>

#include "datasets/canvas.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

inline constexpr std::array<std::string_view, 10> garment_names = {
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};

/// Draws a garment of the class `label` (0..9, index into garment_names) in about the given brightness (60..255).
void draw_garment(int label, Canvas& canvas, SeededRandom& random, int brightness);

}  // namespace convladder
