#include "harness/isolation/program_start.hpp"

#include <unistd.h>

#include <charconv>
#include <string_view>

#include "support/errors.hpp"
#include "support/standard_streams.hpp"

namespace convladder {
namespace {

constexpr std::string_view kThreads = "OMP_NUM_THREADS=";
constexpr std::string_view kGooglesVariables = "BENCHMARK_";
constexpr int kMostThreads = 1024;

/// A number, or several with commas, for teams in teams.
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

}  // namespace

void start_program(int /*argc*/, char** /*argv*/, char** environment) {
  open_standard_streams();
  char** kept = environment;
  for (char** variable = environment; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (!text.starts_with(kGooglesVariables)) *kept++ = *variable;
    if (!text.starts_with(kThreads) || is_thread_list(text.substr(kThreads.size()))) continue;
    constexpr std::string_view line =
        "convladder: OMP_NUM_THREADS: expected a whole number of threads from 1 to 1024; if unset, all cores are "
        "used\n";
    static_cast<void>(::write(STDERR_FILENO, line.data(), line.size()) == 0);
    ::_exit(kExitError);
  }
  *kept = nullptr;
}

}  // namespace convladder
