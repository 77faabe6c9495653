#include "corpus/traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/judge/duel/duel_decision.hpp"
#include "harness/measure/records/record_context_json.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// Others that use less than this leave a machine quiet: where run.json begins to call a case noisy.
constexpr double kQuietBelow = 0.25;

double nanoseconds(const ordered_json& count, double unit) {
  const double ns = count.get<double>() * unit;
  if (!(ns > 0)) throw UserError("a time is not above 0");
  return ns;
}

std::vector<DuelRound> rounds_of(const ordered_json& line, const char* stage, double unit, std::size_t wanted) {
  std::vector<DuelRound> rounds;
  for (const ordered_json& one : line.at(stage)) {
    const int coin = one.at(0).get<int>();
    if (one.size() != 5 || (coin != 0 && coin != 1)) throw UserError("a round is [coin, four slots]");
    DuelRound& round = rounds.emplace_back();
    round.base_outside = coin == 0;
    for (std::size_t slot = 0; slot < 4; ++slot) round.values.at(slot) = nanoseconds(one.at(slot + 1), unit);
  }
  if (rounds.size() < wanted) throw UserError(fmt::format("{} has {} rounds, not {}", stage, rounds.size(), wanted));
  return rounds;
}

DuelTrace duel_of(const ordered_json& line) {
  const DuelLimits limits;
  const double unit = line.at("unit_ns");
  DuelTrace duel;
  duel.pair = line.at("duel");
  if (!line.at("change").is_null()) duel.change = line.at("change").get<int>();
  duel.screen = rounds_of(line, "screen", unit, static_cast<std::size_t>(limits.screen_rounds));
  duel.confirm = rounds_of(line, "confirm", unit, static_cast<std::size_t>(limits.most_rounds));
  duel.control = rounds_of(line, "control", unit, static_cast<std::size_t>(limits.screen_rounds));
  return duel;
}

RunTrace run_of(const ordered_json& line) {
  const double unit = line.at("unit_ns");
  const ordered_json& rungs = line.at("rungs");
  RunTrace run{line.at("run"), line.at("build"), line.at("date"), {}, {}};
  for (const auto& [variant, samples] : line.at("samples").items()) {
    const ordered_json& rung = rungs.at(run.cases.size());
    RunTrace::Case& one = run.cases.emplace_back();
    one.variant = variant;
    if (!rung.is_null()) one.rung = rung.get<int>();
    for (const ordered_json& count : samples) one.samples.push_back(nanoseconds(count, unit));
  }
  if (run.cases.size() != rungs.size()) throw UserError("not as many rungs as cases");
  return run;
}

void read_line(const ordered_json& line, TraceSession& session) {
  if (line.contains("left_out")) {
    ++session.left_out;
    return;
  }
  session.others.push_back(line.at("others").get<double>());
  if (line.contains("duel")) {
    session.duels.push_back(duel_of(line));
  } else {
    session.runs.push_back(run_of(line));
  }
}

std::string load_of(const ordered_json& header, const std::vector<double>& others) {
  if (header.at("neighbour") == "bursty") return "bursty";
  if (header.at("niceness").get<int>() < 0) return "favoured";
  return median(others) < kQuietBelow ? "quiet" : "busy";
}

TraceSession read_session(const std::filesystem::path& path) {
  std::ifstream file(path);
  TraceSession session;
  session.file = path.filename().string();
  ordered_json header;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    try {
      const ordered_json line = ordered_json::parse(text);
      if (number == 1) {
        if (line.at("traces") != 1) throw UserError("this is no file of traces that can be read");
        header = line;
      } else {
        read_line(line, session);
      }
    } catch (const std::exception& error) {
      throw UserError(fmt::format("{}, line {}: {}", session.file, number, error.what()));
    }
  }
  if (session.others.empty()) throw UserError(fmt::format("{} holds no trace", session.file));
  session.machine = header.at("machine");
  session.date = header.at("date");
  session.note = header.at("note");
  session.context =
      std::make_shared<const RecordContext>(read_context(JsonPlace(header.at("context"), session.file + ": context")));
  for (RunTrace& run : session.runs) run.context = session.context;
  session.load = load_of(header, session.others);
  if (const ordered_json& only = header.at("variant"); !only.is_null()) session.only = only.get<std::string>();
  return session;
}

}  // namespace

std::vector<TraceSession> read_traces(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  if (files.empty()) throw UserError(fmt::format("{} holds no *.jsonl", folder.string()));
  std::ranges::sort(files);
  std::vector<TraceSession> sessions;
  sessions.reserve(files.size());
  for (const std::filesystem::path& path : files) sessions.push_back(read_session(path));
  return sessions;
}

}  // namespace convladder
