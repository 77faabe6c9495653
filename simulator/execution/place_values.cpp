#include "simulator/execution/place_values.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace convladder::simulated::equivalence {

using ptx::Instruction;
using ptx::OperandKind;
using ptx::TypeClass;

Value constant(std::uint64_t value) {
  return {.is_line = true, .from_data = false, .slope = 0, .rest = value, .buffer = {}, .parameter_byte = {}};
}
Value joined(const Value& a, const Value& b) {
  Value both;
  both.from_data = a.from_data || b.from_data;
  both.is_line = a.is_line && b.is_line && a.slope == b.slope;
  if (!both.is_line) return both;
  both.slope = a.slope;
  if (a.rest == b.rest) both.rest = a.rest;
  if (a.buffer == b.buffer) both.buffer = a.buffer;
  if (a.parameter_byte == b.parameter_byte) both.parameter_byte = a.parameter_byte;
  return both;
}

namespace {

std::uint64_t mask_of(int bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

}  // namespace

std::uint64_t sign_extended(std::uint64_t value, int bits) {
  if (bits >= 64) return value;
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return ((value & mask_of(bits)) ^ sign) - sign;
}

namespace {

Value cut(Value value, int bits) {
  value.slope &= mask_of(bits);
  if (value.rest) *value.rest &= mask_of(bits);
  return value;
}

Value widened(Value value, const ptx::Type& from) {
  value = cut(value, from.bits);
  if (from.type_class != TypeClass::signed_) return value;
  value.slope = sign_extended(value.slope, from.bits);
  if (value.rest) value.rest = sign_extended(*value.rest, from.bits);
  return value;
}

// Each of these functions takes lines and returns one, or none.

Line sum(const Value& a, const Value& b, std::uint64_t sign = 1) {
  Value result;
  result.slope = a.slope + sign * b.slope;
  if (a.rest && b.rest) result.rest = *a.rest + sign * *b.rest;
  if (!a.buffer || !b.buffer) result.buffer = a.buffer ? a.buffer : b.buffer;
  if (a.parameter_byte && b.rest) result.parameter_byte = *a.parameter_byte + sign * *b.rest;
  if (b.parameter_byte && a.rest && sign == 1) result.parameter_byte = *b.parameter_byte + *a.rest;
  return result;
}

Line product(const Value& a, const Value& b) {
  if (a.slope == 0 && b.slope == 0) {
    return a.rest && b.rest ? constant(*a.rest * *b.rest) : kOfNoPlace;
  }
  const Value& factor = a.slope == 0 ? a : b;
  const Value& line = a.slope == 0 ? b : a;
  if (!factor.is_same_everywhere()) return std::nullopt;
  Value result;
  result.slope = line.slope * *factor.rest;
  if (line.rest) result.rest = *line.rest * *factor.rest;
  return result;
}

Line shifted_left(const Value& a, const Value& by) {
  if (!by.is_same_everywhere() || *by.rest >= 64) {
    return a.slope == 0 && by.slope == 0 ? Line(kOfNoPlace) : std::nullopt;
  }
  return product(a, constant(std::uint64_t{1} << *by.rest));
}

/// The quotient of unsigned values, or of values that are not negative.
Line quotient(const Value& a, const Value& by) {
  constexpr std::uint64_t largest = ~std::uint64_t{0} >> 1;
  const std::uint64_t divisor = by.is_same_everywhere() && *by.rest <= largest ? *by.rest : 0;
  if (a.slope > largest || by.slope != 0) return std::nullopt;
  if (a.slope != 0 && (divisor == 0 || a.slope % divisor != 0)) return std::nullopt;
  Value result;
  if (divisor == 0) return result;
  result.slope = a.slope / divisor;
  if (a.rest && *a.rest <= largest) result.rest = *a.rest / divisor;
  return result;
}

Line shifted_right(const Value& a, const Value& by) {
  if (!by.is_same_everywhere() || *by.rest >= 64) {
    return a.slope == 0 && by.slope == 0 ? Line(kOfNoPlace) : std::nullopt;
  }
  return quotient(a, constant(std::uint64_t{1} << *by.rest));
}

/// The bits of `b` below the lowest bit of the slope of `a`, which the place does not change.
Line bits_and(const Value& a, const Value& b) {
  if (a.slope == 0 && b.slope == 0) return a.rest && b.rest ? constant(*a.rest & *b.rest) : kOfNoPlace;
  const Value& mask = a.slope == 0 ? a : b;
  const Value& line = a.slope == 0 ? b : a;
  if (!mask.is_same_everywhere() || *mask.rest >= (line.slope & -line.slope)) return std::nullopt;
  return line.rest ? constant(*line.rest & *mask.rest) : kOfNoPlace;
}

/// A bitwise or as a sum, where no bit is set in both.
Line bits_or(const Value& a, const Value& b) {
  if (a.slope == 0 && b.slope == 0) return a.rest && b.rest ? constant(*a.rest | *b.rest) : kOfNoPlace;
  const Value& set = a.slope == 0 ? a : b;
  const Value& line = a.slope == 0 ? b : a;
  const bool apart =
      set.is_same_everywhere() && line.rest && (*set.rest & *line.rest) == 0 && *set.rest < (line.slope & -line.slope);
  return apart ? sum(line, set) : std::nullopt;
}

/// Whether the value fits into so many bits at every place, as a number with or without a sign.
bool fits(const Value& value, int bits, std::uint64_t places) {
  const std::uint64_t slope = std::min(value.slope & mask_of(bits), -value.slope & mask_of(bits));
  return slope <= mask_of(bits) / std::max<std::uint64_t>(places, 1);
}

/// Two values that the place moves alike compare for equality as without it; and one may be beyond the other at every
/// possible place.
Line comparison(std::span<const Value> operands, std::string_view relation, const ptx::Type& type,
                std::uint64_t places) {
  const Value a = widened(operands[0], type);
  const Value b = widened(operands[1], type);
  if (operands.size() > 2 && !operands[2].is_of_no_place()) return std::nullopt;
  if (a.slope == 0 && b.slope == 0) return kOfNoPlace;
  if (a.slope == b.slope && (relation == "eq" || relation == "ne")) return kOfNoPlace;
  const auto last_place = static_cast<std::int64_t>(places - 1);
  const auto at_last_place = [&](const Value& value) -> std::optional<std::int64_t> {
    const auto slope = static_cast<std::int64_t>(sign_extended(value.slope, type.bits));
    const std::int64_t at = static_cast<std::int64_t>(*value.rest) + slope * last_place;
    const bool is_signed = type.type_class == TypeClass::signed_;
    const std::int64_t most = std::int64_t{1} << (is_signed ? 31 : 32);
    return at < (is_signed ? -most : 0) || at >= most ? std::nullopt : std::optional(at);
  };
  if (!a.rest || !b.rest || type.bits != 32) return std::nullopt;
  const auto first = static_cast<std::int64_t>(*a.rest - *b.rest);
  const std::optional<std::int64_t> a_last = at_last_place(a);
  const std::optional<std::int64_t> b_last = at_last_place(b);
  if (!a_last || !b_last) return std::nullopt;
  const std::int64_t last = *a_last - *b_last;
  return (first < 0 && last < 0) || (first > 0 && last > 0) ? Line(kOfNoPlace) : std::nullopt;
}

Line conversion(const Value& value, std::string_view to_type, const ptx::Type& from) {
  const auto to = ptx::type_of_suffix(fmt::format(".{}", to_type));
  const auto is_integer = [](const ptx::Type& type) {
    return type.type_class == TypeClass::signed_ || type.type_class == TypeClass::unsigned_;
  };
  if (!to || !is_integer(*to) || !is_integer(from)) return std::nullopt;
  return cut(widened(value, from), to->bits);
}

}  // namespace

Line computed(const Instruction& instruction, std::span<const std::string_view> parts, std::span<const Value> operands,
              std::uint64_t places) {
  const auto type = ptx::type_of_suffix(fmt::format(".{}", parts.back()));
  const std::string_view name = parts.front();
  if (!type) return std::nullopt;
  if (name == "setp" && parts.size() > 2 && operands.size() >= 2) return comparison(operands, parts[1], *type, places);
  if (type->type_class == TypeClass::floating || type->type_class == TypeClass::floating_pair) return std::nullopt;
  const auto operand = [operands](std::size_t i) { return operands[i - 1]; };
  const auto extended = [&](std::size_t i) { return widened(operand(i), *type); };
  const std::size_t count = instruction.operands.size();
  const bool wide = parts.size() > 2 && parts[1] == "wide";
  const bool low = parts.size() > 2 && parts[1] == "lo";
  const bool carries = std::ranges::find(parts, "cc") != parts.end();
  Line result;
  if (carries) return std::nullopt;
  if ((name == "mov" || name == "cvta") && count == 2) {
    if (instruction.operands[1].kind == OperandKind::vector || instruction.operands[0].kind == OperandKind::vector) {
      return std::nullopt;
    }
    result = operand(1);
    if (name == "cvta") result->rest.reset();
  } else if (name == "cvt" && count == 2 && parts.size() == 3) {
    return conversion(operand(1), parts[1], *type);
  } else if (name == "add" && count == 3) {
    result = sum(operand(1), operand(2));
  } else if (name == "sub" && count == 3) {
    result = sum(operand(1), operand(2), ~std::uint64_t{0});
  } else if (name == "neg" && count == 2) {
    result = sum(constant(0), operand(1), ~std::uint64_t{0});
  } else if (name == "mul" && low && count == 3) {
    result = product(operand(1), operand(2));
  } else if (name == "mad" && low && count == 4) {
    const Line times = product(operand(1), operand(2));
    result = times ? sum(*times, operand(3)) : times;
  } else if (name == "mul" && wide && count == 3) {
    result = product(extended(1), extended(2));
    return result && fits(*result, 2 * type->bits, places) ? result : std::nullopt;
  } else if (name == "mad" && wide && count == 4) {
    const Line times = product(extended(1), extended(2));
    if (times) result = sum(*times, operand(3));
    return result && fits(*result, 2 * type->bits, places) ? result : std::nullopt;
  } else if (name == "shl" && count == 3) {
    result = shifted_left(operand(1), operand(2));
  } else if (name == "shr" && count == 3) {
    result = shifted_right(extended(1), operand(2));
  } else if (name == "div" && count == 3) {  // of signed numbers it rounds towards 0, not down
    const bool rounds_down = type->type_class == TypeClass::unsigned_ || extended(1).slope == 0;
    if (rounds_down) result = quotient(extended(1), extended(2));
  } else if (name == "and" && count == 3) {
    result = bits_and(operand(1), operand(2));
  } else if (name == "or" && count == 3) {
    result = bits_or(operand(1), operand(2));
  } else if (name == "selp" && count == 4) {
    if (operand(3).is_of_no_place()) result = joined(operand(1), operand(2));
  }
  if (!result || !result->is_line) return std::nullopt;
  result = cut(*result, type->bits);
  return fits(*result, type->bits, places) ? result : std::nullopt;
}

}  // namespace convladder::simulated::equivalence
