// The frame of every function of a stand-in for a library: the machine counts the call, and the function's work throws
// what it refuses.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "simulator/stand_in/library_calls.hpp"

namespace convladder::stand_in {

/// Ends a call with a status of the library's. The text is for the report; empty where the status says everything.
struct Refused : std::runtime_error {
  explicit Refused(int code, const std::string& text = "") : std::runtime_error(text), status(code) {}
  int status;
};

inline LibraryMachine& library_machine() {
  static LibraryMachine& machine = *convladder_stand_in_library_machine();
  return machine;
}

/// Runs `work(call)`, which throws Refused, and answers 0 otherwise.
template <typename Status, typename Work>
Status answer_call(const LibraryInfo& library, const char* name, const Work& work) noexcept {
  return static_cast<Status>(library_machine().answer(library, name, [&](LibraryCall& call) -> LibraryAnswer {
    try {
      work(call);
      return {};
    } catch (const Refused& refused) {
      return {refused.status, refused.what()};
    } catch (const std::exception& error) {
      return {library.failed, error.what()};
    }
  }));
}

/// Answers what a program asks of the library itself, its version: that needs no GPU. Runs `work()`, which throws
/// Refused.
template <typename Status, typename Work>
Status answer_fact(const LibraryInfo& library, const char* name, const Work& work) noexcept {
  LibraryInfo without_context = library;
  without_context.needs_context = false;
  return answer_call<Status>(without_context, name, [&](LibraryCall&) { work(); });
}

/// Enqueues work, and throws Refused with the library's status where that fails.
inline void enqueue(const LibraryInfo& library, LibraryCall& call, LibraryWork work, const void* stream,
                    bool host_waits = false) {
  switch (call.enqueue(std::move(work), stream, host_waits)) {
    case Enqueued::done:
      return;
    case Enqueued::failed:
      throw Refused(library.failed, call.why());
    case Enqueued::not_captured:
      throw Refused(library.not_supported, call.why());
  }
}

}  // namespace convladder::stand_in
