// The functions that a library's headers declare and its stand-in lacks: each answers "not supported" and is named in
// the report. These are weak definitions of all names, of which the linker takes those that no other file defines.

namespace convladder::stand_in {
int CONVLADDER_REFUSE(const char* function) noexcept;
}

// Callers know the parameters, which are not looked at.
#define CONVLADDER_NAME(name) \
  extern "C" [[gnu::weak]] int name() { return convladder::stand_in::CONVLADDER_REFUSE(#name); }
#include CONVLADDER_NAMES
#undef CONVLADDER_NAME
