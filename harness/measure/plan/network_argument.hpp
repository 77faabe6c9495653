// A network as typed on the command line: the name of one that is built in, or the path of a network file.
#pragma once

#include <string>
#include <vector>

#include "network/network.hpp"

namespace convladder {

/// The built-in network of that name; a text with a '/' or with ".json" at its end is a file, read once and kept.
/// Throws UserError with the known names, nearest first, or with the error in the file.
const Network& find_network(const std::string& name_or_path);

/// The networks of these names. Without names, the built-in networks that are marked for it (`default_run`), and all of
/// which a layer is named in full ("lenet86.conv1").
std::vector<const Network*> selected_networks(const std::vector<std::string>& names,
                                              const std::vector<std::string>& layers);

}  // namespace convladder
