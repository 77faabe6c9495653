#include "harness/measure/isolation/program_start.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "harness/measure/isolation/instruction_sets.hpp"
#include "support/errors.hpp"
#include "support/standard_streams.hpp"

namespace convladder {
namespace {

constexpr std::string_view kThreads = "OMP_NUM_THREADS=";
constexpr std::string_view kGooglesVariables = "BENCHMARK_";
constexpr int kMostThreads = 1024;

/// Whether the text is a number of threads, or several with commas, for nested teams.
bool is_thread_list(std::string_view text) {
  for (;;) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    int threads = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
    if (error != std::errc() || threads < 1 || threads > kMostThreads) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (text.empty()) return true;
    if (!text.starts_with(',')) return false;
    text.remove_prefix(1);
  }
}

/// Whether the command is `convladder duel --bisect`, whose errors must not mark a commit as bad.
bool is_bisection(int argc, char** argv) {
  bool asked = false;
  for (int i = 2; i < argc; ++i) asked = asked || std::string_view(argv[i]).starts_with("--bis");
  return asked && std::string_view(argv[1]) == "duel";
}

void say(std::string_view text) { static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) == 0); }

/// Ends the program where the processor lacks an instruction set that it was compiled for.
void require_instruction_sets(int exit_code) {
  const std::uint32_t missing = kCompiledInstructionSets & ~instruction_sets_here();
  if (missing == 0) return;
  std::array<char, 512> line{};
  std::size_t used = 0;
  const auto add = [&](std::string_view text) {
    for (const char one : text.substr(0, line.size() - used)) line[used++] = one;
  };
  add("convladder: this processor lacks ");
  used += instruction_set_names(missing, {line.data() + used, line.size() - used});
  add(", which the program was compiled for: compile it on this machine, or with "
      "-DCONVLADDER_CPU_ARCHITECTURE=x86-64\n");
  say({line.data(), used});
  ::_exit(exit_code);
}

}  // namespace

void start_program(int argc, char** argv, char** environment) {
  open_standard_streams();
  const int exit_of_errors = is_bisection(argc, argv) ? kExitStopBisect : kExitError;
  require_instruction_sets(exit_of_errors);
  char** kept = environment;
  for (char** variable = environment; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (!text.starts_with(kGooglesVariables)) *kept++ = *variable;
    if (!text.starts_with(kThreads) || is_thread_list(text.substr(kThreads.size()))) continue;
    constexpr std::string_view line =
        "convladder: OMP_NUM_THREADS: expected a whole number of threads from 1 to 1024; if unset, all cores are "
        "used\n";
    say(line);
    ::_exit(exit_of_errors);
  }
  *kept = nullptr;
}

}  // namespace convladder
