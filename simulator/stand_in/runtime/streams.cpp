// Streams, events, and waiting for them.
#include "simulator/stand_in/graph.hpp"
#include "simulator/stand_in/runtime/answer.hpp"

using namespace convladder::stand_in;

namespace {

cudaError_t create_stream(const char* name, cudaStream_t* stream, unsigned flags, int priority) {
  return answer(name, [&](Machine& machine) {
    require(stream != nullptr && flags <= cudaStreamNonBlocking);
    *stream = reinterpret_cast<cudaStream_t>(machine.add_stream(flags, std::min(0, std::max(priority, -5))));
  });
}

/// A stream's own field, or the value for the default stream.
template <typename T>
cudaError_t stream_field(const char* name, cudaStream_t stream, T* place, T of_default, T Stream::*field) {
  return answer(name, [&](Machine& machine) {
    static_cast<void>(machine.stream_number(stream));
    const Stream* const found = machine.find_stream(stream);
    give(place, found == nullptr ? of_default : found->*field);
  });
}

cudaError_t record(const char* name, cudaEvent_t event, cudaStream_t stream, bool is_external) {
  return answer(name, [&](Machine& machine) {
    const int number = machine.stream_number(stream);
    Event& found = machine.event(event);
    if (found.context != nullptr && found.context->device != machine.timeline.device_of(number)) {
      throw Failure(kInvalidHandle, "the event is another device's than the stream");
    }
    const bool is_captured = machine.graphs().capturing(number) != nullptr;
    machine.graphs().event_recorded(&found, number);
    if (is_external && machine.graphs().capture(number, EventRecordWork{&found})) return;
    if (is_captured) return;
    found.at = machine.timeline.mark(number);
    found.is_recorded = true;
    machine.trace.add("event", number, {found.at.time, found.at.time});
    machine.timeline.host_works(machine.timeline.costs().enqueue);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return create_stream("cudaStreamCreate", stream, 0, 0); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create_stream("cudaStreamCreateWithFlags", stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create_stream("cudaStreamCreateWithPriority", stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return answer("cudaStreamDestroy",
                [&](Machine& machine) { machine.remove_stream(reinterpret_cast<Stream*>(stream)); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return answer("cudaStreamSynchronize", [&](Machine& machine) {
    const int number = machine.stream_number(stream);
    machine.graphs().wait_for_stream(number);
    machine.synchronize(number);
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return answer("cudaStreamQuery", [&](Machine& machine) {
    const int number = machine.stream_number(stream);
    machine.graphs().wait_for_stream(number);
    const Moment end = machine.timeline.end_of(number);
    if (end.time > machine.timeline.now()) throw Failure(kNotReady);
    machine.timeline.host_learns(end);
    machine.host_may_look();
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return answer("cudaStreamWaitEvent", [&](Machine& machine) {
    require(flags <= 1);
    const int number = machine.stream_number(stream);
    Event& found = machine.event(event);
    if (flags == cudaEventWaitExternal && machine.graphs().capture(number, EventWaitWork{&found})) return;
    if (machine.graphs().wait_for_event(&found, number)) return;
    if (found.is_recorded) machine.timeline.wait_for(number, found.at);
    machine.timeline.host_works(machine.timeline.costs().enqueue);
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return stream_field("cudaStreamGetFlags", stream, flags, 0U, &Stream::flags);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return stream_field("cudaStreamGetPriority", stream, priority, 0, &Stream::priority);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return answer("cudaStreamGetId", [&](Machine& machine) {
    static_cast<void>(machine.stream_number(stream));
    const Stream* const found = machine.find_stream(stream);
    give(id, found == nullptr ? 0ULL : static_cast<unsigned long long>(found->id));
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return answer("cudaStreamGetDevice",
                [&](Machine& machine) { give(device, machine.timeline.device_of(machine.stream_number(stream))); });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* address, std::size_t /*bytes*/, unsigned /*flags*/) {
  return answer("cudaStreamAttachMemAsync", [&](Machine& machine) {
    static_cast<void>(machine.stream_number(stream));
    const Memory* const memory = machine.memory_at(address);
    require(memory != nullptr && memory->kind == MemoryKind::managed);
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return answer("cudaEventCreateWithFlags", [&](Machine& machine) {
    require(event != nullptr && flags < 8);
    *event = reinterpret_cast<cudaEvent_t>(machine.add_event(flags));
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return answer("cudaEventCreate", [&](Machine& machine) {
    require(event != nullptr);
    *event = reinterpret_cast<cudaEvent_t>(machine.add_event(0));
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return answer("cudaEventDestroy", [&](Machine& machine) { machine.remove_event(reinterpret_cast<Event*>(event)); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return record("cudaEventRecord", event, stream, false);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags > cudaEventRecordExternal) return refuse("cudaEventRecordWithFlags", kInvalidValue);
  return record("cudaEventRecordWithFlags", event, stream, flags == cudaEventRecordExternal);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return answer("cudaEventSynchronize", [&](Machine& machine) {
    const Event& found = machine.event(event);
    machine.graphs().wait_for_recording(&found);
    if (found.is_recorded) machine.timeline.host_waits_until(found.at);
    machine.host_may_look();
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return answer("cudaEventQuery", [&](Machine& machine) {
    const Event& found = machine.event(event);
    machine.graphs().wait_for_recording(&found);
    if (found.is_recorded && found.at.time > machine.timeline.now()) throw Failure(kNotReady);
    if (found.is_recorded) machine.timeline.host_learns(found.at);
    machine.host_may_look();
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return answer("cudaEventElapsedTime", [&](Machine& machine) {
    require(milliseconds != nullptr);
    const Event& first = machine.event(begin);
    const Event& last = machine.event(end);
    const auto timed = [](const Event& one) { return one.is_recorded && (one.flags & cudaEventDisableTiming) == 0; };
    require(timed(first) && timed(last), kInvalidHandle);
    const Nanoseconds from = first.at.time;
    const Nanoseconds to = last.at.time;
    if (std::max(from, to) > machine.timeline.now()) throw Failure(kNotReady);
    *milliseconds = static_cast<float>((static_cast<double>(to) - static_cast<double>(from)) * 1e-6);
  });
}

cudaError_t cudaDeviceSynchronize() {
  return answer("cudaDeviceSynchronize", [](Machine& machine) {
    machine.graphs().wait_for_all();
    machine.synchronize_all();
  });
}

}  // extern "C"
