// Programs that hold benchmarks of Google Benchmark or nvbench, which can be asked for them.
#pragma once

#include <string>
#include <vector>

#include "support/text_pattern.hpp"

namespace convladder {

enum class BenchmarkFramework { none, google, nvbench };

/// The framework that the program's file looks like; none for a file that cannot be read, for one of this program's
/// builds, and for anything else. Starts nothing.
BenchmarkFramework benchmark_framework_of(const std::string& program);

/// The names of its benchmarks that match, as the program lists them. Throws UserError if it lists none, or fails.
std::vector<std::string> benchmarks_of(const std::string& program, BenchmarkFramework framework,
                                       const TextPattern& wanted);

/// The command that measures one benchmark, "{}", and writes the framework's file, "{json}". `options` are further ones
/// of the framework, such as -a 'Elements=1000'.
std::string benchmark_command(const std::string& program, BenchmarkFramework framework, const std::string& options);
/// The text that "{}" stands for in that command.
std::string benchmark_argument(const std::string& name, BenchmarkFramework framework);

}  // namespace convladder
