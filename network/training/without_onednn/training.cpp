// Training in a build without oneDNN: it says what is missing.
#include "network/training/training.hpp"

namespace convladder {

std::string training_unsupported(const Network& /*network*/) {
  return "this program was built without oneDNN (package libdnnl-dev)";
}

TrainedNetwork train(const Network& network, const ImageRange& /*training*/, const ImageRange& /*test*/,
                     const TrainingOptions& /*options*/, const TrainingListener& /*listener*/) {
  throw TrainingError(training_unsupported(network));
}

}  // namespace convladder
