// Tells which builds of this program can work together. A duel checks this first on both sides.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "variants/variant.hpp"

namespace convladder {

/// Raised whenever a message between a command and the process of a case changes (CaseSession::answer, the hello of
/// start_case_process, the layout of Workload): builds with different numbers cannot be used together.
inline constexpr int kCaseProtocol = 4;

/// Another build of this program, or this one, as a side of a duel.
struct OtherProgram {
  std::string path;                ///< as given, or kThisProgram
  nlohmann::ordered_json program;  ///< what the program reports about itself, as `context.program` of a record
  std::set<std::string> variants;  ///< "cpu/flat-vector", "max-pooling:cpu/vector", …: the variants that it has

  /// Whether the program has that variant of a problem.
  bool has(const ProblemVariant& variant) const;
  /// Whether the program has that variant of the convolution.
  bool has(std::string_view family, std::string_view variant) const;
};

/// Starts the program and asks which build it is. Throws UserError in one line if the program is not there, cannot be
/// started, is not convladder, or speaks another protocol.
OtherProgram ask_program(const std::string& path);

}  // namespace convladder
