#include "devices/simulated/execution/alike_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "devices/simulated/instructions/instruction_decoder.hpp"
#include "devices/simulated/instructions/textures/texture_opcode.hpp"

namespace convladder::simulated {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;
using ptx::TypeClass;

constexpr std::uint64_t kSectorBytes = 32;
constexpr std::uint64_t kBankBytes = 128;  // over which the banks of shared memory come again

/// What is known of a register at any time and in any thread: `rest` + the place * `slope`.
struct Value {
  bool is_line = true;                          ///< false: anything, also of a register that depends on memory
  bool from_data = false;                       ///< depends on what was read from memory
  std::uint64_t slope = 0;                      ///< in as many bits as the value has
  std::optional<std::uint64_t> rest;            ///< if it is the same number everywhere
  std::optional<KnownBuffer> buffer;            ///< that it points into, if that is known
  std::optional<std::uint64_t> parameter_byte;  ///< of the kernel's parameters, that it points to

  bool operator==(const Value&) const = default;
  bool is_same_everywhere() const { return is_line && slope == 0 && rest.has_value(); }
  bool is_of_no_place() const { return is_line && slope == 0; }
};

Value constant(std::uint64_t value) {
  return {.is_line = true, .from_data = false, .slope = 0, .rest = value, .buffer = {}, .parameter_byte = {}};
}
constexpr Value kOfNoPlace{};
constexpr Value kAnything{
    .is_line = false, .from_data = false, .slope = 0, .rest = {}, .buffer = {}, .parameter_byte = {}};
constexpr Value kData{.is_line = false, .from_data = true, .slope = 0, .rest = {}, .buffer = {}, .parameter_byte = {}};

/// What a register holds that is written at two places.
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

std::uint64_t mask_of(int bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

std::uint64_t sign_extended(std::uint64_t value, int bits) {
  if (bits >= 64) return value;
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return ((value & mask_of(bits)) ^ sign) - sign;
}

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

// Each takes lines and gives one, or none.
using Line = std::optional<Value>;

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

/// Of unsigned values, or of those that are not negative.
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

/// The bits of `b` below the lowest of the slope of `a`, which the place does not change.
Line bits_and(const Value& a, const Value& b) {
  if (a.slope == 0 && b.slope == 0) return a.rest && b.rest ? constant(*a.rest & *b.rest) : kOfNoPlace;
  const Value& mask = a.slope == 0 ? a : b;
  const Value& line = a.slope == 0 ? b : a;
  if (!mask.is_same_everywhere() || *mask.rest >= (line.slope & -line.slope)) return std::nullopt;
  return line.rest ? constant(*line.rest & *mask.rest) : kOfNoPlace;
}

/// A sum, where no bit is set in both.
Line bits_or(const Value& a, const Value& b) {
  if (a.slope == 0 && b.slope == 0) return a.rest && b.rest ? constant(*a.rest | *b.rest) : kOfNoPlace;
  const Value& set = a.slope == 0 ? a : b;
  const Value& line = a.slope == 0 ? b : a;
  const bool apart =
      set.is_same_everywhere() && line.rest && (*set.rest & *line.rest) == 0 && *set.rest < (line.slope & -line.slope);
  return apart ? sum(line, set) : std::nullopt;
}

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [text](std::string_view begin) { return text.starts_with(begin); });
}

/// Instructions whose first operand is not where they write to.
bool writes_no_register(std::string_view opcode) {
  return begins_with_any(opcode, {"st.",
                                  "red.",
                                  "bar.sync",
                                  "bar.arrive",
                                  "bar.warp",
                                  "barrier.sync",
                                  "barrier.arrive",
                                  "barrier.cta.sync",
                                  "barrier.cta.arrive",
                                  "cp.",
                                  "wmma.store",
                                  "bra",
                                  "ret",
                                  "exit",
                                  "prefetch",
                                  "nanosleep",
                                  "membar",
                                  "fence",
                                  "discard",
                                  "trap",
                                  "brkpt",
                                  "stackrestore",
                                  "stmatrix"});
}

/// Whose operands say how many threads wait, or where a matrix has its rows: as good as branches and addresses.
bool operands_decide(std::string_view opcode) {
  return begins_with_any(opcode, {"bar.", "barrier.", "cp.", "wmma.load", "wmma.store", "nanosleep"});
}

class Follower {
 public:
  Follower(const Program& program, Axis axis, Dim3 grid, Dim3 block, const std::vector<std::byte>& parameters,
           const BufferOfAddress& buffer_of)
      : kernel_(*program.kernel),
        program_(program),
        axis_(axis),
        grid_(grid),
        block_(block),
        parameters_(parameters),
        buffer_of_(buffer_of),
        registers_(kernel_.registers.size()),
        last_written_(kernel_.registers.size()),
        is_target_(kernel_.instructions.size()) {
    for (const Instruction& instruction : kernel_.instructions) {
      for (const Operand& operand : instruction.operands) {
        if (operand.kind == OperandKind::label && std::cmp_less(operand.index, is_target_.size())) {
          is_target_[static_cast<std::size_t>(operand.index)] = true;
        }
      }
    }
  }

  AlikeBlocks run() {
    for (const bool wait_for_sources : {true, false}) {
      waits_for_sources_ = wait_for_sources;
      for (changed_ = true; changed_;) {
        changed_ = false;
        follow_all([](const Instruction&) {});
        ++stretch_;
      }
    }
    result_.period = 1;
    if (program_.needs_block_order) refuse(kernel_.instructions.front(), "its blocks communicate");
    follow_all([this](const Instruction& instruction) { check(instruction); });
    return std::move(result_);
  }

 private:
  /// From the first instruction to the last; `before` sees each with what registers hold there.
  template <typename Before>
  void follow_all(const Before& before) {
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
      if (is_target_[i]) ++stretch_;
      before(kernel_.instructions[i]);
      follow(kernel_.instructions[i]);
    }
  }

  // --- what registers hold --------------------------------------------------------------------------------------

  Value of_register(int index) const {
    const LastWritten& last = last_written_[static_cast<std::size_t>(index)];
    if (last.stretch == stretch_) return last.value;
    return registers_[static_cast<std::size_t>(index)].value_or(kOfNoPlace);  // never written
  }

  Value read(const Operand& operand) const {
    switch (operand.kind) {
      case OperandKind::register_:
      case OperandKind::address:
        return operand.index < 0 ? kOfNoPlace : of_register(operand.index);
      case OperandKind::immediate:
        return operand.number == ptx::NumberKind::integer ? constant(operand.bits) : kOfNoPlace;
      case OperandKind::special:
        return special(operand.name);
      case OperandKind::symbol: {
        Value pointer = kOfNoPlace;
        pointer.parameter_byte = parameter_byte(operand);
        return pointer;
      }
      case OperandKind::vector:
      case OperandKind::pair: {
        Value all;
        for (const Operand& element : operand.elements) all = joined(all, read(element));
        return all;
      }
      default:
        return kOfNoPlace;
    }
  }

  bool is_unknown(const Operand& operand) const {
    const bool has_register = operand.kind == OperandKind::register_ || operand.kind == OperandKind::address;
    if (has_register && operand.index >= 0) return !registers_[static_cast<std::size_t>(operand.index)];
    return std::ranges::any_of(operand.elements, [this](const Operand& element) { return is_unknown(element); });
  }

  std::uint64_t places() const { return extent(grid_, axis_); }

  Value special(std::string_view name) const {
    if (name.starts_with("%clusterid.")) return special(fmt::format("%ctaid.{}", name.back()));
    if (name.starts_with("%nclusterid.")) return special(fmt::format("%nctaid.{}", name.back()));
    constexpr std::array<std::string_view, 3> places = {"%ctaid.x", "%ctaid.y", "%ctaid.z"};
    if (name == places[static_cast<std::size_t>(axis_)])
      return {.is_line = true, .from_data = false, .slope = 1, .rest = 0, .buffer = {}, .parameter_byte = {}};
    if (name == "%nctaid.x") return constant(grid_.x);
    if (name == "%nctaid.y") return constant(grid_.y);
    if (name == "%nctaid.z") return constant(grid_.z);
    if (name == "%ntid.x") return constant(block_.x);
    if (name == "%ntid.y") return constant(block_.y);
    if (name == "%ntid.z") return constant(block_.z);
    if (name == "%smid" || begins_with_any(name, {"%clock", "%globaltimer"})) return kAnything;
    return kOfNoPlace;
  }

  void write(const Operand& operand, const Value& value) {
    if (operand.kind == OperandKind::vector || operand.kind == OperandKind::pair) {
      for (const Operand& element : operand.elements) write(element, value);
    }
    if (operand.kind != OperandKind::register_) return;
    std::optional<Value>& known = registers_[static_cast<std::size_t>(operand.index)];
    const Value now = known ? joined(*known, value) : value;
    changed_ = changed_ || known != now;
    known = now;
    last_written_[static_cast<std::size_t>(operand.index)] = {is_conditional_ ? 0 : stretch_, value};
  }

  /// What the instruction will write is not known yet, and what was written before it is no more.
  void forget(const Operand& operand) {
    for (const Operand& element : operand.elements) forget(element);
    if (operand.kind == OperandKind::register_) last_written_[static_cast<std::size_t>(operand.index)].stretch = 0;
  }

  void follow(const Instruction& instruction) {
    if (instruction.operands.empty()) return;
    if (writes_memory(instruction)) note_write(instruction);
    if (writes_no_register(instruction.opcode)) return;
    is_conditional_ = instruction.predicate >= 0;
    // A loop reads what is written further below: its first values are to come from above.
    if (waits_for_sources_ && std::any_of(instruction.operands.begin() + 1, instruction.operands.end(),
                                          [this](const Operand& operand) { return is_unknown(operand); })) {
      return forget(instruction.operands.front());
    }
    const std::vector<std::string_view> parts = split_opcode(instruction.opcode);
    if (begins_with_any(instruction.opcode, {"ld.param", "ld.const"})) return load_unchanged(instruction, parts);
    if (begins_with_any(instruction.opcode, {"ld.", "ldu.", "ldmatrix", "atom.", "wmma.load", "wgmma.mma"})) {
      return write(instruction.operands[0], reads_table(instruction) ? kOfNoPlace : kData);
    }
    Value result = kOfNoPlace;
    bool all_are_lines = true;
    bool any_is_of_place = false;
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
      const Value value = read(instruction.operands[i]);
      result.from_data = result.from_data || value.from_data;
      all_are_lines = all_are_lines && value.is_line;
      any_is_of_place = any_is_of_place || value.slope != 0;
    }
    Line line = all_are_lines ? computed(instruction, parts) : std::nullopt;
    if (!line && all_are_lines && !any_is_of_place) line = kOfNoPlace;  // whatever it computes
    const bool from_data = result.from_data;
    result = line.value_or(kAnything);
    result.from_data = from_data;
    write(instruction.operands[0], result);
  }

  static bool writes_memory(const Instruction& instruction) {
    if (begins_with_any(instruction.opcode, {"cp.async.bulk.global", "cp.reduce.async.bulk.global"})) return true;
    return begins_with_any(instruction.opcode, {"st.", "red.", "atom.", "wmma.store"}) &&
           !names_space(instruction, "shared") && !names_space(instruction, "shared::cta") &&
           !names_space(instruction, "local");
  }

  void note_write(const Instruction& instruction) {
    for (const Operand& operand : instruction.operands) {
      if (operand.kind != OperandKind::address || (waits_for_sources_ && is_unknown(operand))) continue;
      const Value to = read(operand);
      if (to.buffer) {
        changed_ = written_buffers_.insert(to.buffer->begin).second || changed_;
      } else {
        changed_ = changed_ || !writes_anywhere_;
        writes_anywhere_ = true;
      }
    }
  }

  bool reads_table(const Instruction& instruction) const {
    if (!instruction.opcode.starts_with("ld.") || !names_space(instruction, "global") || writes_anywhere_) return false;
    const Value from = read(instruction.operands.at(1));
    return from.is_of_no_place() && !from.from_data && from.buffer && from.buffer->is_complete &&
           !written_buffers_.contains(from.buffer->begin);
  }

  /// Parameters and constants are the same for all blocks, and no kernel writes them.
  void load_unchanged(const Instruction& instruction, const std::vector<std::string_view>& parts) {
    const Operand& address = instruction.operands.at(1);
    const Value from = read(address);
    const auto type = ptx::type_of_suffix(fmt::format(".{}", parts.back()));
    const Operand& to = instruction.operands[0];
    const auto load = [&](const Operand& element, std::uint64_t offset) {
      Value value = from.is_of_no_place() ? kOfNoPlace : kAnything;
      value.from_data = from.from_data;
      const auto at = address.index < 0 ? parameter_byte(address) : from.parameter_byte;
      if (parts[1] == "param" && at && type) {
        value.rest =
            parameter(*at + (address.index < 0 ? 0 : static_cast<std::uint64_t>(address.offset)) + offset, *type);
      }
      if (value.rest && type->bits == 64) value.buffer = buffer_of_(*value.rest);
      write(element, value);
    };
    if (to.kind != OperandKind::vector) return load(to, 0);
    const auto bytes = static_cast<std::uint64_t>(type ? type->bytes() : 0);
    for (std::size_t i = 0; i < to.elements.size(); ++i) load(to.elements[i], i * bytes);
  }

  /// Where among the parameters a name and its offset lie; nothing if it is not the name of one.
  std::optional<std::uint64_t> parameter_byte(const Operand& named) const {
    const auto found = std::ranges::find(kernel_.parameters, named.name, &ptx::Symbol::name);
    if (found == kernel_.parameters.end()) return std::nullopt;
    const auto number = static_cast<std::size_t>(found - kernel_.parameters.begin());
    return program_.parameter_offsets[number] + static_cast<std::uint64_t>(named.offset);
  }

  std::optional<std::uint64_t> parameter(std::uint64_t at, const ptx::Type& type) const {
    if (type.bytes() > 8) return std::nullopt;
    const auto bytes = static_cast<std::uint64_t>(type.bytes());
    if (at > parameters_.size() || bytes > parameters_.size() - at) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, parameters_.data() + at, bytes);
    return type.type_class == TypeClass::signed_ ? sign_extended(value, type.bits) : value;
  }

  /// What an instruction makes of lines, if it is one that makes lines of them.
  Line computed(const Instruction& instruction, const std::vector<std::string_view>& parts) const {
    const auto type = ptx::type_of_suffix(fmt::format(".{}", parts.back()));
    const std::string_view name = parts.front();
    if (!type) return std::nullopt;
    if (name == "setp" && parts.size() > 2) return comparison(instruction, parts[1], *type);
    if (type->type_class == TypeClass::floating || type->type_class == TypeClass::floating_pair) return std::nullopt;
    const auto operand = [&](std::size_t i) { return read(instruction.operands.at(i)); };
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
      return conversion(operand(1), parts, *type);
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
      return result && fits(*result, 2 * type->bits) ? result : std::nullopt;
    } else if (name == "mad" && wide && count == 4) {
      const Line times = product(extended(1), extended(2));
      if (times) result = sum(*times, operand(3));
      return result && fits(*result, 2 * type->bits) ? result : std::nullopt;
    } else if (name == "shl" && count == 3) {
      result = shifted_left(operand(1), operand(2));
    } else if (name == "shr" && count == 3) {
      result = shifted_right(extended(1), operand(2));
    } else if (name == "div" && count == 3) {  // of what has a sign it rounds towards 0, not down
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
    return fits(*result, type->bits) ? result : std::nullopt;
  }

  /// Whether the place alone leaves the value in its bits, as a number with or without a sign.
  bool fits(const Value& value, int bits) const {
    const std::uint64_t slope = std::min(value.slope & mask_of(bits), -value.slope & mask_of(bits));
    return slope <= mask_of(bits) / std::max<std::uint64_t>(places(), 1);
  }

  /// Two values that the place moves alike are equal or not as without it; and one may be beyond the other at every
  /// place that there is.
  Line comparison(const Instruction& instruction, std::string_view relation, const ptx::Type& type) const {
    const Value a = widened(read(instruction.operands.at(1)), type);
    const Value b = widened(read(instruction.operands.at(2)), type);
    if (instruction.operands.size() > 3 && !read(instruction.operands[3]).is_of_no_place()) return std::nullopt;
    if (a.slope == 0 && b.slope == 0) return kOfNoPlace;
    if (a.slope == b.slope && (relation == "eq" || relation == "ne")) return kOfNoPlace;
    const auto last_place = static_cast<std::int64_t>(places() - 1);
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

  static Line conversion(const Value& value, const std::vector<std::string_view>& parts, const ptx::Type& from) {
    const auto to = ptx::type_of_suffix(fmt::format(".{}", parts[1]));
    const auto is_integer = [](const ptx::Type& type) {
      return type.type_class == TypeClass::signed_ || type.type_class == TypeClass::unsigned_;
    };
    if (!to || !is_integer(*to) || !is_integer(from)) return std::nullopt;
    return cut(widened(value, from), to->bits);
  }

  // --- what follows from it -------------------------------------------------------------------------------------

  void refuse(const Instruction& instruction, std::string_view why) {
    result_.period = 0;
    if (result_.why.empty()) {
      result_.why = fmt::format("PTX line {}: '{}': {}", instruction.position.line, instruction.opcode, why);
    }
  }

  void expect_of_no_place(const Instruction& instruction, const Value& value) {
    if (value.from_data) {
      result_.depends_on_data = true;
      refuse(instruction, "depends on what was read from memory");
    } else if (!value.is_of_no_place()) {
      refuse(instruction, "depends on the block's place");
    }
  }

  void check(const Instruction& instruction) {
    if (instruction.opcode.find("tensor") != std::string::npos) refuse(instruction, "a tensor map decides");
    if (instruction.predicate >= 0) expect_of_no_place(instruction, of_register(instruction.predicate));
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == OperandKind::address) {
        check_address(instruction, operand);
      } else if (operands_decide(instruction.opcode) && operand.kind != OperandKind::vector) {
        expect_of_no_place(instruction, read(operand));
      }
    }
  }

  void check_address(const Instruction& instruction, const Operand& operand) {
    const Value value = read(operand);
    if (value.from_data || value.slope == 0 || !value.is_line) return expect_of_no_place(instruction, value);
    const bool is_copy = instruction.opcode.starts_with("cp.async.c");  // from global memory to shared
    const bool is_global = is_copy ? &operand != &instruction.operands.front() : names_space(instruction, "global");
    if (is_global || names_space(instruction, "const")) {
      const auto period = static_cast<unsigned>(kSectorBytes / std::gcd(value.slope, kSectorBytes));
      if (result_.period > 0) result_.period = std::max(result_.period, period);
    } else if (value.slope % kBankBytes != 0) {
      expect_of_no_place(instruction, value);
    }
  }

  static bool names_space(const Instruction& instruction, std::string_view space) {
    const std::vector<std::string_view> parts = split_opcode(instruction.opcode);
    return std::ranges::find(parts, space) != parts.end();
  }

  const ptx::Kernel& kernel_;
  const Program& program_;
  Axis axis_;
  Dim3 grid_;
  Dim3 block_;
  const std::vector<std::byte>& parameters_;
  const BufferOfAddress& buffer_of_;
  /// Of all writes of a register: what it may hold anywhere.
  std::vector<std::optional<Value>> registers_;
  /// What it holds here, if it was written since the last instruction that a branch leads to.
  struct LastWritten {
    std::uint64_t stretch = 0;
    Value value;
  };
  std::vector<LastWritten> last_written_;
  std::vector<bool> is_target_;
  std::uint64_t stretch_ = 1;  ///< the number of the straight stretch of instructions that is followed
  bool is_conditional_ = false;
  std::set<std::uint64_t> written_buffers_;
  bool writes_anywhere_ = false;
  bool waits_for_sources_ = true;
  bool changed_ = false;
  AlikeBlocks result_;
};

}  // namespace

AlikeBlocks alike_blocks(const Program& program, Axis axis, Dim3 grid, Dim3 block,
                         const std::vector<std::byte>& parameters, const BufferOfAddress& buffer_of) {
  // Registers are followed within one function and from branch to label.
  if (!program.calls.empty() || !program.branch_tables.empty())
    return {0, true, "it calls functions or branches by table"};
  const auto has_texels = [](const Instruction& instruction) {
    return reads_texels(instruction.opcode) || writes_texels(instruction.opcode);
  };
  if (std::ranges::any_of(program.kernel->instructions, has_texels)) return {0, true, "it has textures or surfaces"};
  return Follower(program, axis, grid, block, parameters, buffer_of).run();
}

}  // namespace convladder::simulated
