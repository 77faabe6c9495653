// How far a case's times can be trusted, by observations of the machine while it was measured.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/machine/device_ceilings.hpp"
#include "harness/measure/machine/machine_load.hpp"

namespace convladder {

/// From the best to the worst. noisy: the times are good to some ten percent; disturbed: they may be several times what
/// a quiet machine takes.
enum class QualityMark { good, noisy, disturbed };

/// "good", "noisy", "disturbed".
std::string_view quality_name(QualityMark mark);
/// The sign beside a marked time, one column wide: "~" for noisy, "!" for disturbed, empty for good.
std::string_view quality_sign(QualityMark mark);

/// How far a limit of the device, which should always be the same, varied.
struct AnchorSpread {
  std::string name;  ///< "FMA peak"
  double ratio = 1;  ///< the highest sample of the run over the lowest of those taken while the case was measured
};

/// How many samples the ceilings hold for the device by now; 0 where it has none.
std::size_t anchor_samples(const Ceilings& ceilings, std::string_view device);
/// The limit that varied most, by the samples from number `first` on. None without two samples in all.
std::optional<AnchorSpread> anchor_spread(const Ceilings& ceilings, std::string_view device, std::size_t first);

/// The median of the last half of the samples over that of the first half, less 1. None for fewer than 8.
std::optional<double> drift_of(const std::vector<double>& samples);

/// The clock of a device that measures it.
struct ClockSeen {
  double lowest_mhz = 0;             ///< of the case's samples
  double highest_mhz = 0;            ///< of all samples of the run on that device
  bool is_held = false;              ///< whether something held the clock down during all samples of the case
  std::vector<std::string> reasons;  ///< what held it down
};

/// Observations of a case and of the machine meanwhile.
struct SeenOfCase {
  std::vector<double> samples;  ///< of the case's time, in the order they were taken; at least one
  int threads = 1;              ///< host threads that the case keeps busy
  std::optional<MachineLoad> load;
  std::optional<AnchorSpread> anchors;
  std::optional<ClockSeen> clock = std::nullopt;
  double enqueue_ns = 0;  ///< host time for each call that the host launches one by one; 0: it launches none, or
                          ///< unknown
};

/// The verdict, and the figures behind it that the record holds.
struct Quality {
  QualityMark mark = QualityMark::good;
  std::vector<std::string> reasons;                     ///< with their figures, the worst first; none for a good case
  std::optional<double> load_of_others = std::nullopt;  ///< as a share of all cores
  std::optional<double> steal = std::nullopt;           ///< as a share of the time
  std::optional<double> drift = std::nullopt;           ///< drift_of the case's samples
  std::optional<double> anchor_spread = std::nullopt;   ///< the ratio of the limit that varied most

  bool is_marked() const { return mark != QualityMark::good; }
  bool operator==(const Quality&) const = default;
};

Quality judge_quality(const SeenOfCase& seen);

/// Says how busy others kept the machine, if a case that keeps so many threads busy was disturbed by it: "others
/// used 1.6 of 2 cores". Empty if it was not, and where nothing is known of others.
std::string busy_text(const std::optional<MachineLoad>& load, int threads);

/// The mark of that name; none for any other.
std::optional<QualityMark> quality_from_name(std::string_view name);

/// "N of M cases …": the line at the end of a run about the qualities of its timed cases, good where none is known;
/// empty if all of them are good.
std::string quality_line(const std::vector<Quality>& timed, int cores, std::string_view file = "run.json");

}  // namespace convladder
