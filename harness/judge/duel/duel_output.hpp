// A duel as text for a terminal, as Markdown for a review, and as JSON with every slot.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/judge/duel/duel.hpp"

namespace convladder {

inline constexpr const char* kDuelSchemaVersion = "1.0";

/// A duel with the settings and programs that it was made with.
struct DuelReport {
  const DuelResult& result;
  const DuelSettings& settings;
  const OtherProgram& base;
  const OtherProgram& now;
};

/// The duel as text of at most 100 columns, except for paths.
std::string duel_text(const DuelReport& report);
std::string duel_markdown(const DuelReport& report);

/// The duel as results/duel.schema.json describes it, without `context`.
nlohmann::ordered_json duel_json(const DuelReport& report);

/// Reads the rounds of a duel's JSON, such as `cases[].screen.rounds`. Throws nlohmann's exceptions.
std::vector<DuelRound> rounds_from_json(const nlohmann::ordered_json& json);

}  // namespace convladder
