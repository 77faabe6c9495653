// The reasons why times scatter on this machine, and remedies: for a reader before anything is measured.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/machine/machine_load.hpp"

namespace convladder {

/// Traits of the processors, as far as the system tells them.
struct ProcessorTraits {
  bool shares_cores = false;  ///< two hardware threads to a core
  std::string governor = {};  ///< of the clock: "performance"; empty if unknown
  bool turbo = false;         ///< the clock rises above its nominal one while there is room for heat
  bool is_virtual = false;
};

/// Reads them below /sys; `root` stands in its place in a test.
ProcessorTraits processor_traits(const std::filesystem::path& root = "/");

/// A source of scatter and its remedy.
struct NoiseSource {
  std::string what;  ///< "others used 1.2 of 2 cores"
  std::string help;  ///< "wait until they are done (--wait-until-quiet)"; empty if nothing is to be done here
};

/// The sources that are there, the gravest first. `threads` is what a slot keeps busy, 0 where it is not known.
std::vector<NoiseSource> noise_sources(const std::optional<MachineLoad>& load, const ProcessorTraits& traits,
                                       int threads);

/// All in one line: "others used 1.2 of 2 cores; … What helps: …"; empty for none.
std::string noise_text(const std::vector<NoiseSource>& sources);

}  // namespace convladder
