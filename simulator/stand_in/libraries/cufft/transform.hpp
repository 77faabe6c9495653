// The transforms, by FFTW.
#pragma once

#include "simulator/stand_in/libraries/cufft/layout.hpp"

namespace convladder::stand_in::cufft {

/// Transforms `in` to `out`, without a factor. `sign` is that of the exponent: -1 forwards. `in` is kept unless it is
/// `out` as well. `sizes` are those of the transform: of the real side if it has one. Throws std::runtime_error where
/// FFTW has no plan for it.
void transform(Kind kind, bool is_double, int sign, const std::vector<std::int64_t>& sizes, void* in,
               const Layout& from, void* out, const Layout& to);

}  // namespace convladder::stand_in::cufft
