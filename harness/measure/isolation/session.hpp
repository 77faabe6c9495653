// The part that all kinds of cases share in their process: a request comes in, an answer or an ending goes out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "devices/device.hpp"
#include "devices/device_error.hpp"
#include "devices/nvtx_range.hpp"
#include "harness/measure/isolation/client.hpp"
#include "harness/measure/isolation/shared_memory.hpp"

namespace convladder {

/// A case on a device of its own. Each request is carried out inside an NVTX range of its name, and all of them inside
/// one of the case's. Where the device saw memory being misused afterwards, or something was thrown, the answer is an
/// ending.
template <typename Kind>
class Session : public Client<Kind> {
 public:
  using Request = typename Kind::Request;
  using Answer = typename Kind::Answer;

  Answer ask(const Request& request) final {
    const NvtxRange phase{std::string(request_name(request))};
    try {
      Answer answer = carry_out(request);
      if (std::string violation = device_->memory_violation(); !violation.empty()) {
        return Ending{.status = Status::incorrect, .reason = std::move(violation), .is_memory_violation = true};
      }
      return answer;
    } catch (const std::exception& error) {
      return ending_of(error);
    }
  }

 protected:
  /// `name` is that of the case's NVTX range.
  Session(const std::string& name, std::unique_ptr<Device> device) : range_(name), device_(std::move(device)) {}

  /// Throws whatever its work throws.
  virtual Answer carry_out(const Request& request) = 0;

  Device& device() const { return *device_; }

 private:
  NvtxRange range_;
  std::unique_ptr<Device> device_;  // outlives everything that a case has on it
};

/// Returns the client that `make` makes; where the device refuses, a client that answers everything with that refusal.
template <typename Kind, typename Make>
std::unique_ptr<Client<Kind>> session_or_failure(const Make& make) {
  try {
    return make();
  } catch (const DeviceError& error) {
    return std::make_unique<EndedClient<Kind>>(Ending{Status::launch_failed, error.what()});
  }
}

/// The other end of a case's process, for all kinds of cases: maps the workload, of type `Work`, and the window for
/// outputs, both of which outlive the case, and serves the client that `make(hello, workload, window)` returns; null
/// for an invalid hello. Returns the exit code.
template <typename Kind, typename Work, typename Make>
int serve_session(int socket, int workload_descriptor, int window_descriptor, const Make& make) {
  std::optional<Work> workload;
  std::optional<SharedMemory> window;
  return serve_requests<Kind>(socket, [&](const typename Kind::Hello& hello) {
    workload.emplace(hello.workload, workload_descriptor);
    window.emplace(window_descriptor, hello.window_bytes, SharedMemory::Access::write);
    return session_or_failure<Kind>([&] { return make(hello, *workload, *window); });
  });
}

}  // namespace convladder
