// The functions of the runtime API that this stand-in lacks: each answers cudaErrorNotSupported and is named in the
// report. These are weak definitions of all names, of which the linker takes those that no other file defines.

extern "C" int convladder_stand_in_refuse(const char* name) noexcept;  // errors.cpp

// Callers know the parameters, which are not looked at. The API's header would cause an error.
#define CONVLADDER_NAME(name) \
  extern "C" [[gnu::weak]] int name() { return convladder_stand_in_refuse(#name); }
#include "runtime_names.inc"
#undef CONVLADDER_NAME
