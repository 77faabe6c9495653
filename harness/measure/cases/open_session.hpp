// The harness's side of a case of any kind: it sends requests and always gets an answer or an ending.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "harness/measure/isolation/client.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "harness/measure/verification/expectation.hpp"

namespace convladder {

/// A case ended early; the message is the reason.
struct CaseFailure : std::runtime_error {
  CaseFailure(Status its_status, const std::string& reason) : std::runtime_error(reason), status(its_status) {}
  explicit CaseFailure(const Ending& ending)
      : std::runtime_error(ending.reason),
        status(ending.status),
        out_of_device_memory(ending.out_of_device_memory),
        is_memory_violation(ending.is_memory_violation),
        is_by_time(ending.was_kept_waiting) {}
  Status status;
  bool out_of_device_memory = false;  ///< others may have had it: alone the case may do better
  bool is_memory_violation = false;   ///< it wrote where it may not
  bool is_by_time = false;            ///< it took too long or too short, which a busy machine may have caused
};

/// A failure by the case's times.
inline CaseFailure failure_by_time(Status status, const std::string& reason) {
  CaseFailure failure(status, reason);
  failure.is_by_time = true;
  return failure;
}

/// Hands out so many elements of a tensor, into the window.
struct ReadElements {
  static constexpr std::string_view kName = "read";
  static constexpr bool kAtOnce = true;  // there is much of it
  using Reply = Done;
  std::string tensor;
  std::int64_t first = 0;
  std::int64_t count = 0;
  static void each_field(auto&& field, auto& its) {
    field("tensor", its.tensor, "first", its.first, "count", its.count);
  }
};

/// A case that has been started, and the memory in which it hands out its output.
template <typename Kind>
struct OpenSession {
  std::unique_ptr<SharedMemory> window;
  std::unique_ptr<Client<Kind>> client;  ///< destroyed before the window

  /// The case's answer. Throws CaseFailure where that is an ending.
  template <typename Request>
  typename Request::Reply ask(const Request& request) const {
    auto answer = client->ask_for(request);
    if (const Ending* const ending = std::get_if<Ending>(&answer)) throw CaseFailure(*ending);
    return std::get<typename Request::Reply>(std::move(answer));
  }
  /// Reads the case's tensors.
  ReadTensor tensors() const {
    return [this](std::string_view tensor, std::int64_t first, std::int64_t count) -> const void* {
      ask(ReadElements{std::string(tensor), first, count});
      return window->data();
    };
  }
  std::int64_t window_bytes() const { return static_cast<std::int64_t>(window->bytes()); }
  /// The size of the window in float32 elements.
  std::int64_t window_elements() const { return static_cast<std::int64_t>(window->bytes() / sizeof(float)); }
};

/// Memory for outputs: what the caches hold for both sides, and at least `bytes`.
inline std::unique_ptr<SharedMemory> output_window(std::size_t bytes) {
  constexpr std::size_t kInCaches = 4 << 20;
  return std::make_unique<SharedMemory>(std::max(kInCaches, bytes));
}

/// Starts a case in a process of its own, as serve_session (session.hpp) serves it. Its memory is the workload's and
/// the window's; the hello gets the window's size.
template <typename Kind>
OpenSession<Kind> start_session(ProcessStart start, int workload, std::unique_ptr<SharedMemory> window,
                                typename Kind::Hello hello) {
  hello.window_bytes = window->bytes();
  start.memory = {workload, window->descriptor()};
  auto client = std::make_unique<ProcessClient<Kind>>(start, hello);
  return {std::move(window), std::move(client)};
}

}  // namespace convladder
