// A duel as a report, and as JSON with every slot.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/judge/duel/duel.hpp"
#include "harness/judge/duel/selftest.hpp"
#include "harness/measure/machine/program_facts.hpp"
#include "support/report.hpp"

namespace convladder {

inline constexpr const char* kDuelSchemaVersion = "2.0";

/// A side of a duel: a build of this program, or the command of any program.
struct SideFacts {
  std::string path = {};                     ///< of the build
  std::optional<ProgramFacts> program = {};  ///< what the build says of itself
  std::string command = {};                  ///< empty for a build
  std::string folder = {};                   ///< that the command runs in; empty: the current one
  std::vector<std::string> variables = {};   ///< of its environment beside this program's: "NAME=value"
  std::string sha256 = {};                   ///< of the command's program file; empty where that is not known
};

/// A duel with the settings and sides that it was made with.
struct DuelReport {
  const DuelResult& result;
  const DuelSettings& settings;
  const SideFacts& base;
  const SideFacts& now;
};

Report duel_report(const DuelReport& duel);

/// The duel as results/duel.schema.json describes it, without `context`.
nlohmann::ordered_json duel_json(const DuelReport& report);

/// The whole of it as a file, with the machine, the command line and the date as its `context`. `images`: null where
/// none were used.
std::string duel_json_text(const DuelReport& report, const std::vector<std::string>& command_line,
                           const ImageSet* images);

/// The pilot's outlook in a sentence or two; `most_rounds` are those of a confirmation.
std::string pilot_text(const Pilot& pilot, const DuelLimits& limits, int most_rounds);

/// A selftest with its settings.
struct SelftestReport {
  const SelftestResult& result;
  const DuelSettings& settings;
  std::string id;    ///< of the case
  std::string base;  ///< path or command
  std::string now;
  std::string neighbour;
  int threads = 1;
};
/// The selftest as a file, with the same context.
std::string selftest_json_text(const SelftestReport& report, const std::vector<std::string>& command_line,
                               const ImageSet* images);

/// A round as {"order": "ABBA", "values": [1, 2, 3, 4]}, with "clock_mhz" where it is known, and back. Reading throws
/// nlohmann's exceptions.
nlohmann::ordered_json round_to_json(const DuelRound& round);
DuelRound round_from_json(const nlohmann::ordered_json& json);
/// Reads the rounds of a duel's JSON, such as `cases[].screen.rounds`. Throws nlohmann's exceptions.
std::vector<DuelRound> rounds_from_json(const nlohmann::ordered_json& json);

}  // namespace convladder
