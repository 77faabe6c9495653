#include "simulator/stand_in/runtime/launch_attributes.hpp"

#include "simulator/stand_in/graph.hpp"

namespace convladder::stand_in {

void apply(AttributedLaunch& launch, const cudaLaunchAttribute* attributes, unsigned count) {
  require(count == 0 || attributes != nullptr);
  for (unsigned i = 0; i < count; ++i) {
    const cudaLaunchAttributeValue& value = attributes[i].val;
    switch (attributes[i].id) {
      case cudaLaunchAttributeCooperative:
        launch.request.cooperative = value.cooperative != 0;
        break;
      case cudaLaunchAttributeClusterDimension:
        launch.request.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
        require(launch.request.cluster.count() > 0);
        break;
      case cudaLaunchAttributeProgrammaticEvent:
        launch.events.push_back(value.programmaticEvent.event);
        break;
      case cudaLaunchAttributeLaunchCompletionEvent:
        launch.events.push_back(value.launchCompletionEvent.event);
        break;
      case cudaLaunchAttributeDeviceUpdatableKernelNode:
        if (value.deviceUpdatableKernelNode.deviceUpdatable != 0) {
          throw Failure(kNotSupported, "a node of a graph that kernels change");
        }
        break;
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributeAccessPolicyWindow:
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      case cudaLaunchAttributeProgrammaticStreamSerialization:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
      case cudaLaunchAttributePreferredClusterDimension:
      case cudaLaunchAttributePreferredSharedMemoryCarveout:
      case cudaLaunchAttributeNvlinkUtilCentricScheduling:
        break;
      default:
        throw Failure(kInvalidValue);
    }
  }
}

void record_events(Machine& machine, const AttributedLaunch& launch) {
  for (const void* const handle : launch.events) {
    Event& event = machine.event(handle);
    if (machine.graphs().capturing(launch.request.stream) != nullptr) {
      throw Failure(kNotSupported, "an event of a launch that is captured");
    }
    event.at = machine.timeline.mark(launch.request.stream);
    event.is_recorded = true;
  }
}

}  // namespace convladder::stand_in
