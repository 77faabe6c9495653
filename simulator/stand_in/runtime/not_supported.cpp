// The functions of the runtime API that this stand-in lacks: each answers cudaErrorNotSupported and is named in the
// report. These are weak definitions of all names, of which the linker takes those that no other file defines.
#include "simulator/stand_in/runtime/refusal.hpp"

// Callers know the parameters, which are not looked at. The API's header would cause an error.
#define CONVLADDER_NAME(name) \
  extern "C" [[gnu::weak]] int name() { return convladder::stand_in::refuse_runtime_call(#name); }
#include "runtime_names.inc"
#undef CONVLADDER_NAME
