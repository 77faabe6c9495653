// This file has no prototypes, only the addresses of all functions that the driver's headers declare.
#include "simulator/stand_in/driver/entry_points.hpp"

extern "C" {
#define CONVLADDER_NAME(name, version, symbol) int symbol();
#include "driver_names.inc"
#undef CONVLADDER_NAME
}

namespace convladder::stand_in {
namespace {

struct Row {
  std::string_view name;
  int version;
  int (*function)();
};

/// The functions by name, then by version.
constexpr Row kRows[] = {
#define CONVLADDER_NAME(name, version, symbol) Row{#name, version, &(symbol)},
#include "driver_names.inc"
#undef CONVLADDER_NAME
};

}  // namespace

EntryPoint driver_entry_point(std::string_view name, int version) {
  EntryPoint found;
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    found.is_known = true;
    if (row.version <= version) found.address = reinterpret_cast<void*>(row.function);
  }
  return found;
}

}  // namespace convladder::stand_in
