#include "harness/judge/duel/programs/program_duel.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "harness/judge/duel/programs/command_words.hpp"
#include "harness/judge/duel/programs/temporary_folder.hpp"
#include "harness/judge/duel/programs/worker_process.hpp"
#include "harness/measure/machine/machine_load.hpp"
#include "harness/measure/machine/quality.hpp"
#include "ladders/program_output.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kJsonFile = "{json}";
constexpr const char* kKilled = "killed from outside, as the system does where memory runs out";
constexpr double kWorkerSubRunNs = 5e6;
constexpr int kWorkerSubRuns = 5;
constexpr double kMostWorkerSlotNs = 100e6;  // for calls so long that 5 of them tell no more than fewer
constexpr std::int64_t kMostCalls = 1'000'000'000;

/// The figures and the output of a run.
struct ProgramRun {
  double wall_ns = 0;
  double cpu_ns = 0;
  std::string output;

  /// Whether it used more processor time than one thread can: the system's account is no finer than some milliseconds.
  bool has_several_threads() const { return cpu_ns > kOneThread * wall_ns + kAccountNs; }

 private:
  static constexpr double kOneThread = 1.05;
  static constexpr double kAccountNs = 5e6;
};

/// Whether the sides of a pair have been seen to work with one thread.
struct SeenThreads {
  bool any_seen = false;
  bool several = false;
};

/// Shared by all pairs of a duel.
struct Ring {
  Ring(const ProgramDuelOptions& duel_options, const DuelSettings& duel_settings)
      : options(duel_options), settings(duel_settings) {}

  const ProgramDuelOptions& options;
  const DuelSettings& settings;
  TemporaryFolder scratch;  ///< for what programs write and checks read
  MachineWatch machine;
  std::set<std::string> notes;

  const ProgramSide& side(Role role) const { return role == Role::base ? options.base : options.now; }
};

std::vector<std::string> environment_of(const ProgramSide& side) {
  std::vector<std::string> variables;
  const auto replaced = [&](std::string_view one) {
    return std::ranges::any_of(side.variables, [&](const std::string& own) {
      return one.starts_with(std::string_view(own).substr(0, own.find('=') + 1));
    });
  };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!replaced(*variable)) variables.emplace_back(*variable);
  }
  variables.insert(variables.end(), side.variables.begin(), side.variables.end());
  return variables;
}

/// The last line of the text that is not blank, after a colon.
std::string last_line(const std::string& text) {
  const std::string last = last_words_of(text);
  return last.empty() ? std::string() : ": " + printable(last);
}

/// Commands of one case on one side.
class Runner {
 public:
  Runner(Ring& ring, SeenThreads& seen, Role role, std::string one_case)
      : ring_(&ring), seen_(&seen), role_(role), case_(std::move(one_case)) {}

  Role role() const { return role_; }
  const std::string& one_case() const { return case_; }
  Ring& ring() const { return *ring_; }
  std::string json_file() const { return ring_->scratch.file(fmt::format("{}.json", role_name(role_))); }

  CommandWords words(const char* option, const std::string& command) const {
    return command_words(option, with_value(with_value(command, "{}", case_), kJsonFile, json_file()));
  }
  CommandWords words() const { return words(role_ == Role::base ? "--base-command" : "--new-command", side().command); }

  /// The worker that this side's command starts.
  WorkerStart worker() const {
    CommandWords taken = words();
    if (!taken.has_shell) taken.words.front() = program_of(taken);
    return {taken.words, side().folder, environment_of(side()), timeout()};
  }

  /// Runs the command of this side. Throws SideFailure.
  ProgramRun run() const {
    std::error_code error;
    fs::remove(json_file(), error);
    ProgramRun done = run(words(), "");
    seen(done.has_several_threads());
    return done;
  }
  void seen(bool several_threads) const {
    seen_->any_seen = true;
    seen_->several = seen_->several || several_threads;
  }
  /// Runs another command for this side. Throws SideFailure.
  ProgramRun run(const char* option, const std::string& command, const std::string& what) const {
    return run(words(option, command), what);
  }

  [[noreturn]] void fail(const std::string& reason, bool is_the_machines = false) const {
    throw SideFailure(fmt::format("{}: {}", role_name(role_), reason), is_the_machines);
  }
  /// A failure that a busy machine may explain.
  [[noreturn]] void fail_by_time(const std::string& reason, Clock::time_point begin) const {
    const std::string busy = busy_text(ring_->machine.load_since(begin), 1);
    if (busy.empty()) fail(reason);
    fail(fmt::format("{}; not judged: {}", reason, busy), true);
  }

 private:
  const ProgramSide& side() const { return ring_->side(role_); }
  double timeout() const { return ring_->options.timeout_seconds; }

  std::string program_of(const CommandWords& taken) const {
    const std::string program = taken.program(side().folder);
    if (program.empty()) fail(fmt::format("{}: no such program", printable(taken.words.front())));
    return fs::absolute(program).string();
  }

  ProgramRun run(const CommandWords& command, const std::string& what) const {
    ring_->machine.look();
    const auto begin = Clock::now();
    CommandWords taken = command;
    if (!taken.has_shell) taken.words.front() = program_of(taken);
    ProgramSettings settings;
    settings.folder = side().folder;
    settings.environment = environment_of(side());
    settings.seconds = timeout();
    ProgramOutput output;
    try {
      output = run_program(taken.words, settings);
    } catch (const MachineFault&) {
      throw;
    } catch (const UserError& error) {
      fail(what + error.what());
    }
    if (output.timed_out) fail_by_time(fmt::format("{}timeout: not done within {:g} s", what, timeout()), begin);
    if (WIFSIGNALED(output.status)) {
      const int signal = WTERMSIG(output.status);
      if (signal == SIGKILL) fail(what + kKilled, true);
      fail(fmt::format("{}signal {} ({}){}", what, signal, strsignal(signal), last_line(output.messages)));
    }
    if (!output.succeeded()) {
      fail(fmt::format("{}exit code {}{}", what, WEXITSTATUS(output.status),
                       last_line(output.messages.empty() ? output.text : output.messages)));
    }
    if (output.left_processes > 0) {
      ring_->notes.insert(
          fmt::format("{}: it left processes behind, which were killed after every run", role_name(role_)));
    }
    return {output.wall_ns, output.cpu_ns, std::move(output.text)};
  }

  Ring* ring_;
  SeenThreads* seen_;
  Role role_;
  std::string case_;
};

/// A side with what it printed last.
class PrintingSide : public DuelSide {
 public:
  const std::string& output() const { return output_; }
  void verify_after() override {}

 protected:
  std::string output_;
};

/// A command that is run once for each slot.
class CommandSide : public PrintingSide {
 public:
  /// `names`: where the metrics are the times of a file, the names of the cases in it.
  CommandSide(Runner runner, const std::vector<std::string>& names) : runner_(std::move(runner)), names_(names) {}

  SlotValues slot() override {
    const ProgramRun run = runner_.run();
    const ProgramDuelOptions& options = runner_.ring().options;
    if (options.same_output && !first_output_) first_output_ = run.output;
    if (options.same_output && *first_output_ != run.output) {
      runner_.fail("what it prints is not the same in every run, so it cannot be compared (--same-output)");
    }
    output_ = run.output;
    SlotValues slot;
    try {
      if (!names_.empty()) return times_of_file();
      for (const MetricWish& wish : options.metrics) slot.values.push_back(value_of(wish, run));
    } catch (const UserError& error) {
      runner_.fail(error.what());
    }
    return slot;
  }

 private:
  double value_of(const MetricWish& wish, const ProgramRun& run) const {
    if (wish.from == MetricWish::From::wall) return run.wall_ns;
    if (wish.from == MetricWish::From::cpu) {
      if (!(run.cpu_ns > 0)) throw UserError("it took less processor time than the system counts");
      return run.cpu_ns;
    }
    std::error_code error;
    const bool of_file = wish.from == MetricWish::From::pointer && fs::exists(runner_.json_file(), error);
    return told_figure(wish, of_file ? read_file_text(runner_.json_file()) : run.output);
  }

  SlotValues times_of_file() const {
    std::map<std::string, ToldTime> times;
    for (const ToldTime& one : told_times(runner_.json_file())) times[one.name] = one;
    SlotValues slot;
    for (const std::string& name : names_) {
      const auto found = times.find(name);
      if (found == times.end()) throw UserError(fmt::format("{}: not in the file that it wrote", name));
      slot.values.push_back(found->second.ns);
      slot.clock_mhz.push_back(found->second.clock_mhz);
    }
    return slot;
  }

  Runner runner_;
  const std::vector<std::string>& names_;
  std::optional<std::string> first_output_;
};

/// A worker that stays for as many slots as it is asked for.
class WorkerSide : public PrintingSide {
 public:
  WorkerSide(const Runner& runner, int extra_percent, const SlotLength& length)
      : runner_(runner), extra_percent_(extra_percent), length_(length), worker_(started(runner)) {}

  SlotValues slot() override {
    SlotValues best;
    double fastest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < length_.sub_runs; ++i) {
      const auto [seconds, values] = ask(length_.iterations);
      if (!(seconds < fastest)) continue;
      fastest = seconds;
      best.values = values;
    }
    return best;
  }

  /// The calls that last as long as a sub-run: doubled until they do.
  SlotLength calibrated() {
    std::int64_t calls = calls_step();
    double ns = ask(calls).first * 1e9;
    while (ns < kWorkerSubRunNs && calls < kMostCalls) {
      const double factor = std::clamp(1.2 * kWorkerSubRunNs / std::max(ns, 1.0), 2.0, 100.0);
      calls = std::min(kMostCalls, rounded_up(static_cast<double>(calls) * factor));
      ns = ask(calls).first * 1e9;
    }
    if (ns < kWorkerSubRunNs / 10) {
      runner_.fail(fmt::format("the worker says that {} calls took {}: do they work?", calls, time_text(ns)));
    }
    runner_.seen(!worker_->has_one_thread());
    const int sub_runs = std::clamp(static_cast<int>(kMostWorkerSlotNs / ns), 1, kWorkerSubRuns);
    return {.iterations = static_cast<int>(calls), .sub_runs = sub_runs};
  }

  void verify_after() override {
    if (told_seconds_ < kTold * seen_seconds_) {
      runner_.ring().notes.insert(fmt::format(
          "{}: the worker took longer to answer than it says that its calls took, by {:.0f} %: what it does "
          "beside them is not in its times",
          role_name(runner_.role()), 100 * (seen_seconds_ / told_seconds_ - 1)));
    }
    const ProgramDuelOptions& options = runner_.ring().options;
    if (!options.same_output && options.check.empty()) return;
    const WorkerProcess::Answer answer = asked(output_request(runner_.one_case()));
    try {
      const std::optional<std::string> output = read_worker_output(answer.line);
      if (!output) throw UserError("the worker tells no output to compare");
      output_ = *output + '\n';
    } catch (const UserError& error) {
      runner_.fail(error.what());
    }
  }

 private:
  static std::unique_ptr<WorkerProcess> started(const Runner& runner) {
    runner.ring().machine.look();
    try {
      return std::make_unique<WorkerProcess>(runner.worker());
    } catch (const MachineFault&) {
      throw;
    } catch (const UserError& error) {
      runner.fail(error.what());
    }
  }

  /// 5 % of 20 calls is one call.
  std::int64_t calls_step() const { return extra_percent_ == 0 ? 1 : 100; }
  std::int64_t rounded_up(double calls) const {
    const auto step = static_cast<double>(calls_step());
    return static_cast<std::int64_t>(std::ceil(calls / step) * step);
  }

  WorkerProcess::Answer asked(const std::string& request) {
    const auto begin = Clock::now();
    try {
      return worker_->ask(request);
    } catch (const WorkerProcess::TimedOut& late) {
      runner_.fail_by_time(fmt::format("timeout: {}", late.what()), begin);
    } catch (const WorkerProcess::Killed&) {
      runner_.fail(kKilled, true);
    } catch (const UserError& error) {
      runner_.fail(error.what());
    }
  }

  /// The seconds that so many calls took, and the metrics. Extra work is done and not counted.
  std::pair<double, std::vector<double>> ask(std::int64_t calls) {
    const std::int64_t with_extra = calls * (100 + extra_percent_) / 100;
    const WorkerProcess::Answer answer = asked(slot_request(with_extra, runner_.one_case()));
    std::vector<double> values;
    double seconds = 0;
    try {
      seconds = read_worker_slot(answer.line).seconds;
      told_seconds_ += seconds;
      seen_seconds_ += answer.seconds;
      if (seconds > answer.seconds * 1.01 + 1e-4) {
        throw UserError(
            fmt::format("the worker says that {:.3g} s have passed, where {:.3g} s have", seconds, answer.seconds));
      }
      for (const MetricWish& wish : runner_.ring().options.metrics) {
        values.push_back(wish.from == MetricWish::From::wall ? seconds * 1e9 / static_cast<double>(calls)
                                                             : told_figure(wish, answer.line));
      }
    } catch (const UserError& error) {
      runner_.fail(error.what());
    }
    return {seconds, values};
  }

  Runner runner_;
  int extra_percent_;
  const SlotLength& length_;
  double told_seconds_ = 0;  ///< of all its answers
  double seen_seconds_ = 0;
  std::unique_ptr<WorkerProcess> worker_;

  static constexpr double kTold = 0.67;  // of the time that is seen: a worker has little else to do
};

class ProgramPair : public DuelPair {
 public:
  ProgramPair(const std::string& id, std::shared_ptr<Ring> ring, const std::string& one_case)
      : DuelPair(id, id, id),
        ring_(std::move(ring)),
        base_(*ring_, threads_, Role::base, one_case),
        now_(*ring_, threads_, Role::now, one_case) {}
  ~ProgramPair() override {
    const std::string& teardown = ring_->options.teardown;
    for (const Role role : set_up_) {
      if (teardown.empty()) break;
      try {
        runner(role).run("--teardown", teardown, "teardown: ");
      } catch (const std::exception& failure) {
        fmt::print(stderr, "convladder: {}\n", failure.what());
      }
    }
  }

  /// Takes the times of the file that the command writes for metrics, those in both sides' files. Returns the names of
  /// the others: the base's, and the new side's.
  std::array<std::vector<std::string>, 2> take_metrics_of_file() {
    std::array<std::vector<std::string>, 2> names;
    for (const Role role : {Role::base, Role::now}) {
      set_up(role);
      try {
        runner(role).run();
        for (const ToldTime& one : told_times(runner(role).json_file())) {
          names.at(role == Role::base ? 0 : 1).push_back(one.name);
        }
      } catch (const UserError& error) {
        runner(role).fail(error.what());
      }
    }
    std::array<std::vector<std::string>, 2> alone;
    for (const std::string& name : names[0]) {
      const bool is_in_both = std::ranges::find(names[1], name) != names[1].end();
      (is_in_both ? names_ : alone[0]).push_back(name);
    }
    for (const std::string& name : names[1]) {
      if (std::ranges::find(names[0], name) == names[0].end()) alone[1].push_back(name);
    }
    return alone;
  }

  std::vector<DuelMetric> metrics() const override {
    std::vector<DuelMetric> metrics;
    if (names_.size() == 1) return {{.name = "time that it tells"}};
    for (const std::string& name : names_) metrics.push_back({.name = name});
    if (!names_.empty()) return metrics;
    for (const MetricWish& wish : ring_->options.metrics) metrics.push_back(wish.metric);
    return metrics;
  }

  bool has_one_thread() const override { return threads_.any_seen && !threads_.several; }

  std::unique_ptr<DuelSide> open(Role role) override {
    set_up(role);
    if (!ring_->options.is_worker) return std::make_unique<CommandSide>(runner(role), names_);
    const int extra = role == Role::base ? 0 : ring_->settings.extra_percent;
    return std::make_unique<WorkerSide>(runner(role), extra, length_);
  }

  SlotLength calibrate(DuelSide& base, DuelSide& /*now*/) override {
    if (auto* const worker = dynamic_cast<WorkerSide*>(&base)) length_ = worker->calibrated();
    return length_;
  }

  void warm_up(DuelSide& side, Role role) override {
    if (ring_->options.is_worker) {
      side.slot();
      return;
    }
    int& runs = warm_runs_.at(role == Role::base ? 0 : 1);
    for (; runs < ring_->options.warmup; ++runs) side.slot();
  }

  void verify_together(DuelSide& one, DuelSide& other) override {
    const ProgramDuelOptions& options = ring_->options;
    const std::string& base = dynamic_cast<PrintingSide&>(one).output();
    const std::string& now = dynamic_cast<PrintingSide&>(other).output();
    if (options.same_output && base != now) {
      throw SideFailure("new: what it prints is not what the base prints (--same-output)");
    }
    if (options.check.empty()) return;
    write_file_atomically(ring_->scratch.file("base.out"), base);
    write_file_atomically(ring_->scratch.file("new.out"), now);
    const std::string command = with_value(with_value(options.check, "{base}", ring_->scratch.file("base.out")),
                                           "{new}", ring_->scratch.file("new.out"));
    now_.run("--check", command, "the check: ");
  }

 private:
  const Runner& runner(Role role) const { return role == Role::base ? base_ : now_; }

  void set_up(Role role) {
    if (std::ranges::find(set_up_, role) != set_up_.end()) return;
    set_up_.push_back(role);
    const std::string& setup = ring_->options.setup;
    if (!setup.empty()) runner(role).run("--setup", setup, "setup: ");
  }

  std::shared_ptr<Ring> ring_;
  SeenThreads threads_;
  Runner base_;
  Runner now_;
  std::vector<std::string> names_;  ///< of a file's times
  std::vector<Role> set_up_;
  std::array<int, 2> warm_runs_{};
  SlotLength length_;
};

class ProgramGroup : public DuelGroup {
 public:
  ProgramGroup(std::string title, std::shared_ptr<Ring> ring)
      : DuelGroup(std::move(title), "cpu", 0), ring_(std::move(ring)) {}

  std::vector<std::string> notes() override { return {ring_->notes.begin(), ring_->notes.end()}; }

 private:
  std::shared_ptr<Ring> ring_;
};

/// Whether both sides' files are the same program. A script is not: it may read files beside it.
bool are_same_files(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return false;
  const std::string text = read_file_text(one);
  return text.starts_with(
             "\x7f"
             "ELF") &&
         text == read_file_text(other);
}

/// A pair that only one side has.
std::unique_ptr<DuelPair> settled(const std::shared_ptr<Ring>& ring, const std::string& id, CaseVerdict verdict,
                                  const char* reason) {
  auto pair = std::make_unique<ProgramPair>(id, ring, "");
  pair->settle(verdict, reason);
  return pair;
}
std::unique_ptr<DuelPair> missing(const std::shared_ptr<Ring>& ring, const std::string& id) {
  return settled(ring, id, CaseVerdict::missing, "the new side does not have this case");
}
std::unique_ptr<DuelPair> added(const std::shared_ptr<Ring>& ring, const std::string& id) {
  return settled(ring, id, CaseVerdict::added, "the base does not have this case");
}

}  // namespace

std::string why_the_same(const ProgramDuelOptions& options) {
  const auto same_surroundings =
      options.base.folder == options.now.folder && options.base.variables == options.now.variables;
  if (!same_surroundings) return {};
  const CommandWords base = command_words("--base-command", options.base.command);
  const CommandWords now = command_words("--new-command", options.now.command);
  if (base.words == now.words) return "both commands are the same";
  const bool same_arguments = !base.has_shell && !now.has_shell && base.words.size() == now.words.size() &&
                              std::equal(base.words.begin() + 1, base.words.end(), now.words.begin() + 1);
  if (!same_arguments || !are_same_files(base.program(options.base.folder), now.program(options.now.folder))) return {};
  return "both are the same program, byte for byte, with the same arguments";
}

SideFacts side_facts(const ProgramSide& side) {
  const std::string program = command_words("the command", side.command).program(side.folder);
  SideFacts facts{.command = side.command, .folder = side.folder, .variables = side.variables};
  if (!program.empty()) facts.sha256 = sha256_hex(read_file_text(program));
  return facts;
}

DuelPlan program_duel(const ProgramDuelOptions& options, const DuelSettings& settings) {
  const auto ring = std::make_shared<Ring>(options, settings);
  const bool of_file = options.metrics.empty();
  const std::vector<ProgramCase> cases = options.cases.empty() ? std::vector{ProgramCase()} : options.cases;
  auto group = std::make_unique<ProgramGroup>(options.is_worker ? "workers" : "commands", ring);
  for (const ProgramCase& one : cases) {
    const std::string id = one.name.empty() ? "command" : printable(one.name);
    auto pair = std::make_unique<ProgramPair>(id, ring, one.argument);
    std::vector<std::unique_ptr<DuelPair>> others;
    if (of_file) {
      try {
        const auto [base, now] = pair->take_metrics_of_file();
        for (const std::string& name : base) others.push_back(missing(ring, name));
        for (const std::string& name : now) others.push_back(added(ring, name));
      } catch (const SideFailure& failure) {
        pair->settle(failure.is_the_machines ? CaseVerdict::inconclusive : CaseVerdict::failed, failure.what());
      }
    }
    if (!pair->runs() || !pair->metrics().empty()) group->pairs.push_back(std::move(pair));
    std::ranges::move(others, std::back_inserter(group->pairs));
  }
  for (const std::string& name : options.of_base) group->pairs.push_back(missing(ring, printable(name)));
  for (const std::string& name : options.of_new) group->pairs.push_back(added(ring, printable(name)));
  DuelPlan plan;
  plan.push_back(std::move(group));
  return plan;
}

}  // namespace convladder
