// The functions that the driver's headers declare and this stand-in lacks: each answers CUDA_ERROR_NOT_SUPPORTED and is
// named in the report. These are weak definitions of all names, of which the linker takes those that no other file
// defines.

namespace convladder::stand_in {
int refuse_driver_call(const char* name) noexcept;  // errors.cpp
}

// Callers know the parameters, which are not looked at.
#define CONVLADDER_NAME(name, version, symbol) \
  extern "C" [[gnu::weak]] int symbol() { return convladder::stand_in::refuse_driver_call(#symbol); }
#include "driver_names.inc"
#undef CONVLADDER_NAME
