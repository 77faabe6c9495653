// Streams and events: the runtime's, whose handles are the same.
#include "simulator/stand_in/driver/answer.hpp"

using namespace convladder::stand_in;

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return forward("cuStreamCreate", cudaStreamCreateWithFlags, stream, flags);
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return forward("cuStreamCreateWithPriority", cudaStreamCreateWithPriority, stream, flags, priority);
}
CUresult cuStreamDestroy_v2(CUstream stream) { return forward("cuStreamDestroy", cudaStreamDestroy, stream); }
CUresult cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }
CUresult cuStreamSynchronize(CUstream stream) { return forward("cuStreamSynchronize", cudaStreamSynchronize, stream); }
CUresult cuStreamQuery(CUstream stream) { return forward("cuStreamQuery", cudaStreamQuery, stream); }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return forward("cuStreamWaitEvent", cudaStreamWaitEvent, stream, event, flags);
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return forward("cuStreamGetFlags", cudaStreamGetFlags, stream, flags);
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return forward("cuStreamGetPriority", cudaStreamGetPriority, stream, priority);
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return forward("cuStreamGetId", cudaStreamGetId, stream, id);
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return forward("cuStreamGetDevice", cudaStreamGetDevice, stream, device);
}
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, std::size_t bytes, unsigned flags) {
  return forward("cuStreamAttachMemAsync", cudaStreamAttachMemAsync, stream, address_of(address), bytes, flags);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return answer_driver("cuStreamGetCtx", Needs::context, [&](Machine& machine) {
    static_cast<void>(machine.stream_number(stream));
    const Stream* const found = machine.find_stream(stream);
    const DeviceContext* const of = found == nullptr ? machine.contexts.current() : found->context;
    give(context, reinterpret_cast<CUcontext>(const_cast<DeviceContext*>(of)));
  });
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}

static_assert(sizeof(CUstreamAttrValue) == sizeof(cudaStreamAttrValue));
CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue* value) {
  return forward("cuStreamSetAttribute", cudaStreamSetAttribute, stream, static_cast<cudaStreamAttrID>(attribute),
                 reinterpret_cast<const cudaStreamAttrValue*>(value));
}
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return forward("cuStreamGetAttribute", cudaStreamGetAttribute, stream, static_cast<cudaStreamAttrID>(attribute),
                 reinterpret_cast<cudaStreamAttrValue*>(value));
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return forward("cuStreamCopyAttributes", cudaStreamCopyAttributes, to, from);
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return forward("cuEventCreate", cudaEventCreateWithFlags, event, flags);
}
CUresult cuEventDestroy_v2(CUevent event) { return forward("cuEventDestroy", cudaEventDestroy, event); }
CUresult cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return forward("cuEventRecord", cudaEventRecord, event, stream);
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return forward("cuEventRecordWithFlags", cudaEventRecordWithFlags, event, stream, flags);
}
CUresult cuEventQuery(CUevent event) { return forward("cuEventQuery", cudaEventQuery, event); }
CUresult cuEventSynchronize(CUevent event) { return forward("cuEventSynchronize", cudaEventSynchronize, event); }
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  return forward("cuEventElapsedTime", cudaEventElapsedTime, milliseconds, begin, end);
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, begin, end);
}

}  // extern "C"
