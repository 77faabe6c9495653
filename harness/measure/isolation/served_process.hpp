// What this program does when it is started again with a socket: `convladder serve-case SOCKET MEMORY WINDOW`, not for
// people. Each session registers its own name.
#pragma once

#include <string_view>

namespace convladder {

/// Numbers of open files: the socket; shared memory with the work, and a window to hand results out through, -1 where
/// there is none. Returns the exit code.
using Serve = int (*)(int socket, int memory, int window);

/// A static object of it makes the name known: "serve-case". The name must outlive it.
class ServedRegistration {
 public:
  ServedRegistration(std::string_view name, Serve serve);
};

/// Null if no session has that name.
Serve find_served(std::string_view name);

}  // namespace convladder
