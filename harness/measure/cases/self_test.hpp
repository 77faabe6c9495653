// Tests whether a problem tells right from wrong at all: an output that nobody computed must not pass.
#pragma once

#include "harness/measure/cases/workload.hpp"

namespace convladder {

/// Compares an output of zeros, a copy of each input that has its size, and the answer to another input with the
/// reference. Throws UserError, one line that says which of them would pass.
void require_telling_problem(const Workload& workload);

}  // namespace convladder
