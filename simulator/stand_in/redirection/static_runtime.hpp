// Redirects the functions of a CUDA runtime that is part of a program or library: each begins with a jump to the
// stand-in's function of that name.
#pragma once

#include <link.h>

#include <cstddef>
#include <string_view>

namespace convladder::stand_in {

/// A loaded object with a runtime of its own, and where its functions lead.
struct StaticRuntime;

/// The folder of the stand-in's libraries, with a '/' at its end.
std::string_view own_folder();

/// Redirects the functions of the runtime that is part of an object which has just been loaded, and of which nothing
/// has run. nullptr: it has none, or none that has names or to which exported functions with names lead.
StaticRuntime* redirect(const link_map& object, const char* path);

/// The first object of the program's own namespace: the program.
void set_program(const link_map& program);

/// The object is being unloaded.
void forget(StaticRuntime* runtime);

}  // namespace convladder::stand_in
