// A layer's floor: the time below which no direct convolution gets on this device, from its ceilings as measured.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "variants/convolution/conv_shape.hpp"

namespace convladder {

/// Operations of the direct convolution without the taps that fall on padding: what it cannot leave out.
double flop_inside(const ConvShape& shape);

/// `ladders[].floor` of the case's layer and batch, from the record's `ceilings`; null where the device has none.
///   operations = multiplies and adds of the taps that are on the image / FMA peak
///   bytes      = output written once at the rate of streaming stores, input and weights read once at the rate that a
///                copy has left for reading: copying a byte takes 2 / copy, of which 1 / store is for writing it. Null
///                where all of it fits into the last-level cache, from which the memory's rate is no bound.
/// The floor is the larger of the two, which is the `bound`. Winograd and FFT multiply less often and are not meant.
nlohmann::ordered_json floor_json(const nlohmann::ordered_json& one_case, const nlohmann::ordered_json& ceilings);

}  // namespace convladder
