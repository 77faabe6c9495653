// A duel as text for a terminal, as Markdown for a review, and as JSON with every slot.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/judge/duel/duel.hpp"

namespace convladder {

inline constexpr const char* kDuelSchemaVersion = "1.0";

/// A duel with what it was made of.
struct DuelReport {
  const DuelResult& result;
  const DuelSettings& settings;
  const OtherProgram& base;
  const OtherProgram& now;
};

/// At most 100 columns, but for paths.
std::string duel_text(const DuelReport& report);
std::string duel_markdown(const DuelReport& report);

/// As results/duel.schema.json describes it, without `context`.
nlohmann::ordered_json duel_json(const DuelReport& report);

/// The rounds of a duel's JSON, `cases[].screen.rounds` or the like. Throws nlohmann's exceptions.
std::vector<DuelRound> rounds_from_json(const nlohmann::ordered_json& json);

}  // namespace convladder
