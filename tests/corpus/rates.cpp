#include "corpus/rates.hpp"

#include <algorithm>

#include "corpus/replay.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

struct DuelTally {
  Truth truth = Truth::unknown;
  int duels = 0;
  std::map<Verdict, int> verdicts;
  int contaminated = 0;
  int wrong = 0;
  int rounds = 0;

  void add(const ReplayedDuel& duel) {
    ++duels;
    ++verdicts[duel.verdict];
    rounds += duel.rounds;
    contaminated += duel.contaminated ? 1 : 0;
    const bool called =
        duel.verdict == Verdict::regressed || (truth == Truth::equal && duel.verdict == Verdict::improved);
    wrong += called ? 1 : 0;
  }
  int count(Verdict verdict) const {
    const auto found = verdicts.find(verdict);
    return found == verdicts.end() ? 0 : found->second;
  }
};

constexpr int kUnknown = 1000;
constexpr std::string_view kMoreCalls = "more calls";

/// In the order of the table: machine, load, change, pair.
using RowKey = std::tuple<std::string, std::string, int, std::string>;

std::string pair_text(const TraceSession& session, const DuelTrace& trace) {
  const bool more_calls = trace.pair == kMoreCalls && trace.change;
  const std::string pair = more_calls ? fmt::format("+{} % of calls", *trace.change) : trace.pair;
  return session.only.empty() ? pair : fmt::format("{}: {}", session.only, pair);
}

std::vector<std::string> cells_of(const std::string& load, const std::string& pair, const DuelTally& tally) {
  const int found = tally.count(Verdict::regressed);
  return {load,
          pair,
          std::to_string(tally.duels),
          std::to_string(found),
          std::to_string(tally.count(Verdict::improved)),
          std::to_string(tally.count(Verdict::pass)),
          std::to_string(tally.count(Verdict::inconclusive)),
          std::to_string(tally.contaminated),
          fmt::format("{:.1f}", static_cast<double>(tally.rounds) / tally.duels),
          bound_text(tally.truth, tally.wrong, found, tally.duels)};
}

}  // namespace

std::string traces_text(const std::vector<TraceSession>& sessions) {
  std::vector<std::vector<std::string>> rows;
  for (const TraceSession& session : sessions) {
    const auto [low, high] = std::ranges::minmax(session.others);
    rows.push_back({session.file, session.machine, session.load, session.date.substr(0, 10),
                    std::to_string(session.duels.size()), std::to_string(session.runs.size()),
                    std::to_string(session.left_out), fmt::format("{:.1f} to {:.1f}", low, high)});
  }
  return "traces\n\n" + text_table({{"file", "", false},
                                    {"machine", "", false},
                                    {"load", "", false},
                                    {"recorded", "", false},
                                    {"duels", "", true},
                                    {"runs", "", true},
                                    {"left out", "", true},
                                    {"others", "cores", true}},
                                   rows, kWidth);
}

std::string duel_rates(const std::vector<TraceSession>& sessions) {
  std::map<RowKey, DuelTally> rows;
  std::map<std::string, DuelTally> equal;  // of each machine
  for (const TraceSession& session : sessions) {
    for (const DuelTrace& trace : session.duels) {
      const ReplayedDuel duel = replay_duel(trace);
      // Of two stages it is known whether they do the same, and not how much time more work takes.
      const bool is_known = trace.change && (*trace.change == 0 || trace.pair == kMoreCalls);
      const int change = is_known ? *trace.change : kUnknown;
      DuelTally& tally = rows[{session.machine, session.load, change, pair_text(session, trace)}];
      tally.truth = is_known ? truth_of(trace.change) : Truth::unknown;
      tally.add(duel);
      if (tally.truth != Truth::equal) continue;
      equal[session.machine].truth = Truth::equal;
      equal[session.machine].add(duel);
    }
  }
  std::string text;
  for (const auto& [machine, all] : equal) {
    std::vector<std::vector<std::string>> cells;
    for (const auto& [key, tally] : rows) {
      if (std::get<0>(key) != machine) continue;
      cells.push_back(cells_of(std::get<1>(key), std::get<3>(key), tally));
    }
    cells.push_back(cells_of("all", "all equal", all));
    text += fmt::format("\nduel, {}\n\n{}", machine,
                        text_table({{"load", "", false},
                                    {"pair", "", false},
                                    {"duels", "", true},
                                    {"regressed", "", true},
                                    {"improved", "", true},
                                    {"pass", "", true},
                                    {"inconclusive", "", true},
                                    {"control", "moved", true},
                                    {"rounds", "mean", true},
                                    {"exact bound", "", false}},
                                   cells, kWidth));
  }
  return text;
}

}  // namespace convladder
