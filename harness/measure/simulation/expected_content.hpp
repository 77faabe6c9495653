// The expected contents of a buffer or a variable after the launch, as typed on the command line, and whether it has
// them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/measure/simulation/simulation_inputs.hpp"
#include "harness/measure/simulation/simulation_report.hpp"

namespace convladder {

/// A value passes if |found - expected| <= absolute + relative * |expected|. Only NaN passes for NaN, and only the same
/// infinity for an infinity.
struct ExpectedContent {
  std::string text;  ///< as written: "y=@reference.npy:1e-6"
  ReadContent content;
  KernelArgument expected;  ///< its type may differ from the buffer's
  double relative = 0;
  double absolute = 0;
};

/// Parses the values of --expect: NAME=CONTENT[:RELATIVE[,ABSOLUTE]]. Throws UserError, also where the shape is not the
/// buffer's; a list and a .bin file have no shape, only a number of elements.
std::vector<ExpectedContent> parse_expectations(const std::vector<std::string>& texts, const SimulationInputs& inputs,
                                                const ptx::Module& module);

/// Compares all values with the expected ones.
ExpectationOutcome compare(const ExpectedContent& expectation, const BufferContent& found);

}  // namespace convladder
