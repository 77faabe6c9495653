// The settings of the stand-in: one environment variable, CONVLADDER_STAND_IN, which `convladder simulate` writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/device/mutants.hpp"
#include "simulator/state/finding.hpp"
#include "simulator/state/orders_tried.hpp"

namespace convladder::stand_in {

inline constexpr const char* kSettingsVariable = "CONVLADDER_STAND_IN";

/// An injected fault, with which programs can be tested against rare behaviour of a GPU.
struct Fault {
  std::string call;         ///< "cudaMalloc"; "*": any
  std::uint64_t from = 1;   ///< the first call that fails, counted from 1 over calls of this name
  std::uint64_t count = 0;  ///< the number of failing calls; 0: all from `from` on
  int status = 0;           ///< their status
  bool loses = false;       ///< whether the fault loses the context: every later call then fails as well
  bool hangs = false;       ///< the call never returns
};

/// A reduction of the multiprocessors' clock in the middle of the work.
struct Throttle {
  double after_ms = 0;          ///< time of work after which it begins
  std::uint64_t at_launch = 0;  ///< if not 0, the launch of the process, from 1 on, at which it begins instead
  double every_ms = 0;          ///< time of work after which it begins again; 0: it happens once
  double lasts_ms = 0;          ///< 0: for ever
  int mhz = 0;                  ///< the highest clock while it lasts
  std::uint64_t reason = 0x4;   ///< bits as in nvmlClocksEventReasons; 4: software power cap
};

/// Another process that uses the device in turn with this one.
struct Sharing {
  double every_ms = 0;             ///< time from one slice of the other process to the next; 0: there is no other
  double slice_ms = 0;             ///< length of the other's slices
  std::uint64_t memory_bytes = 0;  ///< memory that the other has
};

/// The behaviour of the device with the real clock: like a GPU, whose every call costs something. Defaults are of about
/// the size reported for an H100.
struct RealClock {
  std::uint64_t call_ns = 200;            ///< host time for every call
  std::uint64_t launch_ns = 2'300;        ///< host time for enqueuing a kernel, in addition to the call
  std::uint64_t enqueue_ns = 1'500;       ///< host time for enqueuing anything else
  std::uint64_t graph_launch_ns = 5'000;  ///< host time for enqueuing a graph
  std::uint64_t graph_node_ns = 40;       ///< host time for each node of a graph
  std::uint64_t between_ns = 900;         ///< stream time before a kernel
  std::uint64_t between_nodes_ns = 600;   ///< stream time before a kernel in a graph
  std::uint64_t event_ns = 500;           ///< stream time for recording an event

  int rest_mhz = 345;    ///< clock of the multiprocessors when nothing has run for some time
  int load_mhz = 0;      ///< clock after some time of work; 0: the highest that the GPU has
  double ramp_ms = 40;   ///< time of work from the clock at rest to that under load
  double fall_ms = 200;  ///< time without work after which it is at rest
  std::vector<Throttle> throttles;

  double nvml_ms = 2;                     ///< the time of a query to NVML
  std::vector<std::string> nvml_missing;  ///< functions that this NVML lacks
  std::uint64_t library_ns = 10'000;      ///< host time for a call of cuDNN or cuBLAS

  std::uint64_t first_memory_bytes = 0;  ///< device memory at first, which grows with use; 0: all of it
  Sharing sharing;
};

struct Settings {
  std::string gpu = "h100";        ///< a file of simulator/gpus
  int gpu_count = 1;               ///< how many of it the machine has
  simulated::CheckerSet checkers;  ///< none unless asked for
  bool with_caches = true;         ///< whether traffic below the L1 is counted
  int host_threads = 0;            ///< for the simulated device; 0: all cores
  std::string report;      ///< file that the report is appended to, a line of JSON for each process; empty: none
  bool print = false;      ///< whether findings and unsupported calls go to stderr at exit
  int error_exitcode = 0;  ///< of a process that has findings and exits with 0; 0: its own
  std::uint64_t memory_bytes = 0;        ///< device memory; 0: what the machine has available
  double launch_seconds = 600;           ///< time after which a kernel is ended; 0: never
  std::uint64_t launch_operations = 0;   ///< instructions of warps after which a kernel is ended; 0: never
  std::uint64_t idle_operations = 0;     ///< as launch_operations, for instructions of a block that change no memory
  simulated::SchedulesWanted schedules;  ///< orders of each launch besides the usual one
  bool lines = false;                    ///< whether the report has the counts of each instruction
  simulated::MutantsWanted mutants{};    ///< which are listed, and which one runs
  std::uint64_t sample_blocks = 0;       ///< of a launch with more blocks so many run, for a quick look; 0: all
  bool leaks = false;                    ///< whether memory that is never freed is a finding
  bool begin = false;                    ///< whether the report also says that a process begins
  std::string trace;                     ///< file that gets a line of JSON for every event on the device; empty: none
  bool trace_calls = false;              ///< whether the trace has a line for every call as well
  bool exclusive = false;  ///< whether the GPU is in exclusive-process mode: one process at a time has a context
  int driver_version =
      0;  ///< as cudaDriverGetVersion gives it; older than the runtime: no device can be used. 0: its own
  std::vector<Fault> faults;
  std::optional<RealClock> real_clock;  ///< none: the clock is virtual
};

/// The largest sample_blocks.
inline constexpr int kMostSampled = 1'000'000'000;

/// Reads the variable's value, JSON: {"gpu": "a100", "checkers": ["memory"]}; an empty text gives the defaults. Throws
/// UserError that names the member.
Settings parse_settings(const std::string& text);

/// The value of the variable for these settings.
std::string settings_text(const Settings& settings);

}  // namespace convladder::stand_in
