// Copies by tensor map, held against a reference that looks up every element of the box by itself.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "devices/ptx_kernels.hpp"
#include "devices/simulated/checkers/initialization_checker.hpp"
#include "devices/simulated/checkers/race_checker.hpp"
#include "devices/simulated/checkers/written_allocations.hpp"
#include "devices/simulated/memory/tensor_map.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kShared = 12288;  // bytes, of which the box begins at an offset that a test gives
constexpr std::uint8_t kUntouched = 0xee;

/// A kernel whose parameters are `out`, a tensor map, and eight numbers that become %r10 to %r17. Before `copy` all of
/// shared memory is kUntouched, and thread 0 has told the mbarrier `bar` to expect %r20 bytes.
std::string tensor_kernel(const std::string& copy, const std::string& after) {
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
          "setp.lt.u32 %p1, %r6, 12288; @%p1 bra fill;\nmov.u32 %r7, bar; setp.eq.u32 %p2, %r1, 0;\n"
          "@%p2 mbarrier.init.shared.b64 [%r7], 1; bar.sync 0;\n@!%p2 bra begun;\n"
          "mbarrier.arrive.expect_tx.shared.b64 %rd4, [%r7], %r20;\n" +
          copy + "\nbegun: bar.sync 0;\n" + after + "ret;");
}

const std::string kWaitAndShow =
    "wait: mbarrier.try_wait.parity.shared.b64 %p3, [%r7], 0; @!%p3 bra wait;\n"
    "mov.u32 %r6, 0; cvt.u64.u32 %rd5, %r2; add.u64 %rd6, %rd1, %rd5; add.u32 %r4, %r3, %r2;\n"
    "show: ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd6], %r5; add.u32 %r4, %r4, 128; add.u64 %rd6, %rd6, 128;\n"
    "add.u32 %r6, %r6, 128; setp.lt.u32 %p1, %r6, 12288; @%p1 bra show;\n";

/// In which 16 bytes of a line of 128 those lie that belong in each: the tables of PTX ISA 9.0, 5.5.7.
std::vector<std::array<int, 8>> swizzle_table(int swizzle) {
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

std::size_t swizzled(int swizzle, std::size_t offset) {
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

constexpr const char* kTile = ".shared::cluster.global.tile.mbarrier::complete_tx::bytes";

void set_numbers(KernelRun& run, const Case& box) {
  std::array<int, 8> numbers{};
  std::ranges::copy(box.first, numbers.begin());
  std::ranges::copy(box.offsets, numbers.begin() + 5);
  run.set(2, numbers);
  run.set(3, static_cast<std::uint32_t>(box.elements().size() * box.element));
}

Loaded load(Case box, const Bytes& values) {
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

Bytes noise_bytes(std::size_t count) {
  std::mt19937 generator(7);
  Bytes values(count);
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(generator() % 255);
  return values;
}

constexpr std::array<int, 10> kTypes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};  // but those that a copy changes
constexpr std::array<std::size_t, 10> kElementBytes = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};

/// A tensor of `rank` dimensions and a box that may reach out of it on every side.
Case random_case(std::mt19937& random, std::size_t rank, bool im2col) {
  const auto pick = [&random](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  Case box;
  const int type = pick(0, 9);
  box.tensor.type = kTypes[static_cast<std::size_t>(type)];
  box.element = kElementBytes[static_cast<std::size_t>(type)];
  box.tensor.swizzle = pick(0, 6);
  box.tensor.fill = type >= 6 ? pick(0, 1) : 0;
  box.at = static_cast<std::size_t>(pick(0, 9)) * 128;
  const std::array<int, 7> spans = {0, 32, 64, 128, 128, 128, 128};
  const int most_units = box.tensor.swizzle == 0 ? 4 : spans[static_cast<std::size_t>(box.tensor.swizzle)] / 16;
  const auto inner = static_cast<std::uint32_t>(static_cast<std::size_t>(pick(1, most_units)) * 16 / box.element);
  std::size_t stride = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    box.tensor.sizes.push_back(static_cast<std::uint64_t>(pick(1, i == 0 ? 70 : 7)));
    if (i == 0) {
      stride = (box.tensor.sizes[0] * box.element + 15) / 16 * 16 + static_cast<std::size_t>(pick(0, 1)) * 16;
    } else {
      box.tensor.strides.push_back(stride);
      stride *= box.tensor.sizes[i];
    }
    const bool is_image = im2col && i == rank - 1;
    box.tensor.element_strides.push_back(static_cast<std::uint32_t>(is_image ? 1 : pick(1, 3)));
    box.box.push_back(i == 0 ? inner : static_cast<std::uint32_t>(pick(1, rank >= 4 ? 3 : 5)));
    box.first.push_back(pick(-5, static_cast<int>(box.tensor.sizes[i]) + 1));
  }
  if (!im2col) return box;
  box.channels = inner;
  box.pixels = static_cast<std::uint32_t>(pick(1, 40));
  for (std::size_t i = 1; i + 1 < rank; ++i) {
    box.lower.push_back(pick(-2, 1));
    const int most = static_cast<int>(box.tensor.sizes[i]);
    box.upper.push_back(std::max(pick(-3, 2), box.lower.back() + 1 - most));
    box.offsets.push_back(pick(0, 3));
    const int places = (most + box.upper.back() - box.lower.back() + box.step(i) - 1) / box.step(i);
    box.first[i] = box.lower.back() + box.step(i) * pick(0, places - 1);
  }
  return box;
}

TEST(TensorCopy, LoadsTheBoxThatTheReferenceHas) {
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    const Case box = random_case(random, static_cast<std::size_t>(i % 5) + 1, false);
    const Bytes values = noise_bytes(box.tensor_bytes());
    ASSERT_EQ(load(box, values).shared, box.expected(values)) << "case " << i;
  }
}

TEST(TensorCopy, LoadsColumnsOfPixels) {
  std::mt19937 random(2);
  for (int i = 0; i < 60; ++i) {
    const Case box = random_case(random, static_cast<std::size_t>(i % 3) + 3, true);
    const Bytes values = noise_bytes(box.tensor_bytes());
    ASSERT_EQ(load(box, values).shared, box.expected(values)) << "case " << i;
  }
}

/// 2D, 16-bit elements, 64 x 8 of 100 x 20.
Case plain_case() {
  Case box;
  box.tensor = {.type = 1, .address = 0, .sizes = {100, 20}, .strides = {208}};
  box.box = {64, 8};
  box.first = {3, 5};
  box.element = 2;
  return box;
}

TEST(TensorCopy, CountsTheSectorsOfTheRowsThatItReads) {
  const Case box = plain_case();
  const InstructionCounters counters = load(box, noise_bytes(box.tensor_bytes())).counters;
  std::uint64_t sectors = 0;
  for (std::uint64_t row = 5; row < 13; ++row) {
    const std::uint64_t begin = row * 208 + 6;  // the tensor begins at a multiple of 256
    sectors += (begin + 127) / 32 - begin / 32 + 1;
  }
  EXPECT_EQ(counters.sectors, sectors);
  EXPECT_EQ(counters.bytes, 64U * 8 * 2);
  EXPECT_EQ(counters.requests, 1U);
  EXPECT_EQ(counters.wavefronts, 64U * 8 * 2 / 128 + 1);  // and the mbarrier's
}

/// Stores a box of shared memory that holds its own offsets, and returns the tensor.
Bytes store(Case box, const Bytes& values, const std::string& opcode) {
  KernelRun run(tensor_kernel(fmt::format("add.u32 %r8, %r3, {};\nmov.u32 %r21, 0; own: add.u32 %r22, %r3, %r21;\n"
                                          "mul.lo.u32 %r23, %r21, 0x9E3779B1; st.shared.u32 [%r22], %r23;\n"
                                          "add.u32 %r21, %r21, 4; setp.lt.u32 %p1, %r21, 12288; @%p1 bra own;\n"
                                          "{} {}, [%r8];\ncp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
                                          box.at, opcode, box.place("%rd3")),
                              ""));
  box.tensor.address = run.array(values, "tensor");
  run.set(0, std::uint64_t{0});
  run.set(1, box.map());
  set_numbers(run, box);
  run.launch({1}, {32});
  return run.read<std::uint8_t>(box.tensor.address, values.size());
}

Bytes own_offsets() {
  Bytes shared(kShared);
  for (std::uint32_t i = 0; i < kShared; i += 4) {
    const std::uint32_t value = i * 0x9E3779B1U;
    std::memcpy(shared.data() + i, &value, 4);
  }
  return shared;
}

TEST(TensorCopy, StoresWhatLiesInsideOfTheTensor) {
  std::mt19937 random(3);
  const Bytes shared = own_offsets();
  for (int i = 0; i < 100; ++i) {
    const bool im2col = i % 5 == 4;
    Case box =
        random_case(random, im2col ? static_cast<std::size_t>(i % 3) + 3 : static_cast<std::size_t>(i % 5) + 1, im2col);
    for (int& first : box.first) first = std::abs(first);
    for (std::size_t d = 0; d < box.lower.size(); ++d) {
      box.lower[d] = 0;
      box.upper[d] = 0;
      box.offsets[d] = 0;
      box.first[d + 1] = 0;
    }
    const Bytes values = noise_bytes(box.tensor_bytes());
    Bytes expected = values;
    std::size_t offset = box.at;
    for (const auto& coordinates : box.elements()) {
      if (const auto byte = box.byte_of(coordinates)) {
        for (std::size_t b = 0; b < box.element; ++b) {
          expected[*byte + b] = shared[swizzled(box.tensor.swizzle, offset + b)];
        }
      }
      offset += box.element;
    }
    const std::string opcode = fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.{}.bulk_group", box.rank(),
                                           im2col ? "im2col_no_offs" : "tile");
    ASSERT_EQ(store(box, values, opcode), expected) << "case " << i;
  }
}

TEST(TensorCopy, ReducesByTheTypeOfTheElements) {
  Case box = plain_case();
  box.tensor.type = 2;
  box.tensor.sizes = {40, 20};
  box.element = 4;
  box.box = {32, 8};
  box.tensor.swizzle = 3;
  const Bytes values = noise_bytes(box.tensor_bytes());
  const Bytes shared = own_offsets();
  const auto expected = [&](auto&& combine) {
    Bytes result = values;
    std::size_t offset = 0;
    for (const auto& coordinates : box.elements()) {
      if (const auto byte = box.byte_of(coordinates)) {
        std::uint32_t a = 0;
        std::uint32_t b = 0;
        std::memcpy(&a, &result[*byte], 4);
        std::memcpy(&b, &shared[swizzled(3, offset)], 4);
        a = combine(a, b);
        std::memcpy(&result[*byte], &a, 4);
      }
      offset += 4;
    }
    return result;
  };
  using U = std::uint32_t;
  const auto reduced = [&](const std::string& operation) {
    return store(box, values,
                 fmt::format("cp.reduce.async.bulk.tensor.2d.global.shared::cta.{}.bulk_group", operation));
  };
  EXPECT_EQ(reduced("add"), expected([](U a, U b) { return a + b; }));
  EXPECT_EQ(reduced("min"), expected([](U a, U b) { return std::min(a, b); }));
  EXPECT_EQ(reduced("xor"), expected([](U a, U b) { return a ^ b; }));
  box.tensor.type = 3;
  EXPECT_EQ(reduced("max"), expected([](U a, U b) {
              return static_cast<U>(std::max(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
            }));
  box.tensor.type = 11;  // tf32
  EXPECT_THROW(reduced("add"), KernelFault);
}

TEST(TensorCopy, RoundsElementsOfTf32) {
  Case box = plain_case();
  box.tensor = {.type = 11, .address = 0, .sizes = {4}, .strides = {}};
  box.box = {4};
  box.first = {0};
  box.element = 4;
  const std::array<std::uint32_t, 4> values = {0x3f801000, 0x3f803000, 0x3f800fff, 0xff800000};
  Bytes bytes(16);
  std::memcpy(bytes.data(), values.data(), 16);
  const Bytes shared = load(box, bytes).shared;
  std::array<std::uint32_t, 4> found{};
  std::memcpy(found.data(), shared.data(), 16);
  EXPECT_EQ(found, (std::array<std::uint32_t, 4>{0x3f800000, 0x3f804000, 0x3f800000, 0xff800000}));
}

TEST(TensorCopy, GathersAndScattersFourRows) {
  Case box = plain_case();
  box.box = {32, 1};
  const Bytes values = noise_bytes(box.tensor_bytes());
  const std::array<int, 4> rows = {7, 0, 19, 20};  // the last is outside
  const auto run_with = [&](const std::string& copy, const std::string& after, std::uint64_t& tensor) {
    KernelRun run(tensor_kernel(copy, after));
    tensor = run.array(values, "tensor");
    Case here = box;
    here.tensor.address = tensor;
    const std::uint64_t out = run.array(Bytes(kShared), "out");
    run.set(0, out);
    run.set(1, here.map());
    run.set(2, std::array<int, 8>{2, rows[0], rows[1], rows[2], rows[3]});
    run.set(3, 256U);
    run.launch({1}, {32});
    return std::pair(run.read<std::uint8_t>(out, 256), run.read<std::uint8_t>(tensor, values.size()));
  };
  const std::string place = "[%rd3, {%r10, %r11, %r12, %r13, %r14}]";
  std::uint64_t tensor = 0;
  const Bytes gathered =
      run_with("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r3], " + place +
                   ", [%r7];",
               kWaitAndShow, tensor)
          .first;
  const Bytes scattered = run_with("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group " + place +
                                       ", [%r3]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
                                   "", tensor)
                              .second;
  Bytes expected = values;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t b = 0; b < 64; ++b) {
      const std::size_t at = static_cast<std::size_t>(rows[i]) * 208 + 4 + b;
      EXPECT_EQ(gathered[i * 64 + b], rows[i] < 20 ? values[at] : 0);
      if (rows[i] < 20) expected[at] = kUntouched;
    }
  }
  EXPECT_EQ(scattered, expected);
}

TEST(TensorCopy, MapsInGlobalMemoryCanBeChanged) {
  Case box = plain_case();
  const Bytes values = noise_bytes(box.tensor_bytes());
  const Bytes others = noise_bytes(4 * 208);
  KernelRun run(tensor_kernel(
      // The map goes to shared memory, is changed there, and goes to global memory behind `out`.
      "mov.u32 %r21, 0; take: add.u32 %r22, %r3, %r21; cvt.u64.u32 %rd5, %r21; add.u64 %rd6, %rd3, %rd5;\n"
      "ld.u32 %r23, [%rd6]; st.shared.u32 [%r22+4096], %r23; add.u32 %r21, %r21, 4; setp.lt.u32 %p1, %r21, 128;\n"
      "@%p1 bra take; add.u32 %r24, %r3, 4096; add.u64 %rd8, %rd1, 12288;\n"
      "ld.param.u64 %rd7, [n+24];\n"
      "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r24], %rd7;\n"
      "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r24], 1, 4;\n"
      "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r24], 1, 6;\n"
      "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r24], 0, 32;\n"
      "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r24], 2;\n"
      "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r24], 10;\n"
      "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r24], 1;",
      "mov.u32 %r24, s; add.u32 %r24, %r24, 4096; add.u64 %rd8, %rd1, 12288;\n"
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd8], [%r24], 128;\n"
      "fence.proxy.tensormap::generic.acquire.gpu [%rd8], 128;\n"
      "@%p2 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd8, {0, 1}], "
      "[%r7];\n" +
          kWaitAndShow));
  box.tensor.address = run.array(values, "tensor");
  const std::uint64_t second = run.array(others, "other tensor");
  const std::uint64_t out = run.array(Bytes(kShared + 128), "out");
  run.set(0, out);
  run.set(1, box.map());
  std::array<std::uint64_t, 4> numbers{};
  numbers[3] = second;
  run.set(2, numbers);
  run.set(3, 32U * 6 * 2);
  run.launch({1}, {32});
  Case changed = box;
  changed.tensor.sizes = {100, 4};
  changed.tensor.swizzle = 2;
  changed.tensor.fill = 1;
  changed.box = {32, 6};
  changed.first = {0, 1};
  const Bytes found = run.read<std::uint8_t>(out, 4096);
  const Bytes expected = changed.expected(others);
  EXPECT_EQ(found, Bytes(expected.begin(), expected.begin() + 4096));
}

/// The message of the fault that a load of this box ends with.
std::string fault_of(const Case& box, std::uint64_t bytes_there = 20 * 208, bool garbage = false) {
  KernelRun run(tensor_kernel(fmt::format("add.u32 %r8, %r3, {}; cp.async.bulk.tensor.2d{} [%r8], {}, [%r7];", box.at,
                                          kTile, box.place("%rd3")),
                              ""));
  Case here = box;
  here.tensor.address = run.array(Bytes(bytes_there), "tensor");
  run.set(0, std::uint64_t{0});
  if (!garbage) run.set(1, here.map());
  set_numbers(run, here);
  try {
    run.launch({1}, {32});
  } catch (const KernelFault& fault) {
    return fault.what();
  }
  return "no fault";
}

TEST(TensorCopy, FindsWhatIsWrong) {
  const Case box = plain_case();
  EXPECT_EQ(fault_of(box), "no fault");
  EXPECT_THAT(fault_of(box, 20 * 208, true), HasSubstr("these 128 bytes are no tensor map"));
  EXPECT_THAT(fault_of(box, 10 * 208), HasSubstr("bytes past the end of 'tensor'"));
  Case other = box;
  other.at = 64;
  EXPECT_THAT(fault_of(other), HasSubstr("misaligned"));
  other = box;
  other.at = kShared - 128;
  EXPECT_THAT(fault_of(other), HasSubstr("of shared memory"));
  other = box;
  other.tensor.sizes = {100, 20, 1};
  other.tensor.strides = {208, 4160};
  other.box = {64, 8, 1};
  other.first = {3, 5, 0};
  Case named = other;
  named.first = {3, 5};  // what the instruction names
  KernelRun run(
      tensor_kernel("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r10, %r11}], [%r3];", ""));
  other.tensor.address = run.array(Bytes(20 * 208), "tensor");
  run.set(1, other.map());
  EXPECT_THROW(run.launch({1}, {32}), KernelFault);
  other = box;
  other.tensor.sizes = {256, 256};
  other.tensor.strides = {512};
  other.box = {256, 256};
  EXPECT_THAT(fault_of(other), HasSubstr("a box of 131072 bytes, but the block has 12296 bytes of shared memory"));
  Case far = box;  // coordinates times strides leave 64 bits
  far.tensor.sizes = {100, 0x7fffffff};
  far.tensor.strides = {(std::uint64_t{1} << 40) - 16};
  far.first = {0, 0x7ffffff0};
  EXPECT_THAT(fault_of(far), HasSubstr("read of 128 bytes"));
}

/// What initcheck and racecheck find; the first `written` bytes of the tensor hold values.
std::vector<std::string> problems(const std::string& copy, const std::string& after, std::uint64_t written) {
  Case box = plain_case();
  box.box = {8, 8};  // 16 bytes a row
  KernelRun run(tensor_kernel(copy, after));
  box.tensor.address = run.array(noise_bytes(20 * 208), "tensor");
  run.set(0, run.array(Bytes(kShared), "out"));
  run.set(1, box.map());
  set_numbers(run, box);
  std::optional<RaceChecker> race;
  std::optional<InitializationChecker> initialization;
  WrittenMemory memory;
  memory.allocated(box.tensor.address, 20 * 208);
  memory.written(box.tensor.address, written);
  LaunchConfiguration configuration;
  configuration.block = {32};
  configuration.collect_findings = true;
  const auto allocations = written_allocations(run.program(), run.parameters(), run.memory());
  const LaunchResult result = run.launch(configuration, [&](FindingLog& findings) {
    return std::vector<AccessObserver*>{&race.emplace(run.program(), allocations, findings),
                                        &initialization.emplace(memory, findings)};
  });
  std::vector<std::string> texts;
  for (const Finding& finding : result.findings.findings()) texts.push_back(to_text(finding));
  return texts;
}

TEST(TensorCopy, CheckersSeeWhatIsRead) {
  const std::string load = fmt::format("cp.async.bulk.tensor.2d{} [%r3], [%rd3, {{%r10, %r11}}], [%r7];", kTile);
  const std::string touch = "st.shared.u32 [%r3], %r1;\n";
  const std::string wait = "wait: mbarrier.try_wait.parity.shared.b64 %p3, [%r7], 0; @!%p3 bra wait;\n";
  EXPECT_THAT(problems(load, kWaitAndShow, 20 * 208), testing::IsEmpty());
  const std::uint64_t last_row = 12 * 208 + 6 + 16;
  EXPECT_THAT(problems(load, kWaitAndShow, last_row), testing::IsEmpty());
  EXPECT_THAT(problems(load, kWaitAndShow, last_row - 1),
              testing::ElementsAre(HasSubstr("initcheck: read of 16 bytes at byte 2502 of 'tensor'")));
  EXPECT_THAT(problems(load, "@%p2 " + touch + wait, 20 * 208), testing::Contains(HasSubstr("racecheck: write after")));
  EXPECT_THAT(problems(load, wait + "@%p2 " + touch, 20 * 208), testing::IsEmpty());
  const std::string store =
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r10, %r11}], [%r3]; "
      "cp.async.bulk.commit_group;\n";
  const std::string wait_group = "@%p2 cp.async.bulk.wait_group 0; bar.sync 0;\n";
  EXPECT_THAT(problems(store, wait_group + "@%p2 " + touch, 0), testing::IsEmpty());
  EXPECT_THAT(problems(store, "@%p2 " + touch + wait_group, 0),
              testing::Contains(HasSubstr("racecheck: write after read at offset 0 of shared memory")));
}

TEST(TensorMaps, RefuseWhatTheApiRefuses) {
  using D = TensorDescription;
  const auto refused = [](auto&& change, std::vector<std::uint32_t> box = {64, 8}) -> std::string {
    D tensor{.type = 6, .address = 4096, .sizes = {100, 20}, .strides = {208}};
    change(tensor);
    try {
      encode_tiled(tensor, box);
    } catch (const TensorMapError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refused([](D&) {}), "");
  EXPECT_THAT(refused([](D& t) { t.type = 16; }), HasSubstr("data type 16"));
  EXPECT_THAT(refused([](D& t) { t.address += 8; }), HasSubstr("address 0x1008 is not a multiple of 16"));
  EXPECT_THAT(refused([](D& t) { t.sizes[1] = 0; }), HasSubstr("dimension 1 has no elements"));
  EXPECT_THAT(refused([](D& t) { t.sizes[1] = (1ULL << 32) + 1; }), HasSubstr("dimension 1 has 4294967297 elements"));
  EXPECT_THAT(refused([](D& t) { t.strides[0] = 200; }), HasSubstr("stride of dimension 1 is 200 bytes"));
  EXPECT_THAT(refused([](D& t) { t.strides[0] = 1ULL << 40; }), HasSubstr("less than 2^40"));
  EXPECT_THAT(refused([](D& t) { t.strides.clear(); }), HasSubstr("0 strides"));
  EXPECT_THAT(refused([](D&) {}, {257, 8}), HasSubstr("257 elements in dimension 0"));
  EXPECT_THAT(refused([](D&) {}, {64, 0}), HasSubstr("0 elements in dimension 1"));
  EXPECT_THAT(refused([](D&) {}, {64}), HasSubstr("a box of 1 dimensions"));
  EXPECT_THAT(refused([](D&) {}, {60, 8}), HasSubstr("960 bits in dimension 0"));
  EXPECT_THAT(refused([](D&) {}, {70000, 8}), HasSubstr("is 70000"));
  EXPECT_THAT(refused([](D& t) { t.swizzle = 2; }), HasSubstr("128 bytes in dimension 0; 64 are possible"));
  EXPECT_THAT(refused([](D& t) { t.swizzle = 7; }), HasSubstr("swizzle 7"));
  EXPECT_THAT(refused([](D& t) { t.element_strides = {1, 9}; }), HasSubstr("element stride of dimension 1 is 9"));
  EXPECT_THAT(refused([](D& t) { t.interleave = 1; }), HasSubstr("interleaved tensors have at least 3"));
  EXPECT_THAT(refused([](D& t) { t.fill = 1, t.type = 2; }), HasSubstr("NaN"));
  EXPECT_THAT(refused([](D& t) { t.type = 14; }), HasSubstr("dimension 0 has 100 elements, not a multiple of 128"));
  EXPECT_THAT(refused([](D& t) { t.sizes.assign(6, 16); }), HasSubstr("6 dimensions"));
  EXPECT_THAT(refused([](D& t) { t.l2_promotion = 4; }), HasSubstr("L2 promotion 4"));
  const auto pixels = [](std::vector<int> lower, std::vector<int> upper, std::uint32_t channels,
                         std::uint32_t count) -> std::string {
    const D tensor{.type = 6, .address = 4096, .sizes = {64, 9, 9, 2}, .strides = {128, 1152, 10368}};
    try {
      encode_im2col(tensor, lower, upper, channels, count);
    } catch (const TensorMapError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(pixels({-1, -1}, {-1, -1}, 64, 1024), "");
  EXPECT_THAT(pixels({-129, 0}, {0, 0}, 64, 64), HasSubstr("corner of the box is -129 in dimension 1"));
  EXPECT_THAT(pixels({0, 0}, {0, -9}, 64, 64), HasSubstr("empty in dimension 2"));
  EXPECT_THAT(pixels({0}, {0}, 64, 64), HasSubstr("corners of 1 and 1"));
  EXPECT_THAT(pixels({0, 0}, {0, 0}, 264, 64), HasSubstr("264 channels"));
  EXPECT_THAT(pixels({0, 0}, {0, 0}, 64, 1025), HasSubstr("1025 pixels"));
}

}  // namespace
}  // namespace convladder::simulated
