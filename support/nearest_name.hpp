// "unknown variant 'shared-memroy'; known: shared-memory, …": nearest first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// The names, nearest to `wanted` first by edit distance; equal distances keep their order.
std::vector<std::string> nearest_names(std::string_view wanted, std::vector<std::string> names);

/// "unknown <what> '<wanted>'; known: <names, nearest first>"; of more than eight names the nearest five "and 40 more".
std::string unknown_name_message(std::string_view what, std::string_view wanted, std::vector<std::string> names);

}  // namespace convladder
