// Video instructions: arithmetic on bytes and half-words selected from registers, one at a time or two or four at
// once, with a result that is merged into a third operand or added to it (PTX ISA 9.0, 9.7.18 and 9.7.19).
//
// The ISA does not give the width of a result that is compared with the third operand (.min, .max): here it is cut
// to 32 bits first.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string_view>

#include "simulator/instructions/arithmetic/integer_types.hpp"
#include "simulator/instructions/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

enum class Calculation : std::uint8_t {
  add,
  subtract,
  difference,
  minimum,
  maximum,
  average,
  shift_left,
  shift_right,
  multiply_add,
  compare
};
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };
enum class Secondary : std::uint8_t { none, add, min, max };

/// The instruction apart from its operands: Operation::offset.
struct VideoForm {
  // 0 for a whole register; for a part of one 1 + its place in bytes, half-words from 5 on; for two or four parts a
  // digit of four bits for each: the place among the parts of both registers, the lowest part first.
  std::uint16_t a = 0;
  std::uint16_t b = 0;
  std::uint8_t d = 0;  ///< as `a`; for two or four parts: a bit for each part that is written
  Calculation calculation : 4 = Calculation::add;
  Secondary secondary : 2 = Secondary::none;
  bool saturates : 1 = false;
  bool clamps : 1 = false;  ///< for a shift: amounts beyond 32 are 32, otherwise they are taken modulo 32
  Comparison comparison : 3 = Comparison::eq;
  bool d_is_signed : 1 = false;
  bool a_is_signed : 1 = false;
  bool b_is_signed : 1 = false;
  bool merges : 1 = false;  ///< whether the result is merged into the third operand
  bool plus_one : 1 = false;
  std::uint8_t scale : 4 = 0;  ///< vmad: bits to shift the result to the right
  bool product_negated : 1 = false;
  bool c_negated : 1 = false;
  std::uint8_t unused : 2 = 0;
};
static_assert(sizeof(VideoForm) == sizeof(std::int64_t));

constexpr int kHalf = 5;  // code of the lower half-word

struct Part {
  int shift;
  int bits;
};
Part part_of(unsigned code) {
  if (code == 0) return {0, 32};
  if (code < kHalf) return {8 * (static_cast<int>(code) - 1), 8};
  return {16 * (static_cast<int>(code) - kHalf), 16};
}

std::int64_t extended(std::uint32_t word, Part part, bool is_signed) {
  const std::uint64_t up = std::uint64_t{word} >> part.shift << (64 - part.bits);
  return is_signed ? static_cast<std::int64_t>(up) >> (64 - part.bits)
                   : static_cast<std::int64_t>(up >> (64 - part.bits));
}

bool holds(Comparison comparison, std::int64_t a, std::int64_t b) {
  switch (comparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a != b;
    case Comparison::lt:
      return a < b;
    case Comparison::le:
      return a <= b;
    case Comparison::gt:
      return a > b;
    default:
      return a >= b;
  }
}

Signed128 clamped(Signed128 value, int bits, bool is_signed) {
  const Signed128 most = (Signed128{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp(value, is_signed ? -most - 1 : Signed128{0}, most);
}

Signed128 calculated(const VideoForm& form, std::int64_t a, std::int64_t b) {
  switch (form.calculation) {
    case Calculation::add:
      return a + b;
    case Calculation::subtract:
      return a - b;
    case Calculation::difference:
      return a < b ? b - a : a - b;
    case Calculation::minimum:
      return std::min(a, b);
    case Calculation::maximum:
      return std::max(a, b);
    case Calculation::average:  // rounds halves up, negative ones down
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Calculation::compare:
      return holds(form.comparison, a, b) ? 1 : 0;
    default: {
      const std::int64_t by = form.clamps ? std::min<std::int64_t>(b, 32) : b & 31;
      return form.calculation == Calculation::shift_left ? Signed128{a} << by : Signed128{a} >> by;
    }
  }
}

std::uint32_t merged(std::uint32_t value, Part part, std::uint32_t into) {
  const auto mask = static_cast<std::uint32_t>((~std::uint64_t{0} >> (64 - part.bits)) << part.shift);
  return (into & ~mask) | ((value << part.shift) & mask);
}

std::uint32_t with_secondary(const VideoForm& form, std::uint32_t value, std::uint32_t c) {
  const bool value_is_less =
      form.d_is_signed ? static_cast<std::int32_t>(value) < static_cast<std::int32_t>(c) : value < c;
  switch (form.secondary) {
    case Secondary::add:
      return value + c;
    case Secondary::min:
      return value_is_less ? value : c;
    case Secondary::max:
      return value_is_less ? c : value;
    default:
      return value;
  }
}

std::uint32_t scalar(const VideoForm& form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const Part part = part_of(form.d);
  Signed128 result =
      calculated(form, extended(a, part_of(form.a), form.a_is_signed), extended(b, part_of(form.b), form.b_is_signed));
  if (form.saturates) result = clamped(result, part.bits, form.d_is_signed);
  const auto value = static_cast<std::uint32_t>(result);
  return form.merges ? merged(value, part, c) : with_secondary(form, value, c);
}

/// vmad: a product and a sum of 64 bits, shifted. -a b + c is ~(a b) + 1 + c; the sign of c counts if any operand is
/// signed.
std::uint32_t multiply_add(const VideoForm& form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const bool is_signed = form.a_is_signed || form.b_is_signed || form.product_negated || form.c_negated;
  Signed128 product =
      Signed128{extended(a, part_of(form.a), form.a_is_signed)} * extended(b, part_of(form.b), form.b_is_signed);
  if (form.product_negated) product = -product;
  const std::uint32_t addend = form.c_negated ? ~c : c;
  product += is_signed ? std::int64_t{static_cast<std::int32_t>(addend)} : std::int64_t{addend};
  product += form.c_negated || form.plus_one ? 1 : 0;
  Signed128 result = static_cast<std::int64_t>(product >> form.scale);
  if (!is_signed) result = static_cast<std::uint64_t>(product >> form.scale);
  return static_cast<std::uint32_t>(form.saturates ? clamped(result, 32, is_signed) : result);
}

template <int kParts>
std::uint32_t in_parts(const VideoForm& form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr int kBits = 32 / kParts;
  const auto chosen = [&](std::uint16_t places, int i, bool is_signed) {
    const int place = (places >> (4 * i)) & 15;
    return extended(place < kParts ? a : b, {kBits * (place % kParts), kBits}, is_signed);
  };
  std::uint32_t result = c;
  for (int i = 0; i < kParts; ++i) {
    if (((form.d >> i) & 1) == 0) continue;
    Signed128 value = calculated(form, chosen(form.a, i, form.a_is_signed), chosen(form.b, i, form.b_is_signed));
    if (form.saturates) value = clamped(value, kBits, form.d_is_signed);
    const auto bits = static_cast<std::uint32_t>(value);
    result = form.secondary == Secondary::add ? result + bits : merged(bits, {kBits * i, kBits}, result);
  }
  return result;
}

template <auto kFunction>
void execute_video(WarpState& warp, const Operation& operation) {
  const auto form = std::bit_cast<VideoForm>(operation.offset);
  const auto* const a = warp.read<std::uint32_t>(operation.operands[1]);
  const auto* const b = warp.read<std::uint32_t>(operation.operands[2]);
  const auto* const c = warp.read<std::uint32_t>(operation.operands[3]);
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask,
              [&](int lane) { return kFunction(form, a[lane], b[lane], c[lane]); });
}

// --- decoding -------------------------------------------------------------------------------------------------------

struct Named {
  std::string_view name;
  Calculation calculation;
  int parts;
};
constexpr Named kInstructions[] = {
    {"vadd", Calculation::add, 1},
    {"vsub", Calculation::subtract, 1},
    {"vabsdiff", Calculation::difference, 1},
    {"vmin", Calculation::minimum, 1},
    {"vmax", Calculation::maximum, 1},
    {"vshl", Calculation::shift_left, 1},
    {"vshr", Calculation::shift_right, 1},
    {"vmad", Calculation::multiply_add, 1},
    {"vset", Calculation::compare, 1},
    {"vadd2", Calculation::add, 2},
    {"vsub2", Calculation::subtract, 2},
    {"vavrg2", Calculation::average, 2},
    {"vabsdiff2", Calculation::difference, 2},
    {"vmin2", Calculation::minimum, 2},
    {"vmax2", Calculation::maximum, 2},
    {"vset2", Calculation::compare, 2},
    {"vadd4", Calculation::add, 4},
    {"vsub4", Calculation::subtract, 4},
    {"vavrg4", Calculation::average, 4},
    {"vabsdiff4", Calculation::difference, 4},
    {"vmin4", Calculation::minimum, 4},
    {"vmax4", Calculation::maximum, 4},
    {"vset4", Calculation::compare, 4},
};

/// Applies a part of the opcode after the types; false for an unknown one.
bool set_modifier(VideoForm& form, std::string_view part) {
  constexpr std::array<std::string_view, 6> comparisons{"eq", "ne", "lt", "le", "gt", "ge"};
  constexpr std::array<std::string_view, 4> secondaries{"", "add", "min", "max"};
  const auto* const comparison = std::ranges::find(comparisons, part);
  const auto* const secondary = std::ranges::find(secondaries, part);
  if (form.calculation == Calculation::compare && comparison != comparisons.end()) {
    form.comparison = static_cast<Comparison>(comparison - comparisons.begin());
  } else if (form.calculation != Calculation::multiply_add && secondary != secondaries.end()) {
    form.secondary = static_cast<Secondary>(secondary - secondaries.begin());
  } else if (part == "sat" && form.calculation != Calculation::compare) {
    form.saturates = true;
  } else if ((part == "clamp" || part == "wrap") &&
             (form.calculation == Calculation::shift_left || form.calculation == Calculation::shift_right)) {
    form.clamps = part == "clamp";
  } else if (form.calculation == Calculation::multiply_add && (part == "po" || part == "shr7" || part == "shr15")) {
    form.plus_one = form.plus_one || part == "po";
    if (part != "po") form.scale = part == "shr7" ? 7 : 15;
  } else {
    return false;
  }
  return true;
}

std::uint8_t scalar_part(const InstructionDecoder& decoder, std::string_view selector) {
  if (selector.empty()) return 0;
  const int place = selector[1] - '0';
  if (selector.size() != 2 || place >= (selector[0] == 'b' ? 4 : 2)) {
    decoder.fail(fmt::format("there is no part .{} here", selector));
  }
  return static_cast<std::uint8_t>((selector[0] == 'b' ? 1 : kHalf) + place);
}

/// ".h32": the place of each part, the lowest part first.
std::uint16_t places(const InstructionDecoder& decoder, std::string_view selector, int parts, unsigned first) {
  unsigned result = 0;
  for (int i = 0; i < parts; ++i) {
    const unsigned given = selector.empty() ? first + static_cast<unsigned>(i)
                                            : static_cast<unsigned>(selector[selector.size() - 1 - i] - '0');
    if (given >= 2U * static_cast<unsigned>(parts)) decoder.fail(fmt::format("there is no part .{} here", selector));
    result |= given << (4 * i);
  }
  return static_cast<std::uint16_t>(result);
}

void check_letter(const InstructionDecoder& decoder, std::string_view selector, int parts, std::size_t most) {
  if (selector.empty()) return;
  if (selector[0] != (parts == 2 ? 'h' : 'b') || selector.size() > most) {
    decoder.fail(fmt::format("there is no part .{} here", selector));
  }
}

/// Reads the operands' selectors and whether they are negated.
void read_selectors(const InstructionDecoder& decoder, const Named& named, VideoForm& form) {
  const auto& operands = decoder.instruction().operands;
  if (named.parts == 1) {
    form.d = scalar_part(decoder, operands[0].selector);
    form.a = scalar_part(decoder, operands[1].selector);
    form.b = scalar_part(decoder, operands[2].selector);
  } else {
    const auto size = static_cast<std::size_t>(named.parts) + 1;
    for (const std::size_t i : {1, 2}) {
      check_letter(decoder, operands[i].selector, named.parts, size);
      if (!operands[i].selector.empty() && operands[i].selector.size() != size) decoder.fail("a part is missing");
    }
    check_letter(decoder, operands[0].selector, named.parts, size);
    form.a = places(decoder, operands[1].selector, named.parts, 0);
    form.b = places(decoder, operands[2].selector, named.parts, static_cast<unsigned>(named.parts));
    form.d = static_cast<std::uint8_t>((1 << named.parts) - 1);
    if (!operands[0].selector.empty()) {
      form.d = 0;
      for (const char digit : operands[0].selector.substr(1)) {
        form.d = static_cast<std::uint8_t>(form.d | (1 << (digit - '0')));
      }
      if (form.d >= 1 << named.parts) decoder.fail(fmt::format("there is no part .{} here", operands[0].selector));
    }
  }
}

Slot read_part(InstructionDecoder& decoder, ptx::Operand operand) {
  operand.selector.clear();
  operand.negated = false;
  return decoder.read(operand, 32);
}

}  // namespace

bool decode_video(InstructionDecoder& decoder) {
  const std::vector<std::string_view> parts = ptx::split_opcode(decoder.instruction().opcode);
  const auto* const named = std::ranges::find(kInstructions, parts[0], &Named::name);
  if (named == std::end(kInstructions)) return false;
  VideoForm form;
  form.calculation = named->calculation;
  const bool compares = form.calculation == Calculation::compare;  // its result has no type
  const std::size_t types = compares ? 2 : 3;
  if (parts.size() <= types) return false;
  for (std::size_t i = 1; i <= types; ++i) {
    if (parts[i] != "s32" && parts[i] != "u32") return false;
  }
  form.d_is_signed = !compares && parts[1] == "s32";
  form.a_is_signed = parts[types - 1] == "s32";
  form.b_is_signed = parts[types] == "s32";
  const bool shifts = form.calculation == Calculation::shift_left || form.calculation == Calculation::shift_right;
  if (shifts && form.b_is_signed) return false;
  for (std::size_t i = types + 1; i < parts.size(); ++i) {
    if (!set_modifier(form, parts[i])) return false;
  }
  const auto& operands = decoder.instruction().operands;
  const bool is_product = form.calculation == Calculation::multiply_add;
  if (operands.size() != 3 || named->parts > 1 || is_product) decoder.expect_operands(4);
  read_selectors(decoder, *named, form);
  form.merges = operands.size() == 4 && form.secondary == Secondary::none && !is_product;
  if (named->parts == 1 && (form.d != 0) != form.merges) {
    decoder.fail("a third operand is what a part of the destination is merged into, or for .add, .min, .max");
  }
  if (is_product) {
    form.product_negated = operands[1].negated != operands[2].negated;
    form.c_negated = operands[3].negated && !form.product_negated;
  } else if (std::ranges::any_of(operands, &ptx::Operand::negated)) {
    decoder.fail("only operands of vmad can be negated");
  }
  Operation operation;
  operation.handler = is_product          ? &execute_video<&multiply_add>
                      : named->parts == 1 ? &execute_video<&scalar>
                      : named->parts == 2 ? &execute_video<&in_parts<2>>
                                          : &execute_video<&in_parts<4>>;
  operation.offset = std::bit_cast<std::int64_t>(form);
  operation.operands[1] = read_part(decoder, operands[1]);
  operation.operands[2] = read_part(decoder, operands[2]);
  operation.operands[3] = operands.size() == 4 ? read_part(decoder, operands[3]) : decoder.constant(0, 32);
  ptx::Operand destination = operands[0];
  destination.selector.clear();
  operation.operands[0] = decoder.write(destination, 32);
  decoder.emit(operation);
  return true;
}

}  // namespace convladder::simulated
