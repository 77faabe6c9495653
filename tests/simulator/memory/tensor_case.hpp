// A box of a tensor, what belongs into it by a reference that looks up every element by itself, and kernels that copy
// it by tensor map.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "simulator/memory/tensor_map.hpp"
#include "simulator/ptx_kernels.hpp"

namespace convladder::simulated::tensor_copies {

using Bytes = std::vector<std::uint8_t>;

inline constexpr std::uint32_t kShared = 12288;  // bytes, of which the box begins at an offset that a test gives
inline constexpr std::uint8_t kUntouched = 0xee;

/// A kernel whose parameters are `out`, a tensor map, and eight numbers that become %r10 to %r17. Before `copy` all of
/// shared memory is kUntouched, and thread 0 has told the mbarrier `bar` to expect %r20 bytes.
inline std::string tensor_kernel(const std::string& copy, const std::string& after) {
  std::string numbers;
  for (int i = 0; i < 8; ++i) numbers += fmt::format("ld.param.u32 %r{}, [n+{}];\n", 10 + i, 4 * i);
  return kernel_text(
      ".param .u64 out, .param .align 64 .b8 map[128], .param .align 4 .b8 n[32], .param .u32 expected",
      ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .b16 %h<9>;\n"
      ".shared .align 1024 .b8 s[12288]; .shared .align 8 .b8 bar[8];\n"
      "ld.param.u64 %rd1, [out]; mov.b64 %rd2, map; cvta.param.u64 %rd3, %rd2; ld.param.u32 %r20, [expected];\n" +
          numbers +
          "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r4, %r3, %r2; mov.u32 %r5, 0xeeeeeeee;\n"
          "mov.u32 %r6, 0;\nfill: st.shared.u32 [%r4], %r5; add.u32 %r4, %r4, 128; add.u32 %r6, %r6, 128;\n"
          "setp.lt.u32 %p1, %r6, 12288; @%p1 bra fill; fence.proxy.async;\nmov.u32 %r7, bar; setp.eq.u32 %p2, %r1, 0;\n"
          "@%p2 mbarrier.init.shared.b64 [%r7], 1; bar.sync 0;\n@!%p2 bra begun;\n"
          "mbarrier.arrive.expect_tx.shared.b64 %rd4, [%r7], %r20;\n" +
          copy + "\nbegun: bar.sync 0;\n" + after + "ret;");
}

inline const std::string kWaitAndShow =
    "wait: mbarrier.try_wait.parity.shared.b64 %p3, [%r7], 0; @!%p3 bra wait;\n"
    "mov.u32 %r6, 0; cvt.u64.u32 %rd5, %r2; add.u64 %rd6, %rd1, %rd5; add.u32 %r4, %r3, %r2;\n"
    "show: ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd6], %r5; add.u32 %r4, %r4, 128; add.u64 %rd6, %rd6, 128;\n"
    "add.u32 %r6, %r6, 128; setp.lt.u32 %p1, %r6, 12288; @%p1 bra show;\n";

/// In which 16 bytes of a line of 128 those lie that belong in each: the tables of PTX ISA 9.0, 5.5.7.
inline std::vector<std::array<int, 8>> swizzle_table(int swizzle) {
  switch (swizzle) {
    case 1:
      return {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}};
    case 2:
      return {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4}};
    case 3:
      return {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
              {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2}, {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
    case 4:
    case 5:
      return {{0, 1, 2, 3, 4, 5, 6, 7}, {2, 3, 0, 1, 6, 7, 4, 5}, {4, 5, 6, 7, 0, 1, 2, 3}, {6, 7, 4, 5, 2, 3, 0, 1}};
    case 6:
      return {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}};
    default:
      return {{0, 1, 2, 3, 4, 5, 6, 7}};
  }
}

inline std::size_t swizzled(int swizzle, std::size_t offset) {
  const auto table = swizzle_table(swizzle);
  const std::size_t line = offset / 128;
  const auto& row = table[line % table.size()];
  const auto chunk = static_cast<int>(offset / 16 % 8);
  const auto place = static_cast<std::size_t>(std::ranges::find(row, chunk) - row.begin());
  std::size_t result = line * 128 + place * 16 + offset % 16;
  if (swizzle == 5 && line % 2 == 1) result ^= 8;
  return result;
}

/// A tensor with its bytes, and a box of it.
struct Case {
  TensorDescription tensor;
  std::vector<std::uint32_t> box;
  std::vector<int> first;
  std::vector<int> lower;  // of im2col, otherwise empty
  std::vector<int> upper;
  std::vector<int> offsets;
  std::uint32_t channels = 0;
  std::uint32_t pixels = 0;
  std::size_t element = 1;  // bytes
  std::size_t at = 0;       // of the box in shared memory

  bool is_im2col() const { return pixels > 0; }
  std::size_t rank() const { return tensor.sizes.size(); }
  int step(std::size_t i) const {
    return tensor.element_strides.empty() ? 1 : static_cast<int>(tensor.element_strides[i]);
  }
  TensorMap map() const {
    return is_im2col() ? encode_im2col(tensor, lower, upper, channels, pixels) : encode_tiled(tensor, box);
  }

  /// The coordinates of every element of the box, in order.
  std::vector<std::vector<long>> elements() const {
    std::vector<std::vector<long>> all;
    if (!is_im2col()) {
      std::vector<long> counts;
      for (std::size_t i = 0; i < rank(); ++i) counts.push_back(i == 0 ? box[0] : (box[i] + step(i) - 1) / step(i));
      long total = 1;
      for (const long count : counts) total *= count;
      for (long e = 0; e < total; ++e) {
        std::vector<long> coordinates;
        long rest = e;
        for (std::size_t i = 0; i < rank(); ++i) {
          coordinates.push_back(first[i] + rest % counts[i] * (i == 0 ? 1 : step(i)));
          rest /= counts[i];
        }
        all.push_back(coordinates);
      }
      return all;
    }
    // Every place of the filter in all images, in order; the box begins at the given one.
    const std::size_t image = rank() - 1;
    std::vector<std::vector<long>> places = {{}};
    for (std::size_t i = image - 1; i >= 1; --i) {
      std::vector<std::vector<long>> longer;
      for (const auto& place : places) {
        for (long x = lower[i - 1]; x < static_cast<long>(tensor.sizes[i]) + upper[i - 1]; x += step(i)) {
          longer.push_back(place);
          longer.back().insert(longer.back().begin(), x);
        }
      }
      places = longer;
    }
    std::size_t number = 0;
    const std::vector<long> wanted(first.begin() + 1, first.end() - 1);
    while (places[number] != wanted) ++number;
    for (std::size_t p = 0; p < pixels; ++p) {
      const auto& place = places[(number + p) % places.size()];
      for (std::uint32_t c = 0; c < channels; ++c) {
        std::vector<long> coordinates = {first[0] + static_cast<long>(c)};
        for (std::size_t i = 0; i < place.size(); ++i) coordinates.push_back(place[i] + offsets[i]);
        coordinates.push_back(first[image] + static_cast<long>((number + p) / places.size()));
        all.push_back(coordinates);
      }
    }
    return all;
  }

  /// The byte of the tensor where an element begins; none outside of it.
  std::optional<std::size_t> byte_of(const std::vector<long>& coordinates) const {
    std::size_t byte = 0;
    for (std::size_t i = 0; i < rank(); ++i) {
      if (coordinates[i] < 0 || coordinates[i] >= static_cast<long>(tensor.sizes[i])) return std::nullopt;
      byte += static_cast<std::size_t>(coordinates[i]) * (i == 0 ? element : tensor.strides[i - 1]);
    }
    return byte;
  }

  std::size_t tensor_bytes() const {
    return rank() == 1 ? tensor.sizes[0] * element : tensor.strides.back() * tensor.sizes.back();
  }

  Bytes expected(const Bytes& values) const {
    Bytes shared(kShared, kUntouched);
    std::size_t offset = at;
    for (const auto& coordinates : elements()) {
      const auto byte = byte_of(coordinates);
      for (std::size_t b = 0; b < element; ++b) {
        const std::uint8_t fill = tensor.fill == 0 ? 0 : b % 2 == 0 ? 0xf7 : 0x7f;
        shared[swizzled(tensor.swizzle, offset + b)] = byte ? values[*byte + b] : fill;
      }
      offset += element;
    }
    return shared;
  }

  std::string place(const std::string& map_address) const {
    std::string text = fmt::format("[{}, {{", map_address);
    for (std::size_t i = 0; i < rank(); ++i) text += fmt::format("{}%r{}", i > 0 ? ", " : "", 10 + i);
    return text + "}]";
  }
};

struct Loaded {
  Bytes shared;
  InstructionCounters counters;
};

inline constexpr const char* kTile = ".shared::cluster.global.tile.mbarrier::complete_tx::bytes";

inline void set_numbers(KernelRun& run, const Case& box) {
  std::array<int, 8> numbers{};
  std::ranges::copy(box.first, numbers.begin());
  std::ranges::copy(box.offsets, numbers.begin() + 5);
  run.set(2, numbers);
  run.set(3, static_cast<std::uint32_t>(box.elements().size() * box.element));
}

inline Loaded load(Case box, const Bytes& values) {
  std::string offsets;
  for (std::size_t i = 0; i < box.offsets.size(); ++i) offsets += fmt::format("{}%h{}", i > 0 ? ", " : "", i + 1);
  const std::string opcode =
      fmt::format("cp.async.bulk.tensor.{}d{}", box.rank(),
                  box.is_im2col() ? ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes" : kTile);
  KernelRun run(tensor_kernel(
      fmt::format("cvt.u16.u32 %h1, %r15; cvt.u16.u32 %h2, %r16; cvt.u16.u32 %h3, %r17; add.u32 %r8, %r3, {};\n"
                  "{} [%r8], {}, [%r7]{};",
                  box.at, opcode, box.place("%rd3"), box.is_im2col() ? fmt::format(", {{{}}}", offsets) : ""),
      kWaitAndShow));
  box.tensor.address = run.array(values, "tensor");
  const std::uint64_t out = run.array(Bytes(kShared), "out");
  run.set(0, out);
  run.set(1, box.map());
  set_numbers(run, box);
  const LaunchResult result = run.launch({1}, {32});
  return {run.read<std::uint8_t>(out, kShared), run.of(result, opcode)};
}

inline Bytes noise_bytes(std::size_t count) {
  std::mt19937 generator(7);
  Bytes values(count);
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(generator() % 255);
  return values;
}

/// 2D, 16-bit elements, 64 x 8 of 100 x 20.
inline Case plain_case() {
  Case box;
  box.tensor = {.type = 1, .address = 0, .sizes = {100, 20}, .strides = {208}};
  box.box = {64, 8};
  box.first = {3, 5};
  box.element = 2;
  return box;
}

}  // namespace convladder::simulated::tensor_copies
