#include "harness/measure/cases/case_messages.hpp"

#include "harness/measure/cases/case_protocol.hpp"
#include "harness/measure/cases/check_messages.hpp"
#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/isolation/message_codec.hpp"
#include "harness/measure/machine/environment.hpp"
#include "simulator/stand_in/report/report_json.hpp"

namespace convladder {

using nlohmann::ordered_json;

static void to_json(ordered_json& json, ProblemKind kind) {
  json = kind == ProblemKind::integers ? "integers" : "real";
}
static void from_json(const ordered_json& json, ProblemKind& kind) {
  kind = json == "integers" ? ProblemKind::integers : ProblemKind::real;
}

static void to_json(ordered_json& json, const InputChange& change) {
  json = {{"rotation", change.rotation}, {"factor", change.factor},
          {"pokes", change.pokes},       {"everywhere", change.everywhere},
          {"fresh", change.fresh},       {"poke_size", change.poke_size},
          {"whole", change.whole}};
  // Other builds that speak the same protocol have no such problems.
  if (change.thorough) json["shift"] = change.shift;
}
static void from_json(const ordered_json& json, InputChange& change) {
  change = {.rotation = json.at("rotation"),
            .factor = json.at("factor"),
            .pokes = json.at("pokes"),
            .everywhere = json.at("everywhere"),
            .fresh = json.at("fresh"),
            .poke_size = json.at("poke_size"),
            .whole = json.at("whole"),
            .shift = json.value("shift", std::uint64_t{0}),
            .thorough = json.contains("shift")};
}

static void to_json(ordered_json& json, const OutputFill& fill) {
  json = {{"seed", fill.seed},
          {"scale", fill.scale},
          {"opposite", fill.opposite},
          {"sparse", fill.part != FillPart::all},
          {"nothing", fill.part == FillPart::nothing}};
}
static void from_json(const ordered_json& json, OutputFill& fill) {
  // Other builds that speak the same protocol may not know every part: for theirs the nearest fill is as good.
  const FillPart part = json.value("nothing", false)  ? FillPart::nothing
                        : json.value("sparse", false) ? FillPart::pieces
                                                      : FillPart::all;
  fill = {.seed = json.at("seed"), .scale = json.at("scale"), .part = part, .opposite = json.value("opposite", false)};
}

template struct MessageTexts<CaseMessages>;

namespace simulated {

static void to_json(ordered_json& json, const Finding& finding) { json = stand_in::finding_json(finding); }
static void from_json(const ordered_json& json, Finding& finding) { finding = stand_in::read_finding(json); }

}  // namespace simulated

template struct MessageTexts<CheckMessages>;

static void to_json(ordered_json& json, const ProgramFacts& program) { json = program_json(program); }
static void from_json(const ordered_json& json, ProgramFacts& program) {
  program = read_program(JsonPlace(json, "its program"));
}

template struct MessageTexts<BuildMessages>;

}  // namespace convladder
