// `convladder list` and `convladder env`: what there is to run, and what it would run on.
#pragma once

namespace convladder {

/// Variants in ladder order, operators, layers and devices. Returns the exit code.
int list_command(bool as_json);

/// The simulated device's metrics: title, Nsight Compute's name, unit, definition and note of each. Returns the exit
/// code.
int list_metrics_command(bool as_json);

/// Program, host, processor, devices and libraries, as the record of a run would hold them, and what is missing.
int env_command(bool as_json);

}  // namespace convladder
