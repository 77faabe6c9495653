// Sentences about a measured stage without counters: its place between the limits of the machine, and no more.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/measure/statistics/ratio.hpp"

namespace convladder {

/// A sentence on what the stage's idea relieved. `x` is the speedup over the stage below, `hypothesis` the idea in its
/// author's words or empty. Empty where there is nothing to say.
std::string measured_relief(const Ratio& x, std::string_view hypothesis);

/// A sentence on what binds the stage. `operations_ns` and `bytes_ns` are the layer's times at the machine's FMA peak
/// and at its memory's rate; the latter is none where all of it fits into the cache. `saves`: how many times fewer
/// multiplications the stage makes than the definition (Variant::saved_operations); its rate is an effective one then,
/// and the peak binds only what it makes. Empty without either.
std::string measured_bound(double layer_ns, double operations_ns, std::optional<double> bytes_ns, double saves = 1);

}  // namespace convladder
