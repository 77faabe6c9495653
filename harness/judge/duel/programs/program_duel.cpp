#include "harness/judge/duel/programs/program_duel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "harness/judge/duel/programs/command_words.hpp"
#include "harness/judge/duel/programs/program_sides.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"

namespace convladder {
namespace {

class ProgramPair : public DuelPair {
 public:
  ProgramPair(const std::string& id, std::shared_ptr<ProgramRing> ring, const std::string& one_case)
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
    if (!ring_->options.is_worker) {
      return std::make_unique<CommandSlots>(runner(role), length_, names_, all_runs_.at(number_of(role)));
    }
    const int extra = role == Role::base ? 0 : ring_->settings.extra_percent;
    return std::make_unique<WorkerSlots>(runner(role), length_, extra);
  }

  SlotLength calibrate(DuelSide& base, DuelSide& /*now*/) override {
    length_ = dynamic_cast<ProgramSlots&>(base).calibrated();
    return length_;
  }

  /// A worker is a fresh process in every round; a command is one in every run, so that the first ones are enough.
  void warm_up(DuelSide& side, Role role) override {
    auto& slots = dynamic_cast<ProgramSlots&>(side);
    if (ring_->options.is_worker) {
      slots.warm_up();
      return;
    }
    for (int& runs = warm_runs_.at(number_of(role)); runs < ring_->options.warmup; ++runs) slots.warm_up();
  }

  std::vector<double> values_of_runs(Role role, std::size_t metric) const override {
    const MetricRuns& all = all_runs_.at(number_of(role));
    return metric < all.size() && length_.sub_runs > 1 ? all[metric] : std::vector<double>();
  }

  void verify_together(DuelSide& one, DuelSide& other) override {
    const ProgramDuelOptions& options = ring_->options;
    const std::string& base = dynamic_cast<ProgramSlots&>(one).output();
    const std::string& now = dynamic_cast<ProgramSlots&>(other).output();
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
  static std::size_t number_of(Role role) { return role == Role::base ? 0 : 1; }
  const CommandRunner& runner(Role role) const { return role == Role::base ? base_ : now_; }

  void set_up(Role role) {
    if (std::ranges::find(set_up_, role) != set_up_.end()) return;
    set_up_.push_back(role);
    const std::string& setup = ring_->options.setup;
    if (!setup.empty()) runner(role).run("--setup", setup, "setup: ");
  }

  std::shared_ptr<ProgramRing> ring_;
  SeenThreads threads_;
  CommandRunner base_;
  CommandRunner now_;
  std::vector<std::string> names_;  ///< of a file's times
  std::vector<Role> set_up_;
  std::array<int, 2> warm_runs_{};
  std::array<MetricRuns, 2> all_runs_;
  SlotLength length_;
};

class ProgramGroup : public DuelGroup {
 public:
  ProgramGroup(std::string title, std::shared_ptr<ProgramRing> ring)
      : DuelGroup(std::move(title), "cpu", 0), ring_(std::move(ring)) {}

  std::vector<std::string> notes() override { return {ring_->notes.begin(), ring_->notes.end()}; }

 private:
  std::shared_ptr<ProgramRing> ring_;
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
std::unique_ptr<DuelPair> settled(const std::shared_ptr<ProgramRing>& ring, const std::string& id, CaseVerdict verdict,
                                  const char* reason) {
  auto pair = std::make_unique<ProgramPair>(id, ring, "");
  pair->settle(verdict, reason);
  return pair;
}
std::unique_ptr<DuelPair> missing(const std::shared_ptr<ProgramRing>& ring, const std::string& id) {
  return settled(ring, id, CaseVerdict::missing, "the new side does not have this case");
}
std::unique_ptr<DuelPair> added(const std::shared_ptr<ProgramRing>& ring, const std::string& id) {
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
  const auto ring = std::make_shared<ProgramRing>(options, settings);
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
