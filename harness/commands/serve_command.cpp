// `convladder serve`: judges submissions for one problem, as they come: for agents, notebooks and other programs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/judge/serving/front.hpp"
#include "harness/judge/serving/job_queue.hpp"
#include "harness/judge/serving/serve_loop.hpp"
#include "harness/judge/serving/submission_judge.hpp"
#include "harness/measure/cases/google_engine.hpp"
#include "harness/measure/cases/stage_device.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "support/errors.hpp"
#include "support/interruption.hpp"
#include "support/printable.hpp"
#include "support/progress.hpp"

namespace convladder {
namespace {

constexpr double kStepSeconds = 10;
constexpr double kUsualBudget = 0.2;  // s
constexpr std::size_t kMostKept = 100'000;

/// The command line, not checked yet.
struct ServeArguments {
  ServeOptions options;
  std::string ladder;
  std::optional<std::uint64_t> seed;
  std::string socket;
  bool mcp = false;
};

constexpr const char* kServeFooter = R"(examples:
  convladder serve softmax/ --socket /tmp/softmax.sock    for any number of clients, until Ctrl-C
  convladder serve softmax/ --mcp                         the Model Context Protocol, as an agent's client starts it
  echo '{"source": "...", "language": "cpp"}' | convladder serve softmax/

A line of JSON is a request, a line of JSON the answer: {"id": 1, "source": "TEXT", "language": "cpp", "sizes": ["R64C256"],
"measure": true}. Its "status" is OK, COMPILE_ERROR, WRONG, RACE, MEMORY, SYNCHRONIZATION, CHEAT, CRASHED, TIMEOUT, ...
docs/use/serve.md has all fields. Submissions are untrusted code, confined as in 'convladder rank'.
exit codes: 0 the input has ended and everything is answered, or the server was told to end (Ctrl-C, SIGTERM) -
3 bad input, or nothing could be written)";

void add_serve_options(CLI::App& serve, ServeArguments& a) {
  ServeOptions& o = a.options;
  o.run.budget_seconds = kUsualBudget;
  o.run.timeout_seconds = kStepSeconds;
  serve.add_option("FOLDER", a.ladder, "the ladder: problem.json and a reference; stages of its own are left alone")
      ->required();
  serve.add_option("--socket", a.socket, "listen at this local socket instead of the standard input")->group("How");
  serve.add_flag("--mcp", a.mcp, "speak the Model Context Protocol on the standard input and output")->group("How");
  serve.add_option("--budget", o.run.budget_seconds, "seconds of measuring on a size (default 0.2)")
      ->check(number_between(0.0, kMostOptionSeconds))
      ->group("How");
  serve.add_option("--timeout", o.run.timeout_seconds, "seconds for each step of a submission (default 10)")
      ->check(number_between(kShortestTimeout, kMostOptionSeconds))
      ->group("How");
  serve.add_option("--limit", o.limit_seconds, "seconds for all steps of a submission on a size (default 60)")
      ->check(number_between(kShortestTimeout, kMostOptionSeconds))
      ->group("How");
  serve.add_option("--keep", o.most_kept, "compiled submissions that are kept (default 500)")
      ->check(CLI::Range(std::size_t{1}, kMostKept))
      ->group("How");
  serve.add_option("--seed", a.seed, "seed of the inputs (default: nobody knows it before)")
      ->check(seed_error)
      ->group("How");
}

void take_arguments(ServeArguments& a) {
  choose_ladder(a.options.run, a.ladder);
  if (a.options.run.ladder.empty()) {
    throw UserError(
        fmt::format("{}: no folder with a problem.json: only such problems can be served", printable(a.ladder)));
  }
  if (a.mcp && !a.socket.empty()) throw UserError("--mcp and --socket: the Model Context Protocol is for one client");
  a.options.run.seed = a.seed ? *a.seed : std::random_device()();
}

int serve_command(ServeArguments& a, const CommandLine& /*command_line*/) {
  StageDevice::trust_nobody();
  take_arguments(a);
  initialize_google_benchmark({});
  const WaitingInterrupts waiting;
  std::optional<ServerSocket> socket;
  if (!a.socket.empty()) socket.emplace(a.socket);
  Progress progress(nullptr, 0);
  SubmissionJudge judge(a.options, [&](const std::string& file, int done, int all) {
    progress.show_part(fmt::format("compiling {}", file), static_cast<double>(done) / all, std::nullopt);
  });
  const std::unique_ptr<Front> front = a.mcp ? mcp_front(judge.problem()) : json_lines_front(judge.problem());
  ServeEnd end = ServeEnd::no_more_input;
  JobQueue queue(judge);
  if (socket) {
    fmt::print("listening at {}\n", printable(a.socket));
    std::fflush(stdout);
    end = serve_socket(*front, queue, *socket);
  } else {
    end = serve_standard_streams(*front, queue);
  }
  if (end == ServeEnd::interrupted) {
    // A submission may still run for as long as its limits allow; its processes end with this one.
    socket.reset();
    judge.leave_nothing();
    std::_Exit(kExitOk);
  }
  return kExitOk;
}

const CommandRegistration serve_registration({.name = "serve",
                                              .group = CommandGroup::folders,
                                              .help = "judges submissions as they come: JSON lines, a socket, MCP",
                                              .footer = kServeFooter,
                                              .add = command_of<ServeArguments, add_serve_options, serve_command>,
                                              .needs_proc = true});

}  // namespace
}  // namespace convladder
