// The messages of the process that runs a stage under the checkers (checked_stage.hpp).
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/measure/cases/open_session.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/isolation/client.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "simulator/device/mutants.hpp"
#include "simulator/state/finding.hpp"
#include "simulator/state/orders_tried.hpp"

namespace convladder {

namespace to_check {

struct Hello {
  StageToLoad stage;
  std::string id;
  std::size_t window_bytes = 0;
  WorkloadHeader workload;
  static void each_field(auto&& field, auto& its) {
    field("stage", its.stage, "id", its.id, "window_bytes", its.window_bytes, "workload", its.workload);
  }
};

struct Run {
  static constexpr std::string_view kName = "run";
  using Reply = Done;
  ProblemKind problem = ProblemKind::real;
  static void each_field(auto&& field, auto& its) { field("problem", its.problem); }
};

struct Found {
  std::vector<simulated::Finding> findings;
  simulated::OrdersTried orders;
  simulated::MutantsSeen mutants{};
  static void each_field(auto&& field, auto& its) {
    field("findings", its.findings, "orders", its.orders, "mutants", its.mutants);
  }
};

/// Those of all runs so far.
struct Findings {
  static constexpr std::string_view kName = "findings";
  using Reply = Found;
};

}  // namespace to_check

struct CheckMessages {
  using Hello = to_check::Hello;
  using Request = std::variant<to_check::Run, to_check::Findings, ReadElements>;
  using Answer = std::variant<Ending, Done, to_check::Found>;
};

extern template struct MessageTexts<CheckMessages>;

}  // namespace convladder
