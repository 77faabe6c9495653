// Google Benchmark as the timing engine: it runs the loop, we choose how often and in which order.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace convladder {

/// Hands Google Benchmark its flags. Throws UserError for one it does not know.
void initialize_google_benchmark(const std::vector<std::string>& flags);

/// One sample: the mean nanoseconds of `iterations` calls. `timed_call` runs the work once and returns the nanoseconds
/// it took by the device's clock (manual time).
double google_benchmark_sample(const std::string& name, int iterations, const std::function<double()>& timed_call);

}  // namespace convladder
