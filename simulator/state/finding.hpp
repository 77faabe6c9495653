// The checkers and their findings: one for each place in a kernel, with the number of times that it happened there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devices/device.hpp"
#include "simulator/state/source_place.hpp"

namespace convladder::simulated {

/// The checkers, like the tools of NVIDIA's compute-sanitizer.
enum class Checker {
  memory,           ///< memcheck: accesses outside of allocations, misaligned ones, memory that is never freed
  initialization,   ///< initcheck: reads of memory that was never written
  race,             ///< racecheck: accesses of two threads in no defined order, at least one of them a write
  synchronization,  ///< synccheck: barriers that not all of their threads reach
  order             ///< ordercheck: results that are others when the work goes on in another order
};
inline constexpr std::array kCheckers = {Checker::memory, Checker::initialization, Checker::race,
                                         Checker::synchronization, Checker::order};

/// The name of a checker: "memcheck", "initcheck", "racecheck", "synccheck", "ordercheck".
std::string_view checker_name(Checker checker);

/// The checkers that observe a launch.
struct CheckerSet {
  bool memory = false;
  bool initialization = false;
  bool race = false;
  bool synchronization = false;

  static CheckerSet all() { return {true, true, true, true}; }
  bool any() const { return memory || initialization || race || synchronization; }
  bool has(Checker checker) const;
};

/// The words for the checkers that observe, in options and settings, in the order of Checker.
inline constexpr std::array<std::pair<const char*, bool CheckerSet::*>, 4> kCheckerWords = {
    {{"memory", &CheckerSet::memory},
     {"initialization", &CheckerSet::initialization},
     {"race", &CheckerSet::race},
     {"synchronization", &CheckerSet::synchronization}}};

inline bool CheckerSet::has(Checker checker) const {
  if (checker == Checker::order) return true;  // it runs the kernel itself, where that is asked for
  return this->*kCheckerWords[static_cast<std::size_t>(checker)].second;
}

/// Whether something is wrong. Notes are shown, but do not count as findings and change no exit code.
enum class Severity {
  finding,
  note  ///< not in order, but without any effect on what is computed: equal values, or values that nobody uses
};

/// "finding", "note".
std::string_view severity_name(Severity severity);

struct Finding {
  Checker checker = Checker::memory;
  Severity severity = Severity::finding;
  std::string problem;        ///< "read of 4 bytes 0 bytes past the end of 'in' (256 bytes)"
  std::string kernel;         ///< name in the PTX
  std::string configuration;  ///< of the kernel: "BLOCK=128, 4 warps, 3 stages"; empty where nobody has told it
  std::string opcode;
  int ptx_line = 0;
  std::string source_file;  ///< base name; empty if the PTX has no line information
  int source_line = 0;
  std::vector<SourcePlace> callers;  ///< where the code of the line was inlined, innermost first
  std::string launcher;              ///< "scale, scale.cu line 7": the kernel that launched this one; empty: the host
  Dim3 block;                        ///< of the first thread, in the order of blocks, with the finding
  Dim3 thread;                       ///< in its block
  std::string space;                 ///< "global", "shared", "local"; empty if no address is involved
  std::uint64_t address = 0;         ///< in global memory, or the offset in shared or local memory
  std::string allocation;            ///< label of the allocation; empty if there is none
  std::uint64_t count = 0;           ///< threads with the finding, over the whole launch
};

/// Whether two findings are of one statement of the source and say the same of it: a loop that the compiler unrolled
/// has many instructions of one line. Without a line, two findings of one instruction.
bool are_of_one_statement(const Finding& one, const Finding& other);

/// The number of entries that are no notes.
std::size_t count_findings(std::span<const Finding> findings);

/// The place in words: "'st.global.f32' in scale, PTX line 24, scale.cu line 7, block (0, 0, 0), thread (5, 0, 0)"
std::string place_text(const Finding& finding);
/// "matmul[BLOCK=128, 4 warps, 3 stages]"; the kernel alone where the configuration is empty.
std::string configured_name(const std::string& kernel, const std::string& configuration);
/// "called from scale.cu line 12, main.cu line 5"; empty where nothing was inlined.
std::string callers_text(const Finding& finding);
/// The kernel and its line: "scale, scale.cu line 7".
std::string kernel_text(const Finding& finding);
/// "racecheck", "racecheck, a note": the begin of its lines.
std::string heading_text(const Finding& finding);
/// The whole finding in one line.
std::string to_text(const Finding& finding);

}  // namespace convladder::simulated
