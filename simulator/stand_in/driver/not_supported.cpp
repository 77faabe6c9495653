// What the driver's headers declare and this stand-in does not have: each answers CUDA_ERROR_NOT_SUPPORTED and is named
// in the report. Which these are is in not_supported_names.inc; a function that is written is taken out there.
#include "simulator/stand_in/driver/refusal.hpp"

// Callers know the parameters; none of them is looked at.
#define CONVLADDER_NOT_SUPPORTED(name) \
  extern "C" int name() { return convladder::stand_in::refuse_driver_call(#name); }
#include "simulator/stand_in/driver/not_supported_names.inc"
#undef CONVLADDER_NOT_SUPPORTED
