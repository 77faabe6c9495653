// How the stand-in is set up: one environment variable, CONVLADDER_STAND_IN, which `convladder simulate` writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/checkers/checker_set.hpp"

namespace convladder::stand_in {

inline constexpr const char* kSettingsVariable = "CONVLADDER_STAND_IN";

/// A fault that is injected, so that programs can be tried against what a GPU does once in a month.
struct Fault {
  std::string call;         ///< "cudaMalloc"; "*": any
  std::uint64_t from = 1;   ///< the first call that fails, counted from 1 over calls of this name
  std::uint64_t count = 0;  ///< how many fail; 0: all from there on
  int status = 0;           ///< what they answer
  bool loses = false;       ///< whether the context is lost by it: every later call fails as well
  bool hangs = false;       ///< the call never returns
};

/// The clock of the multiprocessors goes down in the middle of the work.
struct Throttle {
  double after_ms = 0;          ///< of work, after which it begins
  std::uint64_t at_launch = 0;  ///< instead: of the process, from 1 on; 0: after_ms says when
  double every_ms = 0;          ///< of work, after which it begins again; 0: it comes once
  double lasts_ms = 0;          ///< 0: for ever
  int mhz = 0;                  ///< it has at most this clock
  std::uint64_t reason = 0x4;   ///< as NVML has the bits of nvmlClocksEventReasons; 4: software power cap
};

/// The device has another process as well, by turns.
struct Sharing {
  double every_ms = 0;             ///< from one slice of the other to the next; 0: there is no other
  double slice_ms = 0;             ///< the device is the other's for so long
  std::uint64_t memory_bytes = 0;  ///< that the other has
};

/// How the device behaves by the real clock: as a GPU, whose every call costs something. Defaults are of about the size
/// that is said of an H100.
struct RealClock {
  std::uint64_t call_ns = 200;            ///< of the host, for every call
  std::uint64_t launch_ns = 2'300;        ///< of the host, for enqueuing a kernel, beside the call
  std::uint64_t enqueue_ns = 1'500;       ///< likewise, for anything else
  std::uint64_t graph_launch_ns = 5'000;  ///< likewise, for a graph
  std::uint64_t graph_node_ns = 40;       ///< likewise, for each of its nodes
  std::uint64_t between_ns = 900;         ///< of a stream, before a kernel
  std::uint64_t between_nodes_ns = 600;   ///< the same in a graph
  std::uint64_t event_ns = 500;           ///< of a stream, for recording an event

  int rest_mhz = 345;    ///< of the multiprocessors, when nothing has run for some time
  int load_mhz = 0;      ///< after some time of work; 0: the highest that the GPU has
  double ramp_ms = 40;   ///< of work, until it has come from one to the other
  double fall_ms = 200;  ///< without work, after which it is at rest
  std::vector<Throttle> throttles;

  double nvml_ms = 2;                     ///< that a query to NVML takes
  std::vector<std::string> nvml_missing;  ///< functions that this NVML lacks
  std::uint64_t library_ns = 10'000;      ///< that a call of cuDNN or cuBLAS takes the host

  std::uint64_t first_memory_bytes = 0;  ///< of the device, that are there at first; what is used makes it grow; 0: all
  Sharing sharing;
};

struct Settings {
  std::string gpu = "h100";        ///< of simulator/gpus
  simulated::CheckerSet checkers;  ///< none unless asked for
  bool with_caches = true;         ///< whether traffic below the L1 is counted
  int host_threads = 0;            ///< of the simulated device; 0: all cores
  std::string report;      ///< file that the report is appended to, a line of JSON for each process; empty: none
  bool print = false;      ///< findings and what is not supported go to stderr at exit
  int error_exitcode = 0;  ///< of a process with findings that exits with 0; 0: its own
  std::uint64_t memory_bytes = 0;       ///< of the device; 0: what the machine has available
  double launch_seconds = 600;          ///< after which a kernel is ended; 0: never
  std::uint64_t launch_operations = 0;  ///< instructions of warps, likewise
  std::uint64_t idle_operations = 0;    ///< of a block that change no memory, likewise
  bool leaks = false;                   ///< whether memory that is never freed is a finding
  bool begin = false;                   ///< whether the report says as well that a process begins
  std::string trace;         ///< file that gets a line of JSON for whatever happens on the device; empty: none
  bool trace_calls = false;  ///< whether it gets one for every call as well
  bool exclusive = false;    ///< the GPU is in exclusive-process mode: one process at a time has a context
  int driver_version =
      0;  ///< as cudaDriverGetVersion gives it; older than the runtime: no device can be used. 0: its own
  std::vector<Fault> faults;
  std::optional<RealClock> real_clock;  ///< none: the clock is virtual
};

/// From the variable's value, JSON: {"gpu": "a100", "checkers": ["memory"]}; an empty text gives the defaults. Throws
/// UserError that names the member.
Settings parse_settings(const std::string& text);

/// The value for the variable that gives these settings.
std::string settings_text(const Settings& settings);

}  // namespace convladder::stand_in
