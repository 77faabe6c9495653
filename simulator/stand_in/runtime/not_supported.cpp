// What the runtime API has and this stand-in does not: each answers cudaErrorNotSupported and is named in the report.
// These are weak definitions of all names, of which the linker takes what no other file defines.
#include "simulator/stand_in/runtime/refusal.hpp"

// Callers know the parameters; none of them is looked at. The API's header would object.
#define CONVLADDER_NAME(name) \
  extern "C" [[gnu::weak]] int name() { return convladder::stand_in::refuse_runtime_call(#name); }
#include "runtime_names.inc"
#undef CONVLADDER_NAME
