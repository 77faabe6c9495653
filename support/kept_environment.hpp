// The part of this program's environment that a process gets which runs or compiles other people's code.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// The variables "NAME=value" whose names are in `kept`, where "OMP_*" stands for all that begin with "OMP_"; and those
/// of `given`, in place of others with their names.
std::vector<std::string> kept_environment(std::span<const std::string_view> kept,
                                          const std::map<std::string, std::string>& given = {});

}  // namespace convladder
