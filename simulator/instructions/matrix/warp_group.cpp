// Products of matrices by four warps together: wgmma (PTX ISA 9.0, 9.7.15).
//
// Each warp of the group multiplies 16 of the 64 rows independently of the others, and then waits for them: the product
// is one, and none of the four goes on to change a factor that another has not read. The product is complete and
// shared memory is read at once, so a missing wgmma.fence is not found; racecheck takes shared memory to be read until
// one of the four warps has waited. Products and sums are as in matrix.cpp. Factors in shared memory are read and
// counted in 16 bytes per lane.
//
// A factor is made of units of 16 bytes that hold neighbours in k ("K-major"), or, for transposed factors of 16
// bits, neighbours in m or n ("MN-major"). The descriptor says where the units are: see Descriptor.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <span>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/matrix/matrix_fragment.hpp"
#include "simulator/instructions/matrix/tensor_sum.hpp"
#include "simulator/state/block_barriers.hpp"
#include "simulator/state/lane_access.hpp"
#include "support/half.hpp"

namespace convladder::simulated {
namespace {

constexpr int kRows = 16;  // of a warp
constexpr int kMostColumns = 256;
constexpr int kDepthBytes = 32;  // of an instruction
constexpr int kMostDepth = 32;   // elements
constexpr int kUnitBytes = 16;

/// The meaning of the opcode and the constants: Operation::detail.
struct GroupForm {
  std::uint32_t columns : 9;
  std::uint32_t left : 4;  ///< ElementType
  std::uint32_t right : 4;
  std::uint32_t sum : 4;
  std::uint32_t left_in_registers : 1;
  std::uint32_t left_transposed : 1;
  std::uint32_t right_transposed : 1;
  std::uint32_t left_negated : 1;
  std::uint32_t right_negated : 1;
  std::uint32_t saturates : 1;
  std::uint32_t unused : 5;

  ElementType left_type() const { return static_cast<ElementType>(left); }
  ElementType right_type() const { return static_cast<ElementType>(right); }
  ElementType sum_type() const { return static_cast<ElementType>(sum); }
  int depth() const { return 8 * kDepthBytes / element_bits(left_type()); }
  int sum_registers() const { return kRows * static_cast<int>(columns) / kLanes * element_bits(sum_type()) / 32; }
};
static_assert(sizeof(GroupForm) == sizeof(int));

// --- where factors lie ----------------------------------------------------------------------------------------------

/// The descriptor of a factor in shared memory (PTX ISA 9.0, 9.7.15.5.1.2.2). Without swizzle, units of 8 rows are
/// adjacent; with a swizzle of 32, 64 or 128 bytes, rows of so many bytes are, and the place of a 16-byte unit in a row
/// depends on the row.
class Descriptor {
 public:
  explicit Descriptor(std::uint64_t bits) : bits_(bits) {}

  /// The address of the unit in row `in_row` with 16 bytes of k, the `in_unit`th.
  std::uint64_t of_row(int in_row, int in_unit) const {
    const auto row = static_cast<std::uint64_t>(in_row);
    const auto unit = static_cast<std::uint64_t>(in_unit);
    const std::uint64_t apart = swizzle_units() == 1 ? leading() : kUnitBytes;
    return swizzled(row % 8 * kUnitBytes * swizzle_units() + row / 8 * stride() + unit * apart);
  }
  /// The address of the unit of a transposed factor at depth `in_depth` of k with 16 bytes of m or n, the `in_unit`th.
  std::uint64_t of_depth(int in_depth, int in_unit) const {
    const auto k = static_cast<std::uint64_t>(in_depth);
    const auto unit = static_cast<std::uint64_t>(in_unit);
    const std::uint64_t units = swizzle_units();
    const std::uint64_t of_unit = unit % units * kUnitBytes + unit / units * (units == 1 ? stride() : leading());
    return swizzled(k % 8 * kUnitBytes * units + k / 8 * (units == 1 ? leading() : stride()) + of_unit);
  }

 private:
  std::uint64_t field(int first, int bits) const { return (bits_ >> first) & ((std::uint64_t{1} << bits) - 1); }
  std::uint64_t start() const { return field(0, 14) << 4; }
  std::uint64_t leading() const { return field(16, 14) << 4; }
  std::uint64_t stride() const { return field(32, 14) << 4; }
  std::uint64_t base_offset() const { return field(49, 3); }
  /// Units of 16 bytes in a row: 8, 4 or 2, or 1 without swizzle.
  std::uint64_t swizzle_units() const {
    constexpr std::uint64_t units[] = {1, 8, 4, 2};
    return units[field(62, 2)];
  }
  /// Swizzles an offset: the number of a unit in its 128 bytes is changed by the number of these 128 bytes, from the
  /// base offset on.
  std::uint64_t swizzled(std::uint64_t offset) const {
    const std::uint64_t address = start() + offset;
    return address ^ ((((address >> 7) - base_offset()) & (swizzle_units() - 1)) << 4);
  }

  std::uint64_t bits_;
};

/// The part of a factor to read: `rows` rows (columns of the right factor) from `first_row` on. Element (row, k) of the
/// part goes to [row * row_stride + k * k_stride].
struct Reading {
  ElementType type;
  bool transposed;
  int first_row;
  int rows;
  int row_stride;
  int k_stride;
};

/// The first element of a unit of 16 bytes.
struct UnitPlace {
  int row;
  int k;
};

/// The numbers in a unit. In loops of their own for each type, which compilers make vectors of.
template <typename T>
std::array<T, kUnitBytes> numbers_in_unit(ElementType type, const std::byte* unit) {
  std::array<T, kUnitBytes> numbers;
  const auto convert = [&](auto element, const auto& number_of) {
    std::array<decltype(element), kUnitBytes / sizeof(element)> elements;
    std::memcpy(elements.data(), unit, kUnitBytes);
    for (std::size_t i = 0; i < elements.size(); ++i) numbers[i] = number_of(elements[i]);
  };
  if constexpr (std::is_same_v<T, float>) {
    if (type == ElementType::f16) {
      convert(std::uint16_t{}, [](std::uint16_t bits) { return to_float(Half{bits}); });
      return numbers;
    }
    if (type == ElementType::bf16) {
      convert(std::uint16_t{}, [](std::uint16_t bits) { return to_float(Bfloat16{bits}); });
      return numbers;
    }
    if (type == ElementType::tf32) {
      convert(std::uint32_t{}, [](std::uint32_t bits) { return element_value<float>(ElementType::tf32, bits); });
      return numbers;
    }
  }
  convert(std::uint8_t{}, [type](std::uint8_t bits) { return element_value<T>(type, bits); });
  return numbers;
}

template <typename T>
void read_factor(const WarpState& warp, const Operation& operation, const Descriptor& descriptor,
                 const Reading& reading, T* matrix) {
  const int element_bytes = element_bits(reading.type) / 8;
  const int depth = kDepthBytes / element_bytes;
  const int in_unit = kUnitBytes / element_bytes;
  const int units = reading.rows * kDepthBytes / kUnitBytes;
  // A unit holds elements of one row from k on, or, if transposed, elements of one k from `row` on.
  const auto place_of = [&](int unit) {
    if (reading.transposed) return UnitPlace{unit / depth * in_unit, unit % depth};
    return UnitPlace{unit / 2, unit % 2 * in_unit};
  };
  const auto address_of = [&](const UnitPlace& place) {
    const int row = reading.first_row + place.row;
    return reading.transposed ? descriptor.of_depth(place.k, row / in_unit) : descriptor.of_row(row, place.k / in_unit);
  };
  for (int first = 0; first < units; first += kLanes) {
    const int lanes = std::min(kLanes, units - first);
    Addresses addresses{};
    WarpState part = warp;
    part.mask = kAllLanes >> (kLanes - lanes);
    for (int lane = 0; lane < lanes; ++lane) addresses[lane] = address_of(place_of(first + lane));
    fill_inactive(addresses, part.mask);
    const LanePlaces places = reach<ptx::Space::shared>(part, operation, addresses, kUnitBytes, AccessKind::load);
    for (LaneMask left = places.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const UnitPlace place = place_of(first + lane);
      T* const to = matrix + place.row * reading.row_stride + place.k * reading.k_stride;
      const auto numbers = numbers_in_unit<T>(reading.type, places.at[lane]);
      const int stride = reading.transposed ? reading.row_stride : reading.k_stride;
      if (stride == 1) {
        std::copy_n(numbers.begin(), in_unit, to);
      } else {
        for (int i = 0; i < in_unit; ++i) to[i * stride] = numbers[i];
      }
    }
  }
}

// --- execution ------------------------------------------------------------------------------------------------------

/// The index of a lane's ith sum in the sums, row by row, in two parts: that of the lane's first sum, and that of the
/// ith behind the first one.
int first_sum_of(int lane, int columns) { return lane / 4 * columns + 2 * (lane % 4); }
int sum_behind(int i, int columns) { return 8 * (i / 2 % 2) * columns + 8 * (i / 4) + i % 2; }

/// The left factor in registers, which is held like that of mma.
const Fragment& left_fragment(ElementType type) {
  using enum ElementType;
  static const std::array<Fragment, 7> all = [] {
    const auto of = [](ElementType of_type) {
      return Fragment(MatrixRole::left, of_type, kRows, 8 * kDepthBytes / element_bits(of_type), 4);
    };
    return std::array<Fragment, 7>{of(f16), of(bf16), of(tf32), of(e4m3), of(e5m2), of(s8), of(u8)};
  }();
  return *std::ranges::find(all, type, &Fragment::type);
}

/// Operands: descriptor of the left factor, descriptor of the right one, whether to add to sums. In the operand lists:
/// the registers of the sums, then of the left factor. T: float, or std::int64_t for integers.
template <typename T>
void multiply_in_group(WarpState& warp, const Operation& operation) {
  check_all_lanes(warp, operation);
  const auto form = std::bit_cast<GroupForm>(operation.detail);
  const Slot* const registers = warp.block->program->operand_lists.data() + operation.list;
  const int columns = static_cast<int>(form.columns);
  const int depth = form.depth();
  const int lane = std::countr_zero(warp.mask);  // descriptors are the same in all lanes
  std::array<T, kRows * kMostDepth> left;
  std::array<T, kMostColumns * kMostDepth> right;
  // A unit that a fault keeps from being read is 0.
  std::fill_n(left.begin(), kRows * depth, T{});
  std::fill_n(right.begin(), columns * depth, T{});
  if (form.left_in_registers != 0) {
    left_fragment(form.left_type()).gather(warp, registers + form.sum_registers(), left.data());
  } else {
    const Descriptor descriptor(warp.read<std::uint64_t>(operation.operands[0])[lane]);
    const Reading reading{form.left_type(), form.left_transposed != 0, kRows * (warp.index % 4), kRows, depth, 1};
    read_factor(warp, operation, descriptor, reading, left.data());
  }
  const Descriptor descriptor(warp.read<std::uint64_t>(operation.operands[1])[lane]);
  const Reading reading{form.right_type(), form.right_transposed != 0, 0, columns, 1, columns};
  read_factor(warp, operation, descriptor, reading, right.data());

  const bool adds = ((*warp.read<LaneMask>(operation.operands[2]) >> lane) & 1U) != 0;
  const T sign = form.left_negated != form.right_negated ? T{-1} : T{1};
  const bool packed = element_bits(form.sum_type()) == 16;
  std::array<T, kRows * kMostColumns> sums;
  std::array<int, kLanes> first_sum;
  for (int l = 0; l < kLanes; ++l) first_sum.data()[l] = first_sum_of(l, columns);
  const int elements = kRows * columns / kLanes;
  if (!adds) std::fill_n(sums.begin(), kRows * columns, T{});
  for (int i = 0; adds && i < elements; ++i) {
    const auto* const lanes = warp.read<std::uint32_t>(registers[packed ? i / 2 : i]);
    T* const of_first_lane = sums.data() + sum_behind(i, columns);
    if constexpr (std::is_same_v<T, float>) {
      if (!packed) {
        for (int l = 0; l < kLanes; ++l) of_first_lane[first_sum.data()[l]] = std::bit_cast<float>(lanes[l]);
        continue;
      }
    }
    for (int l = 0; l < kLanes; ++l) {
      const std::uint32_t bits = packed ? lanes[l] >> (16 * (i % 2)) : lanes[l];
      of_first_lane[first_sum.data()[l]] = element_value<T>(form.sum_type(), bits);
    }
  }
  const TensorCores cores = warp.block->program->tensor_cores;
  for (int row = 0; row < kRows; ++row) {
    T* const sum = sums.data() + row * columns;
    if constexpr (std::is_same_v<T, float>) {
      if (cores != TensorCores::rounding) {
        const TensorSum how{cores, form.left_type(), form.right_type(), form.sum_type()};
        std::array<float, kMostDepth> factors;
        std::array<float, kMostDepth> of_column;
        for (int k = 0; k < depth; ++k) factors.data()[k] = sign * left.data()[row * depth + k];
        for (int column = 0; column < columns; ++column) {
          for (int k = 0; k < depth; ++k) of_column.data()[k] = right.data()[k * columns + column];
          sum[column] = tensor_sum(how, sum[column], factors.data(), of_column.data(), depth);
        }
        continue;
      }
    }
    for (int k = 0; k < depth; ++k) {
      const T factor = sign * left.data()[row * depth + k];
      const T* const of_right = right.data() + k * columns;
      for (int column = 0; column < columns; ++column) {
        if constexpr (std::is_floating_point_v<T>) {
          sum[column] = std::fma(factor, of_right[column], sum[column]);
        } else {
          sum[column] += factor * of_right[column];
        }
      }
    }
  }
  if constexpr (std::is_integral_v<T>) {
    constexpr T most = std::numeric_limits<std::int32_t>::max();
    for (T& sum : std::span(sums).first(kRows * columns))
      sum = form.saturates != 0 ? std::clamp(sum, -most - 1, most) : sum;
  }
  for (int i = 0; i < form.sum_registers(); ++i) {
    if constexpr (std::is_same_v<T, float>) {
      if (!packed) {
        const float* const of_first_lane = sums.data() + sum_behind(i, columns);
        write_lanes(warp.write<std::uint32_t>(registers[i]), warp.mask, [&](int l) {
          const float sum = of_first_lane[first_sum.data()[l]];
          return sum != sum ? 0x7fffffffU : std::bit_cast<std::uint32_t>(sum);
        });
        continue;
      }
    }
    write_lanes(warp.write<std::uint32_t>(registers[i]), warp.mask, [&](int l) {
      const auto bits = [&](int element) {
        const T sum = sums.data()[first_sum.data()[l] + sum_behind(element, columns)];
        return static_cast<std::uint32_t>(element_bits_of<T>(form.sum_type(), sum));
      };
      return packed ? bits(2 * i) | (bits(2 * i + 1) << 16) : bits(i);
    });
  }
}

void do_nothing(WarpState& /*warp*/, const Operation& /*operation*/) {}

void commit_group(WarpState& warp, const Operation& /*operation*/) {
  for (AccessObserver* const observer : warp.block->observers) observer->products_committed(warp);
}

/// `detail`: the number of groups that need not have ended.
void wait_group(WarpState& warp, const Operation& operation) {
  for (AccessObserver* const observer : warp.block->observers) {
    observer->products_waited_for(warp, static_cast<std::uint32_t>(operation.detail));
  }
}

// --- decoding -------------------------------------------------------------------------------------------------------

using Words = std::vector<std::string_view>;

std::optional<ElementType> find_type(std::string_view name, std::initializer_list<ElementType> types) {
  for (const ElementType type : types) {
    if (name == element_name(type)) return type;
  }
  return std::nullopt;
}

/// Parses "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16{.satfinite}".
std::optional<GroupForm> parse_group_product(std::string_view opcode) {
  using enum ElementType;
  if (!opcode.starts_with("wgmma.mma_async.sync.aligned.")) return std::nullopt;
  Words words = ptx::split_opcode(opcode);
  GroupForm form{};
  form.saturates = std::erase(words, "satfinite") > 0 ? 1 : 0;
  if (words.size() != 8) return std::nullopt;
  const auto left = find_type(words[6], {f16, bf16, tf32, e4m3, e5m2, s8, u8});
  const auto right = find_type(words[7], {f16, bf16, tf32, e4m3, e5m2, s8, u8});
  const auto sum = find_type(words[5], {f16, f32, s32});
  if (!left || !right || !sum) return std::nullopt;
  const bool mixes = element_bits(*left) == 8 && element_bits(*right) == 8 && is_integer(*left) == is_integer(*right);
  if (*left != *right && !mixes) return std::nullopt;
  if (is_integer(*left) != (*sum == s32) || (form.saturates != 0 && *sum != s32)) return std::nullopt;
  if (*sum == f16 && (*left == bf16 || *left == tf32)) return std::nullopt;
  form.left = static_cast<std::uint32_t>(*left);
  form.right = static_cast<std::uint32_t>(*right);
  form.sum = static_cast<std::uint32_t>(*sum);
  for (std::uint32_t columns = 8; columns <= kMostColumns; columns += 8) {
    if (words[4] == fmt::format("m64n{}k{}", columns, form.depth())) form.columns = columns;
  }
  return form.columns > 0 ? std::optional(form) : std::nullopt;
}

bool flag_of(InstructionDecoder& decoder, const ptx::Operand& operand, std::uint64_t set, std::uint64_t unset) {
  const std::uint64_t bits = operand.bits;
  if (operand.kind != ptx::OperandKind::immediate || (bits != set && bits != unset)) {
    decoder.fail("a factor's sign must be 1 or -1, and whether it is transposed 0 or 1");
  }
  return bits == set;
}

/// Operands: d, a, b, whether d is added to{, sign of a, sign of b{, a transposed}{, b transposed}}. Only floating
/// point factors have signs, and only factors of 16 bits in shared memory can be transposed.
void decode_group_product(InstructionDecoder& decoder, GroupForm form) {
  const auto& operands = decoder.instruction().operands;
  const bool has_signs = !is_integer(form.left_type());
  const bool has_transposition = element_bits(form.left_type()) == 16;
  form.left_in_registers = operands.size() > 1 && operands[1].kind == ptx::OperandKind::vector ? 1 : 0;
  const std::size_t transpositions = has_transposition ? (form.left_in_registers != 0 ? 1 : 2) : 0;
  decoder.expect_operands(4 + (has_signs ? 2 : 0) + transpositions);
  constexpr std::uint64_t minus_one = ~std::uint64_t{0};
  if (has_signs) {
    form.left_negated = flag_of(decoder, operands[4], minus_one, 1) ? 1 : 0;
    form.right_negated = flag_of(decoder, operands[5], minus_one, 1) ? 1 : 0;
  }
  if (transpositions == 2) form.left_transposed = flag_of(decoder, operands[6], 1, 0) ? 1 : 0;
  if (transpositions > 0) form.right_transposed = flag_of(decoder, operands.back(), 1, 0) ? 1 : 0;

  const auto count = static_cast<std::size_t>(form.sum_registers());
  if (operands[0].elements.size() != count) {
    decoder.fail(fmt::format("expected {} registers for the sums, found {}", count, operands[0].elements.size()));
  }
  Operation operation;
  std::vector<Slot> slots;
  for (const ptx::Operand& element : operands[0].elements) slots.push_back(decoder.write(element, 32));
  if (form.left_in_registers != 0) {
    if (operands[1].elements.size() != 4) decoder.fail("expected 4 registers for the left factor");
    for (const ptx::Operand& element : operands[1].elements) slots.push_back(decoder.read(element, 32));
  } else {
    operation.operands[0] = decoder.read(operands[1], 64);
  }
  operation.operands[1] = decoder.read(operands[2], 64);
  operation.operands[2] = decoder.read(operands[3], 1);
  operation.list = decoder.keep_operands(slots);
  operation.detail = std::bit_cast<int>(form);
  operation.handler = is_integer(form.left_type()) ? &multiply_in_group<std::int64_t> : &multiply_in_group<float>;
  decoder.emit(operation);
  Operation meeting;
  meeting.kind = OperationKind::barrier;
  meeting.detail = static_cast<int>(BarrierAction::wait);
  meeting.offset = BlockBarriers::kOfGroups;
  decoder.emit(meeting);
}

}  // namespace

std::optional<MatrixProduct> group_product(std::string_view opcode) {
  const auto form = parse_group_product(opcode);
  if (!form) return std::nullopt;
  return MatrixProduct{form->left_type(), form->sum_type(),
                       2 * kRows * std::uint64_t{form->columns} * static_cast<std::uint64_t>(form->depth())};
}

bool decode_warp_group(InstructionDecoder& decoder) {
  const std::string& opcode = decoder.instruction().opcode;
  if (const auto form = parse_group_product(opcode)) {
    decode_group_product(decoder, *form);
  } else if (opcode == "wgmma.fence.sync.aligned" || opcode == "wgmma.commit_group.sync.aligned") {
    decoder.expect_operands(0);
    decoder.emit(opcode == "wgmma.fence.sync.aligned" ? do_nothing : commit_group, {});
  } else if (opcode == "wgmma.wait_group.sync.aligned") {
    decoder.expect_operands(1);
    if (decoder.instruction().operands[0].kind != ptx::OperandKind::immediate)
      decoder.fail("expected a number of groups");
    Operation operation;
    operation.handler = wait_group;
    operation.detail = static_cast<int>(decoder.instruction().operands[0].bits);
    decoder.emit(operation);
  } else {
    return false;
  }
  return true;
}

}  // namespace convladder::simulated
