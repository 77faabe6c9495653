#include "harness/commands/judge/history_confirm.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <tuple>

#include "harness/commands/judge/duel_setup.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/judge/builds/commit_build.hpp"
#include "harness/measure/cases/google_engine.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"
#include "support/progress.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostConfirmRounds = 100;  // a few cases only, and an alarm that is left open helps nobody
constexpr const char* kConfirmGroup = "Measured again";

/// Alarms that one duel settles: those of the same two builds, with the settings of the same run.
struct Batch {
  std::string base;  ///< path of a program
  std::string now;
  const HistoryRun* run;  ///< whose settings are used
  std::vector<Alarm*> alarms;
};

/// A regular expression that matches the text and nothing else.
std::string literally(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view(R"(\^$.|?*+()[]{}/)").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

template <typename T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

class Confirmer {
 public:
  Confirmer(const History& history, const ConfirmArguments& arguments) : history_(history), arguments_(arguments) {}

  ConfirmedAlarms run() {
    result_.alarms = latest_alarms(history_, arguments_.suspect);
    for (Alarm& alarm : result_.alarms) put_into_batch(alarm);
    if (batches_.empty()) return result();
    initialize_google_benchmark({});
    if (const std::string note = make_idle_threads_sleep(); !note.empty()) result_.notes.push_back(note);
    int shares = static_cast<int>(batches_.size());
    // "Slower" and "faster" have an error each; a series that is only suspected may be either.
    const auto may_be = [this](bool slower) {
      return std::ranges::any_of(result_.alarms,
                                 [slower](const Alarm& one) { return one.suspected() || one.slower == slower; });
    };
    if (may_be(true) && may_be(false)) shares *= 2;
    for (auto& [key, batch] : batches_) measure(batch, shares);
    return result();
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;

  /// The alarms, without suspicions that were not measured again: they need no attention.
  ConfirmedAlarms result() {
    const auto idle = [](const Alarm& one) { return one.suspected() && one.outcome == AlarmOutcome::open; };
    std::map<std::string, std::size_t> reasons;
    for (const Alarm& alarm : result_.alarms) {
      if (idle(alarm)) ++reasons[alarm.reason];
    }
    std::erase_if(result_.alarms, idle);
    for (const auto& [reason, count] : reasons) {
      result_.notes.push_back(
          fmt::format("{} suspected, and cannot be told: {}", plural(count, "series", "series"), reason));
    }
    return std::move(result_);
  }

  void put_into_batch(Alarm& alarm) {
    const HistoryRun& latest = alarm.latest(history_);
    try {
      const auto [base, now] = programs_of(alarm);
      Batch& batch = batches_[{base, now, latest.run.file}];
      batch.base = base;
      batch.now = now;
      batch.run = &latest;
      batch.alarms.push_back(&alarm);
    } catch (const CommitFailure& failure) {  // this alarm alone is left open
      alarm.reason = failure.what();
    }
  }

  /// The programs before and after the alarm's change. Throws CommitFailure where the runs' builds cannot be had again.
  std::pair<std::string, std::string> programs_of(const Alarm& alarm) {
    if (!arguments_.base.empty()) return {arguments_.base, arguments_.now.empty() ? kThisProgram : arguments_.now};
    const HistoryRun& before = alarm.before(history_);
    const HistoryRun& latest = alarm.latest(history_);
    for (const HistoryRun* const run : {&before, &latest}) {
      if (run->commit == "unknown") {
        throw CommitFailure(fmt::format("the run of {} does not say of which commit it is", run->date));
      }
      if (run->dirty) {
        throw CommitFailure(
            fmt::format("the run of {} had uncommitted changes, so its build cannot be made again; "
                        "name builds with --base and --new",
                        run->date));
      }
    }
    if (before.commit == latest.commit) {
      throw CommitFailure(
          fmt::format("the runs before and after it are of the same commit {}: something else than the "
                      "code changed",
                      before.commit.substr(0, 9)));
    }
    return {built(before), built(latest)};
  }

  std::string built(const HistoryRun& run) {
    if (!repository_) repository_.emplace(arguments_.repository);
    const auto known = programs_.find(run.commit);
    if (known != programs_.end()) return known->second;
    const auto commit = [&] {
      try {
        return repository_->commit("commit", run.commit);
      } catch (const UserError& error) {
        throw CommitFailure(error.what());
      }
    }();
    const std::string program = build_commit(*repository_, commit, {default_builds_folder(), arguments_.build_options});
    return programs_[run.commit] = program;
  }

  /// The options of the batch's run, for its alarmed cases only.
  RunOptions options_of(const Batch& batch) const {
    RunOptions options = recorded_options(batch.run->run.file);
    if (!options.ladder.empty() || !options.with.empty()) {
      throw UserError(
          "stages of a folder are in no build: compare two versions of it with 'convladder duel --base OLD NEW'");
    }
    options.default_selection = false;
    options.variants.clear();
    options.devices.clear();
    options.batches.clear();
    options.families.clear();
    std::vector<std::string> layers;
    std::vector<std::string> ids;
    for (const Alarm* const alarm : batch.alarms) {
      const HistorySeries& series = alarm->in(history_);
      add_once(options.variants, series.variant);
      add_once(options.devices, series.device);
      add_once(options.batches, series.batch);
      if (series.network != "shape") add_once(layers, series.network + '.' + series.layer);
      ids.push_back(literally(series.id));
    }
    if (options.sizes.empty() && !layers.empty()) {
      options.networks.clear();
      options.layers = layers;
    }
    options.case_filter = fmt::format("^({})$", fmt::join(ids, "|"));
    return options;
  }

  /// Measures a batch. Alarms that cannot be measured again stay open.
  void measure(Batch& batch, int shares) {
    try {
      const std::optional<std::uint64_t> threads = batch.run->run.context.machine.threads;
      if (threads) setenv("OMP_NUM_THREADS", std::to_string(*threads).c_str(), 1);
      duel(batch, shares);
    } catch (const MachineFault&) {
      throw;
    } catch (const UserError& error) {
      for (Alarm* const alarm : batch.alarms) alarm->reason = error.what();
    }
  }

  void duel(Batch& batch, int shares) {
    const OtherProgram base = ask_program(batch.base);
    const OtherProgram now = ask_program(batch.now);
    compare_programs(base, now, result_.notes);
    const RunOptions options = options_of(batch);
    const std::vector<KernelGroup> plan = plan_kernel_duel(options, base, now, "", "");
    const ImageSet images = duel_images(plan, options);
    const DuelSettings settings = confirming_settings(history_, shares);
    DuelProgress progress(settings.limits);
    const DuelResult duel = run_duel(kernel_duel(plan, base, now, images, settings), settings, progress.listener());
    for (Alarm* const alarm : batch.alarms) {
      const auto one = std::ranges::find(duel.cases, alarm->in(history_).id, &DuelCase::id);
      if (one == duel.cases.end()) {
        alarm->reason = "this program does not plan the case any more";
      } else {
        settle_alarm(*alarm, one->verdict, one->change(), one->reason, !duel.control_outcome || duel.contaminated());
      }
    }
  }

  const History& history_;
  const ConfirmArguments& arguments_;
  ConfirmedAlarms result_;
  std::map<Key, Batch> batches_;
  std::optional<Repository> repository_;
  std::map<std::string, std::string> programs_;  ///< by commit
};

}  // namespace

DuelSettings confirming_settings(const History& history, int shares) {
  DuelSettings settings;
  VerdictLimits& limits = settings.limits.verdict;
  limits.tau = history.options.tau;
  limits.delta = std::max(limits.delta, limits.tau);
  limits.alpha = kConfirmAlpha / std::max(shares, 1);
  settings.limits.most_rounds = kMostConfirmRounds;
  settings.seed = std::random_device()();
  return settings;
}

void add_confirm_options(CLI::App& history, ConfirmArguments& a) {
  history
      .add_flag("--confirm", a.confirm,
                "measures alarmed cases again: the build before the change and that of the latest run in turns")
      ->group(kConfirmGroup);
  history.add_option("--suspect", a.suspect, "and series without a mark whose p is at most this (default 0.2)")
      ->check(number_between(0.0, 1.0))
      ->group(kConfirmGroup);
  history
      .add_option("--repository", a.repository, "a folder in the repository of the runs' commits (default: this one)")
      ->group(kConfirmGroup);
  history
      .add_option("--build-option", a.build_options,
                  "an option for cmake, the same for both builds: -DCONVLADDER_CUDA=OFF; may be repeated")
      ->allow_extra_args(false)
      ->group(kConfirmGroup);
  history.add_option("--base", a.base, "the build before the change, instead of one of the run's commit")
      ->group(kConfirmGroup);
  history.add_option("--new", a.now, "the latest build, likewise (default with --base: this program)")
      ->group(kConfirmGroup);
}

void check_confirm_arguments(const ConfirmArguments& a) {
  const auto needs = [](const char* option, bool is_given, const char* other, bool is_there) {
    if (is_given && !is_there) throw UserError(fmt::format("{} can be used only with {}", option, other));
  };
  needs("--suspect", a.suspect != kSuspect, "--confirm", a.confirm);
  needs("--repository", !a.repository.empty(), "--confirm", a.confirm);
  needs("--build-option", !a.build_options.empty(), "--confirm", a.confirm);
  needs("--base", !a.base.empty(), "--confirm", a.confirm);
  needs("--new", !a.now.empty(), "--base", !a.base.empty());
}

ConfirmedAlarms confirm_alarms(const History& history, const ConfirmArguments& arguments) {
  return Confirmer(history, arguments).run();
}

}  // namespace convladder
