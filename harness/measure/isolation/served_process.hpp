// The commands with which this program starts itself again with a socket: `convladder serve-case SOCKET MEMORY WINDOW`,
// not for people. Each session registers its own name.
#pragma once

#include <string_view>

namespace convladder {

/// Gets the numbers of open files: the socket; shared memory with the work, and a window to hand results out through,
/// -1 where there is none. Returns the exit code.
using Serve = int (*)(int socket, int memory, int window);

/// Makes a name known as a static object: "serve-case". The name must outlive it.
class ServedRegistration {
 public:
  ServedRegistration(std::string_view name, Serve serve);
};

/// The function of the session with that name; null if no session has it.
Serve find_served(std::string_view name);

}  // namespace convladder
