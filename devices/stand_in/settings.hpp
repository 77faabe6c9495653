// How the stand-in is set up: one environment variable, CONVLADDER_STAND_IN, which `convladder simulate` writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/simulated/checkers/checker_set.hpp"

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

struct Settings {
  std::string gpu = "h100";        ///< of devices/gpus
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
};

/// From the variable's value, JSON: {"gpu": "a100", "checkers": ["memory"]}; an empty text gives the defaults. Throws
/// UserError that names the member.
Settings parse_settings(const std::string& text);

/// The value for the variable that gives these settings.
std::string settings_text(const Settings& settings);

}  // namespace convladder::stand_in
