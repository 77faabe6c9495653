// Copies by tensor map, held against a reference that looks up every element of the box by itself.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "simulator/memory/tensor_case.hpp"

namespace convladder::simulated::tensor_copies {
namespace {

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

TEST(TensorCopy, AddsUpAddressesModulo64Bits) {
  // Rows 5 to 7 of a tensor as one of its own, as Triton's tools/ragged_tma.py describes it: 2^30 times the last stride
  // is 2^30 rows less, and the second dimension ends behind the third row.
  constexpr int kFar = 1 << 30;
  Case box;
  box.tensor.type = 7;  // float32
  box.element = 4;
  box.tensor.sizes = {8, kFar, 0x7fff0000, 0x7fff0000};
  box.tensor.strides = {32, 32, (std::uint64_t{1} << 36) - 32};
  box.box = {8, 4, 1, 1};
  box.first = {0, kFar - 3, 5 + 3, kFar};
  const Bytes values = noise_bytes(20 * 32);
  const Bytes shared = load(box, values).shared;
  Bytes expected(values.begin() + 5 * 32, values.begin() + 8 * 32);
  expected.resize(4 * 32);  // with zeros
  EXPECT_EQ(Bytes(shared.begin(), shared.begin() + 4 * 32), expected);
}

TEST(TensorCopy, LoadsColumnsOfPixels) {
  std::mt19937 random(2);
  for (int i = 0; i < 60; ++i) {
    const Case box = random_case(random, static_cast<std::size_t>(i % 3) + 3, true);
    const Bytes values = noise_bytes(box.tensor_bytes());
    ASSERT_EQ(load(box, values).shared, box.expected(values)) << "case " << i;
  }
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

}  // namespace
}  // namespace convladder::simulated::tensor_copies
