// The networks of this program by their names, for tests.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "network/network.hpp"

namespace convladder {

/// Throws std::runtime_error if there is none of that name.
inline const Network& built_in(std::string_view name) {
  const auto found = std::ranges::find(built_in_networks(), name, &Network::name);
  if (found == built_in_networks().end()) throw std::runtime_error("no network " + std::string(name));
  return *found;
}

}  // namespace convladder
