// A layer's floor: the time below which no variant gets on this device, from its ceilings as measured.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "variants/problem_size.hpp"

namespace convladder {

/// `ladders[].floor` of a layer with its batch, from the record's `ceilings`; null where the device has none.
///   operations = `ProblemSize::least_flop` / FMA peak; of a convolution the taps that are on the image
///   bytes      = output written once at the rate of streaming stores, input and weights read once at the rate that a
///                copy has left for reading: copying a byte takes 2 / copy, of which 1 / store is for writing it. Null
///                where all of it fits into the last-level cache, from which the memory's rate is no bound.
/// The floor is the larger of the two, which is the `bound`. Winograd and FFT multiply less often and are not meant.
nlohmann::ordered_json floor_json(const ProblemSize& shape, const std::string& device,
                                  const nlohmann::ordered_json& ceilings);

}  // namespace convladder
