// Profiles of network cases: of a run that is made for it, and those in a record.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/isolation/status.hpp"
#include "harness/measure/networks/network_plan.hpp"
#include "harness/measure/profile/profile_text.hpp"

namespace convladder {

struct ProfiledNetwork {
  Status status = Status::ok;  ///< any other: there is no profile
  std::string reason;
  TitledProfile profile;
};

/// Runs the case here, so that a profiler around this program sees it: verified, warmed up, and then recorded. Says on
/// standard error why kernels and API calls are not listed. Throws UserError for images or weights that cannot be read.
ProfiledNetwork profile_network(const NetworkCase& planned, const NetworkOptions& options);

/// The profiles in a network.json, of the cases whose ids match the pattern of --case. Throws UserError if it is not a
/// record of networks, and if no profile is left.
std::vector<TitledProfile> recorded_profiles(const std::string& file, const std::string& filter);

}  // namespace convladder
