// Every instruction that computes one lane's value, against vectors from an independent oracle (opcode_vectors.py).
//
// For each case a kernel is made whose thread i computes vector i: once as it stands, once under a guard that is false
// for some lanes, whose destinations must then keep what they held.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <span>
#include <sstream>

#include "simulator/execution/executor.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/instructions/forms.hpp"
#include "simulator/ptx/parser.hpp"
#include "support/half.hpp"

namespace convladder::simulated {
namespace {

/// One operand as the vectors' file writes it: "d32", "r64", "dp", "dp|dp", "p", "=0x1b", "carry:in:out".
struct Operand {
  enum class Kind { destination, source, immediate, carry };
  Kind kind = Kind::source;
  int bits = 32;         ///< of its register, 1 for a predicate
  std::string text;      ///< of an immediate or a carry
  std::string sign;      ///< before a register
  std::string selector;  ///< behind it
};

/// One result, or half of one: see opcode_oracle/cases.py for how it is written.
struct Expected {
  enum class Kind { bits, not_a_number, range, anything };
  Kind kind = Kind::bits;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

struct Case {
  std::string opcode;
  std::string result;  ///< floating point type, or "-"
  std::vector<Operand> operands;
  bool destinations_are_pair = false;
  bool carry_in = false;
  bool carry_out = false;
  // Of all vectors, one behind the other. A result of two halves that are not only bits takes two places.
  std::vector<std::uint64_t> inputs;
  std::vector<Expected> expected;
  std::size_t vectors = 0;
  bool in_halves = false;
};

Operand operand_of(const std::string& text) {
  if (text[0] == '=') return {Operand::Kind::immediate, 32, text.substr(1), "", ""};
  if (text.starts_with("carry")) return {Operand::Kind::carry, 32, text, "", ""};
  if (text == "p") return {Operand::Kind::source, 1, "", "", ""};
  if (text[0] == '-') {
    Operand negated = operand_of(text.substr(1));
    negated.sign = "-";
    return negated;
  }
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string width = text.substr(1, dot - 1);
  // A register of 8 bits is one of 16 here: the device does not tell them apart.
  const int bits = width == "p" ? 1 : std::max(16, std::stoi(width));
  return {text[0] == 'd' ? Operand::Kind::destination : Operand::Kind::source, bits, "", "", text.substr(dot)};
}

std::uint64_t hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::runtime_error(fmt::format("'{}' is not a hexadecimal number", text));
  }
  return value;
}

Expected expected_of(std::string_view text) {
  if (text == "any") return {Expected::Kind::anything};
  if (text == "nan") return {Expected::Kind::not_a_number};
  if (const auto tilde = text.find('~'); tilde != std::string_view::npos) {
    return {Expected::Kind::range, hexadecimal(text.substr(0, tilde)), hexadecimal(text.substr(tilde + 1))};
  }
  return {Expected::Kind::bits, hexadecimal(text)};
}

/// `result` is used again for case after case, to keep its memory.
void begin_case(std::istream& line, Case& result) {
  result.operands.clear();
  result.inputs.clear();
  result.expected.clear();
  result.vectors = 0;
  result.destinations_are_pair = result.carry_in = result.carry_out = false;
  line >> result.opcode >> result.result;
  result.in_halves = result.result.ends_with("x2");
  if (result.in_halves) result.result.resize(result.result.size() - 2);
  for (std::string text; line >> text;) {
    if (text[0] == '@') continue;  // the target
    if (const auto bar = text.find('|'); bar != std::string::npos) {
      result.destinations_are_pair = true;
      result.operands.push_back(operand_of(text.substr(0, bar)));
      result.operands.push_back(operand_of(text.substr(bar + 1)));
      continue;
    }
    const Operand operand = operand_of(text);
    if (operand.kind != Operand::Kind::carry) {
      result.operands.push_back(operand);
      continue;
    }
    result.carry_in = text.find(":in") != std::string::npos;
    result.carry_out = text.find(":out") != std::string::npos;
  }
}

/// Calls visit(case) for each case of the file, which is too large to keep.
template <typename Visit>
void for_each_case(const Visit& visit) {
  std::ifstream file(CONVLADDER_OPCODE_VECTORS);
  Case current;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word;
    if (text.starts_with("case ")) {
      if (!current.opcode.empty()) visit(current);
      line >> word;
      begin_case(line, current);
      continue;
    }
    while (line >> word && word != ">") current.inputs.push_back(hexadecimal(word));
    while (line >> word) current.expected.push_back(expected_of(word));
    ++current.vectors;
  }
  if (!current.opcode.empty()) visit(current);
}

// --- the kernel -----------------------------------------------------------------------------------------------------

constexpr std::uint64_t kUntouched = 0x5a5a5a5a5a5a5a5a;
constexpr int kSlotBytes = 8;  // of every input and output in memory

std::string type_of(int bits) { return bits == 1 ? ".pred" : fmt::format(".b{}", bits); }

class KernelWriter {
 public:
  explicit KernelWriter(const Case& tested) : tested_(tested) {}

  std::string text() {
    for (const Operand& operand : tested_.operands) {
      if (operand.kind == Operand::Kind::source) {
        load(operand.bits);
        sources_.back() = operand.sign + sources_.back() + operand.selector;
      }
      if (operand.kind == Operand::Kind::immediate) sources_.push_back(operand.text);
    }
    if (tested_.carry_in) load(64);
    execute("plain", "");
    execute("kept", "@guard ");
    return fmt::format(
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry test(.param .u64 p_in, .param .u64 p_out, .param .u32 p_count) {{\n"
        ".reg .pred guard, behind; .reg .b32 thread, count, part, flag; .reg .b64 in, out, carry, carried;\n{}"
        "mov.u32 thread, %tid.x; ld.param.u32 count, [p_count]; setp.ge.u32 behind, thread, count; @behind ret;\n"
        "ld.param.u64 in, [p_in]; mad.wide.u32 in, thread, {}, in;\n"
        "ld.param.u64 out, [p_out]; mad.wide.u32 out, thread, {}, out;\n"
        "and.b32 part, thread, 3; setp.ne.s32 guard, part, 1;\n{}ret;\n}}\n",
        declarations_, kSlotBytes * loads_, kSlotBytes * outputs_, body_);
  }
  int outputs() const { return outputs_; }

 private:
  std::string declare(const std::string& name, int bits) {
    declarations_ += fmt::format(".reg {} {};\n", type_of(bits), name);
    return name;
  }

  void load(int bits) {
    const std::string name = declare(fmt::format("source{}", sources_.size()), bits);
    const int offset = kSlotBytes * loads_++;
    if (bits == 1) {
      body_ += fmt::format("ld.global.b32 flag, [in+{}]; setp.ne.s32 {}, flag, 0;\n", offset, name);
    } else {
      body_ += fmt::format("ld.global{} {}, [in+{}];\n", type_of(bits), name, offset);
    }
    sources_.push_back(name);
  }

  void store(const std::string& name, int bits) {
    const int offset = kSlotBytes * outputs_++;
    if (bits == 1) {
      body_ += fmt::format("selp.b32 flag, 1, 0, {}; st.global.b32 [out+{}], flag;\n", name, offset);
    } else {
      body_ += fmt::format("st.global{} [out+{}], {};\n", type_of(bits), offset, name);
    }
  }

  /// The instruction, with destinations of its own that hold kUntouched before.
  void execute(const std::string& prefix, const std::string& guard) {
    std::vector<std::pair<std::string, int>> destinations;
    for (const Operand& operand : tested_.operands) {
      if (operand.kind != Operand::Kind::destination) continue;
      const std::string name = declare(fmt::format("{}{}", prefix, destinations.size()), operand.bits);
      destinations.emplace_back(name, operand.bits);
      body_ += operand.bits == 1
                   ? fmt::format("setp.eq.s32 {}, 0, 0;\n", name)
                   : fmt::format("mov{} {}, {:#x};\n", type_of(operand.bits), name, kUntouched >> (64 - operand.bits));
    }
    std::string list = destinations[0].first + tested_.operands[0].selector;
    for (std::size_t i = 1; i < destinations.size(); ++i) {
      list += fmt::format("{}{}", tested_.destinations_are_pair ? "|" : ", ", destinations[i].first);
    }
    const std::size_t sources = sources_.size() - (tested_.carry_in ? 1 : 0);
    for (std::size_t i = 0; i < sources; ++i) list += fmt::format(", {}", sources_[i]);
    // A carry comes from 1 + ~0 and is seen as the 1 that it adds.
    body_ +=
        fmt::format("add.cc.u64 carried, {}, {:#x};\n", tested_.carry_in ? sources_.back() : "0", ~std::uint64_t{0});
    body_ += fmt::format("{}{} {};\n", guard, tested_.opcode, list);
    if (tested_.carry_out) body_ += "addc.u64 carry, 0, 0;\n";
    for (const auto& [name, bits] : destinations) store(name, bits);
    if (tested_.carry_out) store("carry", 64);
  }

  const Case& tested_;
  std::string declarations_;
  std::string body_;
  std::vector<std::string> sources_;
  int loads_ = 0;
  int outputs_ = 0;
};

/// Runs the kernels of the cases, in memory that they share.
class CaseRunner {
 public:
  CaseRunner() : memory_(2 * kBytes), in_(memory_.allocate(kBytes, "in")), out_(memory_.allocate(kBytes, "out")) {}

  /// What thread i wrote: all outputs of the instruction as it stands, then those of the guarded one.
  std::vector<std::uint64_t> run(const Case& tested) {
    KernelWriter writer(tested);
    const ptx::Module module = ptx::parse_module(writer.text(), tested.opcode);
    const Program program = decode(module, module.kernels.at(0), [](const ptx::Symbol&) { return std::uint64_t{0}; });
    std::vector<std::uint64_t> results(tested.vectors * static_cast<std::size_t>(writer.outputs()), 0);
    const std::size_t bytes = results.size() * kSlotBytes;
    if (bytes > kBytes || tested.inputs.size() * kSlotBytes > kBytes) throw std::length_error("too many vectors");
    std::memcpy(memory_.host(in_), tested.inputs.data(), tested.inputs.size() * kSlotBytes);
    std::memcpy(memory_.host(out_), results.data(), bytes);
    LaunchConfiguration configuration;
    configuration.grid = {1};
    configuration.with_caches = false;
    // The last warp is never full.
    configuration.block = {static_cast<unsigned>((tested.vectors + kLanes) / kLanes) * kLanes};
    configuration.parameters.resize(program.parameter_bytes);
    const auto count = static_cast<std::uint32_t>(tested.vectors);
    std::memcpy(configuration.parameters.data() + program.parameter_offsets[0], &in_, 8);
    std::memcpy(configuration.parameters.data() + program.parameter_offsets[1], &out_, 8);
    std::memcpy(configuration.parameters.data() + program.parameter_offsets[2], &count, 4);
    execute(program, memory_, configuration);
    std::memcpy(results.data(), memory_.host(out_), bytes);
    return results;
  }

 private:
  static constexpr std::size_t kBytes = 256 * 1024;
  DeviceMemory memory_;
  std::uint64_t in_;
  std::uint64_t out_;
};

// --- comparing ------------------------------------------------------------------------------------------------------

double number_of(std::uint64_t bits, const std::string& type) {
  if (type == "f16") return to_float(Half{static_cast<std::uint16_t>(bits)});
  if (type == "bf16") return to_float(Bfloat16{static_cast<std::uint16_t>(bits)});
  if (type == "f64") return std::bit_cast<double>(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

bool matches(std::uint64_t found, const Expected& expected, const std::string& type) {
  switch (expected.kind) {
    case Expected::Kind::anything:
      return true;
    case Expected::Kind::not_a_number:
      return std::isnan(number_of(found, type));
    case Expected::Kind::range:
      return number_of(found, type) >= number_of(expected.low, type) &&
             number_of(found, type) <= number_of(expected.high, type);
    case Expected::Kind::bits:
      return found == expected.low;
  }
  return false;
}

std::string described(const Expected& expected) {
  switch (expected.kind) {
    case Expected::Kind::anything:
      return "anything";
    case Expected::Kind::not_a_number:
      return "NaN";
    case Expected::Kind::range:
      return fmt::format("{:x} to {:x}", expected.low, expected.high);
    case Expected::Kind::bits:
      return fmt::format("{:x}", expected.low);
  }
  return "";
}

/// The first vector that fails, as a line; empty if none does.
std::string first_difference(const Case& tested, const std::vector<std::uint64_t>& results) {
  if (tested.vectors == 0) return tested.opcode + ": no vectors";
  std::vector<int> bits;
  for (const Operand& operand : tested.operands) {
    if (operand.kind == Operand::Kind::destination) bits.push_back(operand.bits);
  }
  const std::size_t outputs = results.size() / tested.vectors / 2;
  if (outputs == 0) return tested.opcode + ": no results";
  const std::size_t parts = tested.in_halves ? 2 : 1;
  if (tested.expected.size() != outputs * parts * tested.vectors) return tested.opcode + ": malformed vectors";
  const std::size_t input_count = tested.inputs.size() / tested.vectors;
  for (std::size_t i = 0; i < tested.vectors; ++i) {
    const std::span inputs(tested.inputs.data() + i * input_count, input_count);
    for (std::size_t k = 0; k < 2 * outputs; ++k) {
      const std::size_t output = k % outputs;
      const std::uint64_t found = results[i * 2 * outputs + k];
      if (k >= outputs && i % 4 == 1) {  // the guard was false
        const bool is_carry = output >= bits.size();
        const std::uint64_t kept = is_carry            ? (tested.carry_in ? inputs.back() : 0)
                                   : bits[output] == 1 ? 1
                                                       : kUntouched >> (64 - bits[output]);
        if (found == kept) continue;
        return fmt::format("{} of {:x}: result {} is {:x} under a guard that is false", tested.opcode,
                           fmt::join(inputs, ", "), output, found);
      }
      for (std::size_t part = 0; part < parts; ++part) {
        const std::uint64_t value = tested.in_halves ? (found >> (16 * part)) & 0xffffU : found;
        const Expected& expected = tested.expected[(i * outputs + output) * parts + part];
        if (matches(value, expected, tested.result)) continue;
        return fmt::format("{} of {:x}: result {} is {:x}, expected {}", tested.opcode, fmt::join(inputs, ", "), output,
                           value, described(expected));
      }
    }
  }
  return "";
}

class OpcodeVectors : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(CONVLADDER_OPCODE_VECTORS).empty()) GTEST_SKIP() << "no Python 3 was found to make the vectors";
  }
};

TEST_F(OpcodeVectors, EveryFormHasVectors) {
  std::set<std::string> with_vectors;
  std::ifstream file(CONVLADDER_OPCODE_VECTORS);
  Case tested;
  for (std::string text; std::getline(file, text);) {
    if (!text.starts_with("case ")) continue;
    std::istringstream line(text);
    std::string word;
    line >> word;
    begin_case(line, tested);
    with_vectors.insert(tested.opcode);
    with_vectors.insert(form_of(tested.opcode, tested.operands.size() - 1));
  }
  for (const std::string& opcode : forms().opcodes()) EXPECT_TRUE(with_vectors.contains(opcode)) << opcode;
}

TEST_F(OpcodeVectors, EveryResultIsTheOraclesOne) {
  CaseRunner runner;
  std::size_t cases = 0;
  std::size_t vectors = 0;
  for_each_case([&](const Case& tested) {
    std::string difference;
    try {
      difference = first_difference(tested, runner.run(tested));
    } catch (const std::exception& error) {
      difference = fmt::format("{}: {}", tested.opcode, error.what());
    }
    EXPECT_EQ(difference, "");
    ++cases;
    vectors += tested.vectors;
  });
  EXPECT_GE(cases, forms().opcodes().size());
  EXPECT_GT(vectors, 20 * cases);
}

}  // namespace
}  // namespace convladder::simulated
