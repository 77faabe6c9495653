// `convladder profile`: where the time of a network run goes, as nvprof and nsys print it.
#pragma once

#include <string>

#include "harness/commands/network_command.hpp"

namespace convladder {

/// The command line, not checked yet.
struct ProfileArguments {
  NetworkArguments network;  ///< of a run that is made now
  std::string record;        ///< or a network.json, whose profiles are printed
  std::string case_filter;   ///< part of the ids of the record's cases
  std::string layout = "nvprof";
  std::string format = "text";
  double cut_percent = 90;
  bool full_names = false;
};

void add_profile_options(CLI::App& profile, ProfileArguments& arguments);

/// Returns the exit code. Throws UserError for bad input.
int profile_command(const ProfileArguments& arguments);

}  // namespace convladder
