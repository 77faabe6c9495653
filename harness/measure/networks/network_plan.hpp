// From options to the cases of a run of whole networks: network x batch x variants x device.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/plan/options.hpp"
#include "network/network_steps.hpp"

namespace convladder {

/// One network run with one choice of implementations on one device and batch.
struct NetworkCase {
  std::string id;  ///< device/variants/network/batch
  const Network* network = nullptr;
  std::string network_argument;  ///< as typed, so that another process finds the network as well
  NetworkChoice choice;
  std::string variants;  ///< "shared-memory", or "conv1=shared-memory,conv2=block-remap"
  std::string device;
  int batch = 1;
  bool has_clock = true;         ///< whether the device times; if not, it counts
  std::string skipped;           ///< why it is not run on this machine; empty if it is
  std::string does_not_compile;  ///< the compiler's message for a stage from outside; empty if it compiles
  std::string unsupported;       ///< why the network cannot be run so; empty if it can
  bool runs() const { return skipped.empty() && does_not_compile.empty() && unsupported.empty(); }
};

/// The most floating-point operations of a pass where the batches are the network's own, without `--batch`. Devices
/// without a clock get `kCountedBatch` images if that is below their limit, otherwise one.
inline constexpr double kNetworkWorkLimit = 350e9;
inline constexpr double kCountedNetworkWorkLimit = 1e9;
inline constexpr int kCountedBatch = 8;

/// All cases, by network, batch, device and stage, also those whose images do not fit the memory now. Throws UserError
/// for unknown names, nearest first.
std::vector<NetworkCase> make_network_plan(const NetworkOptions& options);

/// Why the memory does not suffice for the images of the case now; empty if it does. To be asked when the case's turn
/// comes.
std::string why_no_room(const NetworkCase& planned);

}  // namespace convladder
