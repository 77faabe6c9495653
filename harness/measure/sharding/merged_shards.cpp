#include "harness/measure/sharding/merged_shards.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "harness/measure/cases/ceilings.hpp"
#include "harness/measure/isolation/status.hpp"
#include "harness/measure/records/record.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

/// Every shard.json below the plan, whatever its folder is called.
std::vector<fs::path> shard_files(const RunPlan& plan) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(plan.folder() / "shards", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path file = entry->path() / kShardKind.file();
    std::error_code ignored;
    if (fs::exists(file, ignored)) files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

/// The numbers, up to so many: "3, 17, 40".
std::string numbers_text(const std::set<int>& numbers) {
  constexpr std::size_t most = 12;
  std::vector<std::string> texts;
  for (const int one : numbers) {
    if (texts.size() < most) texts.push_back(fmt::to_string(one));
  }
  const std::size_t more = numbers.size() - texts.size();
  return fmt::format("{}{}", fmt::join(texts, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace

MergedShards::MergedShards(const RunPlan& plan, double sentinel_limit) : plan_(&plan), sentinel_limit_(sentinel_limit) {
  for (const GroupOfPlan& group : plan.groups) {
    for (const std::string& id : group.cases) {
      planned_.emplace(id, shard_of_case_.size());
      shard_of_case_.push_back(group.shard);
    }
  }
  cases_.resize(shard_of_case_.size());
  for (const fs::path& file : shard_files(plan)) read_shard(file);
  find_holes();
  find_divided_groups();
  judge();
}

void MergedShards::read_shard(const fs::path& file) {
  ShardReader reader(file);
  const std::string name = reader.name();
  if (reader.plan() != plan_->id) {
    contradictions_.push_back(fmt::format("{} is a shard of another plan", name));
    return;
  }
  const int number = reader.number(plan_->shards);
  const auto [known, is_new] = read_shards_.emplace(number, name);
  if (!is_new) {
    contradictions_.push_back(fmt::format("shard {} is there twice: {} and {}", number, known->second, name));
    return;
  }
  if (!reader.is_by_program_of(*plan_)) {
    contradictions_.push_back(fmt::format("{} was measured by another build than the plan's", name));
    return;
  }
  readers_.push_back(std::move(reader));
  const std::vector<std::size_t> sessions = take_sessions(readers_.back(), number);
  take_cases(readers_.size() - 1, number, sessions);
  if (readers_.back().is_cut()) holes_.push_back(fmt::format("{} was cut off in the middle", name));
}

/// Adds the shard's sessions. Returns their numbers among all sessions.
std::vector<std::size_t> MergedShards::take_sessions(const ShardReader& reader, int shard) {
  ShardParts parts = reader.parts();
  std::vector<std::size_t> machines;
  for (MachineOfShards& machine : parts.machines) machines.push_back(number_of_machine(std::move(machine)));
  std::vector<std::size_t> sessions;
  std::set<int> kinds;
  for (SessionOfShards& session : parts.sessions) {
    session.machine = machines.at(session.machine);
    session.shard = shard;
    kinds.insert(machines_[session.machine].kind);
    sessions.push_back(sessions_.size());
    sessions_.push_back(std::move(session));
  }
  for (SentinelOfShards& sentinel : parts.sentinels) {
    sentinel.session = sessions.at(sentinel.session);
    sentinel.run.machine = sessions_[sentinel.session].machine;
    sentinels_.push_back(std::move(sentinel));
  }
  // If a shard went from one kind of machine to another, nobody knows which samples are whose.
  if (kinds.size() == 1) {
    const auto [known, is_new] = ceilings_.try_emplace(*kinds.begin(), parts.ceilings);
    if (!is_new) known->second = pooled_ceilings({known->second, parts.ceilings});
  }
  return sessions;
}

std::size_t MergedShards::number_of_machine(MachineOfShards machine) {
  const auto known = std::ranges::find(machines_, machine.about, &MachineOfShards::about);
  if (known != machines_.end()) return static_cast<std::size_t>(known - machines_.begin());
  const auto same = std::ranges::find(machines_, machine.likeness, &MachineOfShards::likeness);
  machine.kind = same == machines_.end() ? kinds_++ : same->kind;
  machines_.push_back(std::move(machine));
  return machines_.size() - 1;
}

void MergedShards::take_cases(std::size_t reader, int shard, const std::vector<std::size_t>& sessions) {
  const ShardReader& record = readers_[reader];
  for (std::size_t number = 0; number < record.cases(); ++number) {
    const RecordedCase one = record.case_at(number);
    const std::string name = record.name_of_case(number);
    const auto known = planned_.find(one.id);
    if (known == planned_.end() || shard_of_case_[known->second] != shard) {
      contradictions_.push_back(fmt::format("{}: {} is no case of shard {}", name, printable(one.id), shard));
      continue;
    }
    std::optional<CaseOfShard>& place = cases_[known->second];
    if (place) {
      contradictions_.push_back(fmt::format("{}: {} is there twice", name, printable(one.id)));
      continue;
    }
    place = CaseOfShard{.reader = reader,
                        .number = number,
                        .session = sessions.at(static_cast<std::size_t>(one.session)),
                        .timed = !one.counters && was_run(one.status),
                        .failed = one.failed()};
  }
}

const Ceilings& MergedShards::ceilings(int kind) const {
  static const Ceilings none;
  const auto known = ceilings_.find(kind);
  return known == ceilings_.end() ? none : known->second;
}

void MergedShards::find_holes() {
  std::map<int, std::pair<std::size_t, std::size_t>> missing;  // by shard: how many of how many
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    auto& [lacks, all] = missing[shard_of_case_[i]];
    ++all;
    if (!cases_[i]) ++lacks;
  }
  for (const auto& [shard, count] : missing) {
    const auto& [lacks, all] = count;
    if (lacks == 0) continue;
    holes_.push_back(read_shards_.contains(shard)
                         ? fmt::format("shard {} is not finished: {} of {} missing", shard, lacks, plural(all, "case"))
                         : fmt::format("shard {} is missing: {}", shard, plural(all, "case")));
  }
}

void MergedShards::find_divided_groups() {
  std::size_t first = 0;
  for (const GroupOfPlan& group : plan_->groups) {
    std::set<std::string> nodes;
    std::set<std::size_t> machines;
    for (std::size_t i = first; i < first + group.cases.size(); ++i) {
      if (!cases_[i] || !cases_[i]->timed) continue;
      machines.insert(machine_of(*cases_[i]));
      nodes.insert(printable(machines_[machine_of(*cases_[i])].node, kShortText));
    }
    first += group.cases.size();
    if (machines.size() < 2) continue;
    contradictions_.push_back(fmt::format(
        "{} was measured on {}, not side by side: 'run --plan {} --shard {}/{} "
        "--not-from {}' measures it again",
        group.id, fmt::join(nodes, " and "), plan_->folder().string(), group.shard, plan_->shards, *nodes.rbegin()));
  }
}

void MergedShards::judge() {
  std::vector<SentinelRun> runs;
  for (const SentinelOfShards& one : sentinels_) runs.push_back(one.run);
  std::vector<int> kinds;
  for (const MachineOfShards& machine : machines_) kinds.push_back(machine.kind);
  const std::vector<MachineVerdict> verdicts = judge_machines(runs, kinds, sentinel_limit_);
  for (std::size_t i = 0; i < machines_.size(); ++i) machines_[i].verdict = verdicts[i];
}

std::vector<std::string> MergedShards::machines_off() const {
  std::vector<std::string> lines;
  for (std::size_t machine = 0; machine < machines_.size(); ++machine) {
    const MachineOfShards& one = machines_[machine];
    if (!one.verdict.off) continue;
    std::size_t cases = 0;
    std::set<int> shards;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (!cases_[i] || !cases_[i]->timed || machine_of(*cases_[i]) != machine) continue;
      ++cases;
      shards.insert(shard_of_case_[i]);
    }
    if (cases == 0) continue;
    const std::string node = printable(one.node, kShortText);
    lines.push_back(fmt::format("{} is off: {}; {} of shard{} {}: 'run --plan {} --shard K/{} --not-from {}' elsewhere",
                                node, one.verdict.why, plural(cases, "case"), shards.size() == 1 ? "" : "s",
                                numbers_text(shards), plan_->folder().string(), plan_->shards, node));
  }
  return lines;
}

std::vector<std::string> MergedShards::doubts() const {
  std::vector<std::string> lines;
  for (int kind = 0; kind < kinds(); ++kind) {
    std::vector<std::string> nodes;
    double least = 1;
    double most = 1;
    for (const MachineOfShards& machine : machines_) {
      if (machine.kind != kind || !machine.verdict.x) continue;
      nodes.push_back(printable(machine.node, kShortText));
      least = std::min(least, *machine.verdict.x);
      most = std::max(most, *machine.verdict.x);
    }
    if (nodes.size() < 2 || nodes.size() >= kFewestMachines || most / least <= 1 + sentinel_limit_) continue;
    lines.push_back(fmt::format("{} differ: their sentinels by {:.2f}; which one is off cannot be told of {}",
                                fmt::join(nodes, " and "), most / least, nodes.size()));
  }
  return lines;
}

void MergedShards::leave_out_machines_off() {
  for (std::optional<CaseOfShard>& one : cases_) {
    if (one && one->timed && machines_[machine_of(*one)].verdict.off) one.reset();
  }
}

}  // namespace convladder
