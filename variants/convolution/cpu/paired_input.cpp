#include "variants/convolution/cpu/paired_input.hpp"

#include <algorithm>
#include <cstring>

#include "variants/convolution/cpu/bfloat16_parts.hpp"

namespace convladder {
namespace {

/// Cuts numbers into their first two or all three parts, and pairs them in words.
struct CutAndPair {
  const float* low_halves;
  const float* high_halves;
  int count;
  std::int64_t part_words;
  std::uint32_t* to;

  template <typename Set>
  static void run(const CutAndPair& all, const int& parts) {
    with_constant<Bfloat16Parts::kCount>(parts, [&](auto kept) { all.template cut<kept>(); });
  }

 private:
  template <int kParts>
  [[gnu::always_inline]] void cut() const {
    std::uint32_t* __restrict const high = to;
    std::uint32_t* __restrict const middle = to + part_words;
    std::uint32_t* __restrict const low = to + 2 * part_words;
    const float* __restrict const first = low_halves;
    const float* __restrict const second = high_halves;
    const int words = count;  // a local copy: a store could change a member
    for (int i = 0; i < words; ++i) {
      const Bfloat16Parts a = bfloat16_parts(first[i]);
      const Bfloat16Parts b = bfloat16_parts(second[i]);
      high[i] = a.high | b.high << 16U;
      if constexpr (kParts > 1) middle[i] = a.middle | b.middle << 16U;
      if constexpr (kParts > 2) low[i] = a.low | b.low << 16U;
    }
  }
};

struct FillPanel {
  template <typename Set>
  static void run(const PanelTile& of_caller) {
    const PanelTile tile = of_caller;  // a local copy: a store could change the caller's
    if (tile.piece_count > kMostPieces) return fill_tile<Set, 0>(tile);
    with_constant<kMostPieces>(tile.piece_count, [&](auto pieces) { fill_tile<Set, pieces>(tile); });
  }

 private:
  static constexpr int kMostPieces = 3;  // compile-time constants: rows of eight outputs and more have no more
  static constexpr std::uint32_t kFirstOnly = 0x0000ffff;

  /// `kPieces` is 0 for any number.
  template <typename Set, int kPieces>
  [[gnu::always_inline]] static void fill_tile(const PanelTile& tile) {
    with_constant<Bfloat16Parts::kCount>(tile.parts, [&](auto parts) { fill_parts<Set, kPieces, parts>(tile); });
  }

  template <typename Set, int kPieces, int kParts>
  [[gnu::always_inline]] static void fill_parts(const PanelTile& tile) {
    constexpr int kVectors = kTileRows / Set::lanes;
    const int count = kPieces > 0 ? kPieces : tile.piece_count;
    Mask<Set> of_piece[kPieces > 0 ? kPieces : kTileRows][kVectors];
    for (int i = 1; i < count; ++i) {
      for (int v = 0; v < kVectors; ++v) {
        set_lanes_from<Set>(of_piece[i][v], tile.pieces[i].first_lane - v * Set::lanes);
      }
    }
    const auto fill_row = [&](int pair, auto is_whole) {
      std::uint32_t* const row =
          tile.to + (pair / kTileRows * kParts * kTileRows + pair % kTileRows) * std::int64_t{kTileRows};
      for (int part = 0; part < kParts; ++part) {
        const std::uint32_t* const words = tile.words + part * tile.part_words + tile.offsets[pair];
        for (int v = 0; v < kVectors; ++v) {
          Mask<Set> lanes;
          std::memcpy(&lanes, words + tile.pieces[0].from + v * Set::lanes, sizeof lanes);
          for (int i = 1; i < count; ++i) {
            Mask<Set> others;
            std::memcpy(&others, words + tile.pieces[i].from + v * Set::lanes, sizeof others);
            lanes = of_piece[i][v] ? others : lanes;
          }
          if constexpr (!is_whole) lanes &= static_cast<std::int32_t>(kFirstOnly);
          std::memcpy(row + part * kTileWords + v * Set::lanes, &lanes, sizeof lanes);
        }
      }
    };
    int pair = 0;
    for (; pair < tile.whole_pairs; ++pair) fill_row(pair, std::true_type());
    for (; pair < tile.pairs; ++pair) fill_row(pair, std::false_type());
    for (; pair < tile.steps * kTileRows; ++pair) {
      std::uint32_t* const row =
          tile.to + (pair / kTileRows * kParts * kTileRows + pair % kTileRows) * std::int64_t{kTileRows};
      for (int part = 0; part < kParts; ++part) std::memset(row + part * kTileWords, 0, kTileRowBytes);
    }
  }
};

}  // namespace

std::vector<TapPair> tap_pairs(const ConvShape& shape) {
  const int kernel = shape.kernel;
  const int taps = kernel * kernel;
  const int channels = shape.channels_per_group();
  std::vector<TapPair> pairs;
  for (int plane = 0; plane < channels / 2; ++plane) {
    for (int tap = 0; tap < taps; ++tap) {
      const int first = 2 * plane * taps + tap;
      pairs.push_back({plane, tap / kernel, tap % kernel, first, first + taps});
    }
  }
  if (channels % 2 == 0) return pairs;
  const int first_of_last = (channels - 1) * taps;
  for (int row = 0; row < kernel; ++row) {
    for (int column = 0; column + 1 < kernel; column += 2) {
      const int first = first_of_last + row * kernel + column;
      pairs.push_back({channels / 2, row, column, first, first + 1});
    }
  }
  for (int row = 0; kernel % 2 == 1 && row < kernel; ++row) {
    pairs.push_back({channels / 2, row, kernel - 1, first_of_last + row * kernel + kernel - 1, -1});
  }
  return pairs;
}

PairedInput::PairedInput(const ConvShape& shape, int rows, int planes, int images, int parts)
    : shape_(&shape),
      parts_(parts),
      tile_(shape, shape.stride, rows, 2 * planes),
      part_words_(tile_.tap_offset(planes, 0, 0) + InputTile::kSlack),
      words_(static_cast<std::size_t>(kTileRows + images * parts * part_words_)) {}

void PairedInput::load(InstructionSet::Kind set, const float* channels, int first_plane, int planes, int first_row,
                       int image) {
  const int first_channel = 2 * first_plane;
  const int count = std::min(2 * planes, shape_->channels_per_group() - first_channel);
  tile_.load(channels + std::int64_t{first_channel} * shape_->height * shape_->width, first_row, count);
  const int of_channel = tile_.tap_offset(1, 0, 0);
  std::uint32_t* const to = words_.data() + kTileRows + image * parts_ * part_words_;
  const auto cut = [&](int channel, int from, int words, int to_other) {
    const float* const one = tile_.pixels() + channel * of_channel + from;
    const CutAndPair part{one, one + to_other, words, part_words_, to + channel / 2 * of_channel + from};
    run_with<CutAndPair>(set, part, parts_);
  };
  for (int channel = 0; channel + 1 < count; channel += 2) cut(channel, 0, of_channel, of_channel);
  if (count % 2 == 0) return;
  // A pair begins at an even column of the filter.
  const int phases_apart = shape_->stride % 2 == 0 ? 2 : 1;
  for (int phase = 0; phase < shape_->stride; phase += phases_apart) {
    const int to_right = tile_.tap_offset(0, 0, phase + 1) - tile_.tap_offset(0, 0, phase);
    for (int row_phase = 0; row_phase < shape_->stride; ++row_phase) {
      cut(count - 1, tile_.tap_offset(0, row_phase, phase), tile_.plane(), to_right);
    }
  }
}

void fill(InstructionSet::Kind set, const PanelTile& tile) { run_with<FillPanel>(set, tile); }

}  // namespace convladder
