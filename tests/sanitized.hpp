// Whether this build checks every access, which takes several times as long: for tests that only repeat something.
#pragma once

namespace convladder {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace convladder
