#include "harness/measure/machine/noise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/text.hpp"

namespace convladder {
namespace {

constexpr double kOthersSeen = 0.1;  // cores
constexpr double kStealSeen = 0.005;

std::string first_line(const std::filesystem::path& file) {
  const std::string text = system_text(file);
  return std::string(trimmed(std::string_view(text).substr(0, text.find('\n'))));
}

}  // namespace

ProcessorTraits processor_traits(const std::filesystem::path& root) {
  const std::filesystem::path processors = root / "sys/devices/system/cpu";
  const std::string facts = system_text(root / "proc/cpuinfo");
  return {.shares_cores = first_line(processors / "smt/active") == "1",
          .governor = first_line(processors / "cpu0/cpufreq/scaling_governor"),
          .turbo = first_line(processors / "cpufreq/boost") == "1" ||
                   first_line(processors / "intel_pstate/no_turbo") == "0",
          .is_virtual = facts.find(" hypervisor") != std::string::npos};
}

std::vector<NoiseSource> noise_sources(const std::optional<MachineLoad>& load, const ProcessorTraits& traits,
                                       int threads) {
  std::vector<NoiseSource> sources;
  if (load && load->used >= kOthersSeen) {
    sources.push_back({fmt::format("other programs used {:.1f} of {} cores", load->used, load->cores),
                       "wait until they are done (--wait-until-quiet 600)"});
  }
  if (load && load->steal >= kStealSeen) {
    sources.push_back({fmt::format("other virtual machines had {:.1f} % of the time", load->steal * 100),
                       "a machine that is not shared"});
  } else if (traits.is_virtual) {
    sources.push_back({"a virtual machine, whose neighbours cannot be seen", ""});
  }
  if (threads != 1) {
    sources.push_back({threads == 0 ? "perhaps several threads, which wait for each other"
                                    : fmt::format("{} threads, which wait for each other", threads),
                       "OMP_NUM_THREADS=1, if the question allows it"});
  }
  if (traits.shares_cores) {
    sources.push_back(
        {"two hardware threads share a core", "one thread to a core: 'taskset -c' with every second one"});
  }
  if (!traits.governor.empty() && traits.governor != "performance") {
    sources.push_back(
        {fmt::format("the clock follows the load (governor {})", traits.governor), "the governor 'performance'"});
  }
  if (traits.turbo) sources.push_back({"the clock follows the heat (turbo)", ""});
  return sources;
}

std::string noise_text(const std::vector<NoiseSource>& sources) {
  std::vector<std::string> what;
  std::vector<std::string> help;
  for (const NoiseSource& source : sources) {
    what.push_back(source.what);
    if (!source.help.empty()) help.push_back(source.help);
  }
  if (what.empty()) return {};
  return fmt::format("{}{}{}", fmt::join(what, "; "), help.empty() ? "" : ". What helps: ", fmt::join(help, "; "));
}

}  // namespace convladder
