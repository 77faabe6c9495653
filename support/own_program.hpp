// The place of this program. Its other files are found from there, so that a tree may be moved.
#pragma once

#include <filesystem>

namespace convladder {

/// The program's file with links resolved: for /usr/local/bin/convladder -> /opt/convladder/bin/convladder the latter.
/// Without /proc it is the path that the program was started from. Empty if that is not known either.
std::filesystem::path own_program();

}  // namespace convladder
