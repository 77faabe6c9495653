// Functions for several devices: who may reach whose memory, and copies between devices. The memory of all has one
// range of addresses.
#include "simulator/stand_in/runtime/boxes.hpp"

using namespace convladder::stand_in;

namespace {

cudaError_t copy(const char* name, void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                 cudaStream_t stream, bool host_waits) {
  return answer(name, [&](Machine& machine) {
    require_device(to_device);
    require_device(from_device);
    copy_rectangle(machine, line(to), line(from), {bytes, 1, 1}, CopyKind::device_to_device,
                   machine.stream_number(stream), host_waits);
  });
}

cudaError_t copy_3d(const char* name, const cudaMemcpy3DPeerParms* p, cudaStream_t stream, bool host_waits) {
  return answer(name, [&](Machine& machine) {
    require(p != nullptr);
    require_device(p->srcDevice);
    require_device(p->dstDevice);
    cudaMemcpy3DParms plain = {};
    plain.srcArray = p->srcArray;
    plain.srcPos = p->srcPos;
    plain.srcPtr = p->srcPtr;
    plain.dstArray = p->dstArray;
    plain.dstPos = p->dstPos;
    plain.dstPtr = p->dstPtr;
    plain.extent = p->extent;
    plain.kind = cudaMemcpyDefault;
    const BoxCopy copy = box_copy(machine, plain);
    copy_rectangle(machine, copy.to, copy.from, copy.size, copy.kind, machine.stream_number(stream), host_waits);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return answer(
      "cudaDeviceCanAccessPeer",
      [&](Machine&) {
        require_device(device);
        require_device(peer);
        give(can, peer == device ? 0 : 1);
      },
      Context::not_used);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return answer("cudaDeviceEnablePeerAccess", [&](Machine& machine) {
    require(flags == 0);
    require_device(peer);
    machine.let_reach(peer);
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return answer("cudaDeviceDisablePeerAccess", [&](Machine& machine) {
    require_device(peer);
    machine.reach_no_longer(peer);
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int other) {
  return answer(
      "cudaDeviceGetP2PAttribute",
      [&](Machine&) {
        require(value != nullptr && attribute >= cudaDevP2PAttrPerformanceRank &&
                attribute <= cudaDevP2PAttrCudaArrayAccessSupported);
        require_device(device);
        require_device(other);
        require(device != other, kInvalidDevice);
        *value = attribute == cudaDevP2PAttrPerformanceRank ? 0 : 1;
      },
      Context::not_used);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  return copy("cudaMemcpyPeer", to, to_device, from, from_device, bytes, nullptr, true);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  return copy("cudaMemcpyPeerAsync", to, to_device, from, from_device, bytes, stream, false);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) { return copy_3d("cudaMemcpy3DPeer", p, nullptr, true); }

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return copy_3d("cudaMemcpy3DPeerAsync", p, stream, false);
}

}  // extern "C"
