// The messages between a command and the process of a network's case: NetworkSession answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "devices/device.hpp"
#include "harness/measure/cases/case_messages.hpp"
#include "harness/measure/cases/open_session.hpp"
#include "harness/measure/isolation/client.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/networks/network_workload.hpp"
#include "harness/measure/profile/program_time.hpp"

namespace convladder {

namespace to_network {

/// The variants that were chosen, by their names.
struct Choice {
  std::string family;
  std::vector<std::pair<std::size_t, std::string>> convolutions;  ///< by layers
  std::vector<StageToLoad> outside;                        ///< the stages among them that are no part of this program
  std::vector<std::pair<std::size_t, std::string>> fused;  ///< by the first layer
  std::map<std::string, std::string> operators;            ///< by types of layers
  std::optional<std::string> whole;                        ///< a library's network
  static void each_field(auto&& field, auto& its) {
    field("family", its.family, "convolutions", its.convolutions, "outside", its.outside, "fused", its.fused,
          "operators", its.operators, "whole", its.whole);
  }
};

struct Hello {
  std::string id;
  std::string device;
  int batch = 1;
  Choice choice;
  std::optional<int> chunk;  ///< PassWish
  bool overlap = false;
  std::size_t window_bytes = 0;
  NetworkWorkloadHeader workload;
  static void each_field(auto&& field, auto& its) {
    field("id", its.id, "device", its.device, "batch", its.batch, "choice", its.choice, "chunk", its.chunk, "overlap",
          its.overlap, "window_bytes", its.window_bytes, "workload", its.workload);
  }
};

struct ImagesSet {
  int chunk = 1;  ///< images that a pass takes at once
  static void each_field(auto&& field, auto& its) { field("chunk", its.chunk); }
};

/// The images of the next passes: image i of a pass is the workload's image (i + rotation) % of.
struct Set {
  static constexpr std::string_view kName = "set";
  static constexpr bool kAtOnce = true;
  using Reply = ImagesSet;
  int rotation = 0;
  int of = 1;
  static void each_field(auto&& field, auto& its) { field("rotation", its.rotation, "of", its.of); }
};

/// A pass in chunks as they are timed, with every output filled before; every step's outputs for those images, into the
/// window (step_recorder.hpp).
struct Record {
  static constexpr std::string_view kName = "record";
  using Reply = Done;
  int first = 0;
  int count = 0;
  std::uint32_t seed = 0;
  static void each_field(auto&& field, auto& its) { field("first", its.first, "count", its.count, "seed", its.seed); }
};

struct PassTimes {
  double total_ns = 0;
  bool steps_apart = false;  ///< the steps' times are of a run of their own, made before the one that took total_ns
  ProgramTime program;
  static void each_field(auto&& field, auto& its) {
    field("total_ns", its.total_ns, "steps_apart", its.steps_apart, "program", its.program);
  }
};

/// One pass. `record` asks the device itself for its activities as well, which takes time of its own.
struct Pass {
  static constexpr std::string_view kName = "pass";
  using Reply = PassTimes;
  bool record = false;
  static void each_field(auto&& field, auto& its) { field("record", its.record); }
};

struct PassActivities {
  std::vector<Activity> activities;
  static void each_field(auto&& field, auto& its) { field("activities", its.activities); }
};

/// Those of the last pass.
struct Activities {
  static constexpr std::string_view kName = "activities";
  using Reply = PassActivities;
};

struct RecorderFound {
  bool can_record = false;
  std::string cannot_record_because;
  static void each_field(auto&& field, auto& its) {
    field("can_record", its.can_record, "cannot_record_because", its.cannot_record_because);
  }
};

/// Whether the device can be asked for its activities. Finding out attaches the profiler's library, which from then on
/// costs time in every launch: to be asked when all passes are measured.
struct Recorder {
  static constexpr std::string_view kName = "recorder";
  using Reply = RecorderFound;
};

struct Repeated {
  double total_ns = 0;
  static void each_field(auto&& field, auto& its) { field("total_ns", its.total_ns); }
};

/// So many passes, one after the other.
struct Repeat {
  static constexpr std::string_view kName = "repeat";
  using Reply = Repeated;
  int passes = 1;
  static void each_field(auto&& field, auto& its) { field("passes", its.passes); }
};

/// Makes the network ready once, for the batches of the next requests.
struct Load {
  static constexpr std::string_view kName = "load";
  using Reply = Done;
};

struct RowTaken {
  double total_ns = 0;
  int batches = 0;
  static void each_field(auto&& field, auto& its) { field("total_ns", its.total_ns, "batches", its.batches); }
};

/// So many batches through the loaded network, one after the other, or fewer if they take longer than `most_ns`. Batch
/// b has the workload's images from (first + b * step) % of on, as in Set. ReadElements then reads the scores of all of
/// them, batch after batch.
struct Loaded {
  static constexpr std::string_view kName = "loaded";
  using Reply = RowTaken;
  int first = 0;
  int step = 0;
  int of = 1;
  int batches = 1;
  double most_ns = 0;
  static void each_field(auto&& field, auto& its) {
    field("first", its.first, "step", its.step, "of", its.of, "batches", its.batches, "most_ns", its.most_ns);
  }
};

/// Frees the loaded network.
struct LetGo {
  static constexpr std::string_view kName = "let go";
  using Reply = Done;
};

struct CountedSteps {
  std::vector<to_case::Counted> counters;  ///< of each step
  static void each_field(auto&& field, auto& its) { field("counters", its.counters); }
};

/// Those of the last pass, on devices that count.
struct Counters {
  static constexpr std::string_view kName = "counters";
  using Reply = CountedSteps;
};

}  // namespace to_network

/// ReadElements reads scores, as the last pass left them.
struct NetworkMessages {
  using Hello = to_network::Hello;
  using Request = std::variant<to_network::Set, to_network::Record, to_network::Pass, to_network::Activities,
                               to_network::Recorder, to_network::Repeat, to_network::Load, to_network::Loaded,
                               to_network::LetGo, to_network::Counters, ReadElements>;
  using Answer =
      std::variant<Ending, Done, to_network::ImagesSet, to_network::PassTimes, to_network::PassActivities,
                   to_network::RecorderFound, to_network::Repeated, to_network::RowTaken, to_network::CountedSteps>;
};

extern template struct MessageTexts<NetworkMessages>;

using OpenNetwork = OpenSession<NetworkMessages>;

}  // namespace convladder
