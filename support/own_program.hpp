// Where this program lies. What comes with it is found from there, so that a tree may be moved.
#pragma once

#include <filesystem>

namespace convladder {

/// The program's file, links resolved: of /usr/local/bin/convladder -> /opt/convladder/bin/convladder the latter.
/// Without /proc it is where the program was started from. Empty where neither tells.
std::filesystem::path own_program();

}  // namespace convladder
