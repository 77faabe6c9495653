// The messages between a command and the process of a case, which may be another build of this program: whatever is
// changed here or in their fields (case_messages.cpp) may need another kCaseProtocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "devices/device.hpp"
#include "harness/measure/cases/counters.hpp"
#include "harness/measure/cases/open_session.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/isolation/client.hpp"
#include "harness/measure/verification/input_change.hpp"
#include "harness/measure/verification/output_fill.hpp"

namespace convladder {

/// A kind of time: which part of the work, and how its calls come to the device.
struct TimedKind {
  std::string of;         ///< time_of::…
  bool cold = false;      ///< the last-level cache is flushed before each call
  bool replayed = false;  ///< the calls were recorded once: the host enqueues many of them with one call
  bool varied = false;    ///< each call has an input of its own, and its output is looked at
  static void each_field(auto&& field, auto& its) {
    field("of", its.of);
    field.lately("cold", its.cold, "replayed", its.replayed, "varied", its.varied);
  }
};

/// The requests of a case's process, and its answers: CaseSession.
namespace to_case {

/// The library of a stage that is no part of this program.
struct StageLibrary {
  std::string library;
  std::string choice;
  bool beside = false;  ///< the stage has a process of its own (StageDevice)
  static void each_field(auto&& field, auto& its) {
    field("library", its.library, "choice", its.choice, "beside", its.beside);
  }
};

struct Hello {
  std::string id;  ///< names the case in NVTX ranges and errors
  std::string device;
  std::string family;
  std::string variant;
  std::vector<std::string> google_benchmark_flags;
  std::optional<std::string> problem;        ///< its name; none for the convolution
  std::optional<StageLibrary> stage;         ///< none for a variant of this program
  std::optional<std::string> configuration;  ///< only of a sweep, which asks no other build
  std::size_t window_bytes = 0;
  WorkloadHeader workload;
  static void each_field(auto&& field, auto& its) {
    field("id", its.id, "device", its.device, "family", its.family, "variant", its.variant, "google_benchmark_flags",
          its.google_benchmark_flags, "problem", its.problem, "configuration", its.configuration, "window_bytes",
          its.window_bytes, "workload", its.workload);
    field.beside("library", its.stage);
  }
};

struct Prepared {
  double prepare_ns = 0;
  bool own_layout = false;
  std::string choice;
  std::vector<std::string> parts;
  bool can_be_cold = false;
  bool has_clock = true;
  bool is_asynchronous = false;
  static void each_field(auto&& field, auto& its) {
    field("prepare_ns", its.prepare_ns, "own_layout", its.own_layout, "choice", its.choice, "parts", its.parts,
          "can_be_cold", its.can_be_cold);
    field.lately("has_clock", its.has_clock, "is_asynchronous", its.is_asynchronous);
  }
};

/// On an input that no call will see.
struct Prepare {
  static constexpr std::string_view kName = "prepare";
  using Reply = Prepared;
  ProblemKind problem = ProblemKind::real;
  static void each_field(auto&& field, auto& its) { field("problem", its.problem); }
};

/// Writes the changed input, and a fill into each output.
struct Set {
  static constexpr std::string_view kName = "set";
  static constexpr bool kAtOnce = true;  // it is followed by the request that it is for
  using Reply = Done;
  InputChange change;
  std::vector<OutputFill> fills;  ///< of the outputs
  std::uint64_t probe = 0;        ///< the seed of the elements that are looked at right after calls (OutputProbe)
  std::int64_t probe_every = 0;   ///< one call in so many is one of these; 0: none
  static void each_field(auto&& field, auto& its) {
    field("change", its.change, "fills", its.fills, "probe", its.probe, "probe_every", its.probe_every);
  }
};

struct Called {
  double ns = 0;
  static void each_field(auto&& field, auto& its) { field("ns", its.ns); }
};

/// Call number 1 of the change, all of the layer.
struct Call {
  static constexpr std::string_view kName = "call";
  using Reply = Called;
};

/// One part of call number 1, where the variant has parts that are problems of their own (Variant::parts); the parts
/// before have been run. The fill is in its output before, unless it works in place. ReadElements reads the output of
/// the part that was run last under its name as a time (time_of::part).
struct RunPart {
  static constexpr std::string_view kName = "run part";
  using Reply = Done;
  std::size_t part = 0;
  OutputFill fill;
  static void each_field(auto&& field, auto& its) { field("part", its.part, "fill", its.fill); }
};

/// Untimed calls, at least so long and until the clock stays.
struct WarmUp {
  static constexpr std::string_view kName = "warm up";
  using Reply = Done;
  std::string of;
  double least_ns = 0;
  static void each_field(auto&& field, auto& its) { field("of", its.of, "least_ns", its.least_ns); }
};

struct Calibrated {
  int iterations = 0;  ///< 0 where calls were to be recorded and cannot be
  static void each_field(auto&& field, auto& its) { field("iterations", its.iterations); }
};

/// Finds out how many calls a sample of at least that length has.
struct Calibrate : TimedKind {
  static constexpr std::string_view kName = "calibrate";
  using Reply = Calibrated;
  double sample_ns = 0;
  static void each_field(auto&& field, auto& its) {
    TimedKind::each_field(field, its);
    field("sample_ns", its.sample_ns);
  }
};

struct Counted {
  CaseCounters counters;
  static void each_field(auto&& field, auto& its) { field("counters", its.counters); }
};

/// Instead of sampling, where the device has no clock.
struct Count {
  static constexpr std::string_view kName = "count";
  using Reply = Counted;
};

/// So many calls of the variant's `run` and a wait, nothing else.
struct Profile {
  static constexpr std::string_view kName = "profile";
  using Reply = Done;
  int calls = 0;
  static void each_field(auto&& field, auto& its) { field("calls", its.calls); }
};

struct Sampled {
  double ns = 0;               ///< of a call, the mean
  int untimed_calls = 0;       ///< besides the timed ones
  std::int64_t last_call = 0;  ///< the number of the call, from 1, whose change the input has now
  std::int64_t probed = 0;     ///< the last of the calls whose elements were copied right after they ended; 0 where
                               ///< something other than the layer is timed
  std::optional<double> enqueue_ns = std::nullopt;  ///< host time for enqueuing a call, where that is known
  static void each_field(auto&& field, auto& its) {
    field("ns", its.ns);
    field.lately("untimed_calls", its.untimed_calls);
    field("last_call", its.last_call);
    field.lately("probed", its.probed);
    field("enqueue_ns", its.enqueue_ns);
  }
};

/// The untimed rest of the layer is done as well, so that the output is that of the last call.
struct Sample : TimedKind {
  static constexpr std::string_view kName = "sample";
  using Reply = Sampled;
  int iterations = 1;
  static void each_field(auto&& field, auto& its) {
    TimedKind::each_field(field, its);
    field("iterations", its.iterations);
  }
};

struct SlotTaken {
  std::vector<double> ns;      ///< of a call, for each sub-run
  std::int64_t last_call = 0;  ///< as in Sampled
  static void each_field(auto&& field, auto& its) { field("ns", its.ns, "last_call", its.last_call); }
};

/// Sub-runs of (100 + extra_percent) % of the iterations, which must be a whole number; their times are divided by the
/// iterations: with 5 % of extra work, an otherwise equal case takes 5 % longer.
struct Slot {
  static constexpr std::string_view kName = "slot";
  using Reply = SlotTaken;
  std::string of;
  std::int64_t iterations = 1;
  int sub_runs = 1;
  int extra_percent = 0;
  bool replayed = false;
  static void each_field(auto&& field, auto& its) {
    field("of", its.of, "iterations", its.iterations, "sub_runs", its.sub_runs, "extra_percent", its.extra_percent);
    field.lately("replayed", its.replayed);
  }
};

struct StateOfDevice : DeviceState {
  std::optional<double> clock_mhz;  ///< during the sample or slot before
  static void each_field(auto&& field, auto& its) {
    field("clock_mhz", its.clock_mhz, "temperature_celsius", its.temperature_celsius);
    field.by_name("held_ns", its.held_ns);
    field.lately("held_now", its.held_now);
  }
};

/// As far as the device reports it. No answer that is judged waits for that.
struct State {
  static constexpr std::string_view kName = "state";
  using Reply = StateOfDevice;
};

/// A result's probed elements as each of these calls had left them, one call behind the other, into the window.
struct Probed {
  static constexpr std::string_view kName = "probed";
  static constexpr bool kAtOnce = true;  // no time is taken
  using Reply = Done;
  std::size_t result = 0;
  std::vector<std::int64_t> calls;
  static void each_field(auto&& field, auto& its) { field("result", its.result, "calls", its.calls); }
};

}  // namespace to_case

struct CaseMessages {
  using Hello = to_case::Hello;
  using Request = std::variant<to_case::Prepare, to_case::Set, to_case::Call, to_case::RunPart, to_case::WarmUp,
                               to_case::Calibrate, to_case::Count, to_case::Profile, to_case::Sample, to_case::Slot,
                               to_case::State, to_case::Probed, ReadElements>;
  using Answer = std::variant<Ending, Done, to_case::Prepared, to_case::Called, to_case::Calibrated, to_case::Counted,
                              to_case::Sampled, to_case::SlotTaken, to_case::StateOfDevice>;
};

extern template struct MessageTexts<CaseMessages>;

using OpenCase = OpenSession<CaseMessages>;
using CaseClient = Client<CaseMessages>;

}  // namespace convladder
