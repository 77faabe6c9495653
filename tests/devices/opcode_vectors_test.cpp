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
#include <sstream>

#include "devices/simulated/execution/executor.hpp"
#include "devices/simulated/execution/forms.hpp"
#include "devices/simulated/execution/half.hpp"
#include "devices/simulated/ptx/parser.hpp"

namespace convladder::simulated {
namespace {

/// One operand as the vectors' file writes it: "d32", "r64", "dp", "dp|dp", "p", "=0x1b", "carry:add:in:out".
struct Operand {
  enum class Kind { destination, source, immediate, carry };
  Kind kind = Kind::source;
  int bits = 32;     ///< of its register, 1 for a predicate
  std::string text;  ///< of an immediate or a carry
};

struct Vector {
  std::vector<std::uint64_t> inputs;
  std::vector<std::string> expected;
};

struct Case {
  std::string opcode;
  std::string result;  ///< floating point type, or "-"
  std::vector<Operand> operands;
  bool destinations_are_pair = false;
  bool carry_in = false;
  bool carry_out = false;
  bool carry_of_difference = false;
  std::vector<Vector> vectors;
};

Operand operand_of(const std::string& text) {
  if (text[0] == '=') return {Operand::Kind::immediate, 32, text.substr(1)};
  if (text.starts_with("carry")) return {Operand::Kind::carry, 32, text};
  if (text == "p") return {Operand::Kind::source, 1, ""};
  const std::string width = text.substr(1);
  return {text[0] == 'd' ? Operand::Kind::destination : Operand::Kind::source, width == "p" ? 1 : std::stoi(width), ""};
}

std::uint64_t hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::runtime_error(fmt::format("'{}' is not a hexadecimal number", text));
  }
  return value;
}

Case case_of(std::istream& line) {
  Case result;
  line >> result.opcode >> result.result;
  for (std::string text; line >> text;) {
    if (text == "dp|dp") {
      result.destinations_are_pair = true;
      result.operands.insert(result.operands.end(), 2, operand_of("dp"));
      continue;
    }
    const Operand operand = operand_of(text);
    if (operand.kind != Operand::Kind::carry) {
      result.operands.push_back(operand);
      continue;
    }
    result.carry_of_difference = text.starts_with("carry:sub");
    result.carry_in = text.find(":in") != std::string::npos;
    result.carry_out = text.find(":out") != std::string::npos;
  }
  return result;
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
      current = case_of(line);
      continue;
    }
    Vector vector;
    while (line >> word && word != ">") vector.inputs.push_back(hexadecimal(word));
    while (line >> word) vector.expected.push_back(word);
    current.vectors.push_back(std::move(vector));
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
      if (operand.kind == Operand::Kind::source) load(operand.bits);
      if (operand.kind == Operand::Kind::immediate) sources_.push_back(operand.text);
    }
    if (tested_.carry_in) load(64);
    execute("plain", "");
    execute("kept", "@guard ");
    const auto inputs = static_cast<int>(tested_.vectors.at(0).inputs.size());
    return fmt::format(
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry test(.param .u64 p_in, .param .u64 p_out, .param .u32 p_count) {{\n"
        ".reg .pred guard, behind; .reg .b32 thread, count, part, flag; .reg .b64 in, out, carry, carried;\n{}"
        "mov.u32 thread, %tid.x; ld.param.u32 count, [p_count]; setp.ge.u32 behind, thread, count; @behind ret;\n"
        "ld.param.u64 in, [p_in]; mad.wide.u32 in, thread, {}, in;\n"
        "ld.param.u64 out, [p_out]; mad.wide.u32 out, thread, {}, out;\n"
        "and.b32 part, thread, 3; setp.ne.s32 guard, part, 1;\n{}ret;\n}}\n",
        declarations_, kSlotBytes * inputs, kSlotBytes * outputs_, body_);
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
    std::string list = destinations[0].first;
    for (std::size_t i = 1; i < destinations.size(); ++i) {
      list += fmt::format("{}{}", tested_.destinations_are_pair ? "|" : ", ", destinations[i].first);
    }
    const std::size_t sources = sources_.size() - (tested_.carry_in ? 1 : 0);
    for (std::size_t i = 0; i < sources; ++i) list += fmt::format(", {}", sources_[i]);
    // A carry comes from 1 + ~0, a borrow from 0 - 1; one is seen as the 1 it adds, the other as the one it takes.
    const bool difference = tested_.carry_of_difference;
    const std::string in = tested_.carry_in ? sources_.back() : "0";
    body_ += difference ? fmt::format("sub.cc.u64 carried, 0, {};\n", in)
                        : fmt::format("add.cc.u64 carried, {}, {:#x};\n", in, ~std::uint64_t{0});
    body_ += fmt::format("{}{} {};\n", guard, tested_.opcode, list);
    if (tested_.carry_out) {
      body_ += difference ? "subc.u64 carry, 0, 0; neg.s64 carry, carry;\n" : "addc.u64 carry, 0, 0;\n";
    }
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

/// What thread i wrote: all outputs of the instruction as it stands, then those of the guarded one.
std::vector<std::uint64_t> run(const Case& tested) {
  KernelWriter writer(tested);
  const ptx::Module module = ptx::parse_module(writer.text(), tested.opcode);
  const Program program = decode(module, module.kernels.at(0), [](const ptx::Symbol&) { return std::uint64_t{0}; });
  const std::size_t count = tested.vectors.size();
  const std::size_t inputs = tested.vectors[0].inputs.size();
  DeviceMemory memory(1 << 18);
  const std::uint64_t in = memory.allocate(count * inputs * kSlotBytes, "in");
  const std::size_t outputs = count * static_cast<std::size_t>(writer.outputs());
  const std::uint64_t out = memory.allocate(outputs * kSlotBytes, "out");
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(memory.host(in + i * inputs * kSlotBytes), tested.vectors[i].inputs.data(), inputs * kSlotBytes);
  }
  std::vector<std::uint64_t> result(outputs, 0);
  std::memcpy(memory.host(out), result.data(), outputs * kSlotBytes);
  LaunchConfiguration configuration;
  configuration.grid = {1};
  configuration.block = {static_cast<unsigned>((count + kLanes) / kLanes) * kLanes};  // the last warp is never full
  configuration.parameters.resize(program.parameter_bytes);
  const auto count_32 = static_cast<std::uint32_t>(count);
  std::memcpy(configuration.parameters.data() + program.parameter_offsets[0], &in, 8);
  std::memcpy(configuration.parameters.data() + program.parameter_offsets[1], &out, 8);
  std::memcpy(configuration.parameters.data() + program.parameter_offsets[2], &count_32, 4);
  execute(program, memory, configuration);
  std::memcpy(result.data(), memory.host(out), outputs * kSlotBytes);
  return result;
}

// --- comparing ------------------------------------------------------------------------------------------------------

double number_of(std::uint64_t bits, const std::string& type) {
  if (type == "f16") return to_float(Half{static_cast<std::uint16_t>(bits)});
  if (type == "bf16") return to_float(Bfloat16{static_cast<std::uint16_t>(bits)});
  if (type == "f64") return std::bit_cast<double>(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

bool matches(std::uint64_t found, const std::string& expected, const std::string& type) {
  if (expected == "any") return true;
  if (expected == "nan") return std::isnan(number_of(found, type));
  if (const auto comma = expected.find(','); comma != std::string::npos) {
    return matches(found & 0xffffU, expected.substr(0, comma), type) &&
           matches(found >> 16, expected.substr(comma + 1), type);
  }
  if (const auto tilde = expected.find('~'); tilde != std::string::npos) {
    const double number = number_of(found, type);
    return number >= number_of(hexadecimal(expected.substr(0, tilde)), type) &&
           number <= number_of(hexadecimal(expected.substr(tilde + 1)), type);
  }
  return found == hexadecimal(expected);
}

/// The first vector that fails, as a line; empty if none does.
std::string first_difference(const Case& tested) {
  const std::vector<std::uint64_t> results = run(tested);
  std::vector<int> bits;
  for (const Operand& operand : tested.operands) {
    if (operand.kind == Operand::Kind::destination) bits.push_back(operand.bits);
  }
  const std::size_t outputs = results.size() / tested.vectors.size() / 2;
  for (std::size_t i = 0; i < tested.vectors.size(); ++i) {
    const Vector& vector = tested.vectors[i];
    for (std::size_t k = 0; k < 2 * outputs; ++k) {
      const std::size_t output = k % outputs;
      const std::uint64_t found = results[i * 2 * outputs + k];
      const bool kept = k >= outputs && i % 4 == 1;
      std::string expected = vector.expected.at(output);
      if (kept && output < bits.size()) {
        expected = fmt::format("{:x}", bits[output] == 1 ? 1 : kUntouched >> (64 - bits[output]));
      } else if (kept) {
        expected = tested.carry_in ? fmt::format("{:x}", vector.inputs.back()) : "0";
      }
      if (matches(found, expected, tested.result)) continue;
      return fmt::format("{} of {:x}: result {} is {:x}{}, expected {}", tested.opcode, fmt::join(vector.inputs, ", "),
                         output, found, kept ? " under a guard that is false" : "", expected);
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
  for_each_case([&](const Case& tested) {
    EXPECT_FALSE(tested.vectors.empty()) << tested.opcode;
    with_vectors.insert(tested.opcode);
  });
  for (const std::string& opcode : forms().opcodes()) EXPECT_TRUE(with_vectors.contains(opcode)) << opcode;
}

TEST_F(OpcodeVectors, EveryResultIsTheOraclesOne) {
  std::size_t cases = 0;
  std::size_t vectors = 0;
  for_each_case([&](const Case& tested) {
    std::string difference;
    try {
      difference = first_difference(tested);
    } catch (const std::exception& error) {
      difference = fmt::format("{}: {}", tested.opcode, error.what());
    }
    EXPECT_EQ(difference, "");
    ++cases;
    vectors += tested.vectors.size();
  });
  EXPECT_GE(cases, forms().opcodes().size());
  EXPECT_GT(vectors, 20 * cases);
}

}  // namespace
}  // namespace convladder::simulated
