// Tells which builds of this program can work together. A duel checks this first on both sides.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/measure/isolation/client.hpp"
#include "harness/measure/machine/program_facts.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// Raised whenever a message between a command and the process of a case changes (case_messages.hpp), or the layout of
/// Workload: builds with different numbers cannot be used together.
inline constexpr int kCaseProtocol = 5;

/// The process of a program that says which build it is; it may be any program.
namespace to_build {

struct Hello {};

struct Told {
  int protocol = 0;  ///< the rest is read only where it is kCaseProtocol
  ProgramFacts program;
  std::vector<std::string> variants;
  static void each_field(auto&& field, auto& its) {
    field("protocol", its.protocol);
    if (its.protocol == kCaseProtocol) field("program", its.program, "variants", its.variants);
  }
};

struct About {
  static constexpr std::string_view kName = "about";
  using Reply = Told;
};

}  // namespace to_build

struct BuildMessages {
  using Hello = to_build::Hello;
  using Request = std::variant<to_build::About>;
  using Answer = std::variant<Ending, to_build::Told>;
};

extern template struct MessageTexts<BuildMessages>;

/// Another build of this program, or this one, as a side of a duel.
struct OtherProgram {
  std::string path;  ///< as given, or kThisProgram
  ProgramFacts program;
  std::set<std::string> variants;  ///< that it has: "cpu/flat-vector", "max-pooling:cpu/vector", "network:cpu/best", …

  /// Whether the program has that variant of a problem.
  bool has(const ProblemVariant& variant) const;
  /// Whether the program has that variant of the convolution.
  bool has(std::string_view family, std::string_view variant) const;
};

/// Starts the program and asks which build it is. Throws UserError in one line if the program is not there, cannot be
/// started, is not convladder, or speaks another protocol.
OtherProgram ask_program(const std::string& path);

}  // namespace convladder
