// What the runtime API has and this stand-in does not: each answers cudaErrorNotSupported and is named in the report.
// Which names these are is in not_supported_names.inc; a function that is written is taken out there.
#include "simulator/stand_in/runtime/refusal.hpp"

// Callers know the parameters; none of them is looked at. The API's header would object.
#define CONVLADDER_NOT_SUPPORTED(name) \
  extern "C" int name() { return convladder::stand_in::refuse_runtime_call(#name); }
#include "simulator/stand_in/runtime/not_supported_names.inc"
#undef CONVLADDER_NOT_SUPPORTED
