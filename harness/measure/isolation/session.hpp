// The part that all kinds of cases share in their process: a request comes in, a reply or an ending goes out.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "devices/device.hpp"
#include "devices/device_error.hpp"
#include "devices/nvtx_range.hpp"
#include "harness/measure/isolation/child_process.hpp"
#include "harness/measure/isolation/shared_memory.hpp"

namespace convladder {

/// A case on a device of its own. Each request is carried out inside an NVTX range of its name, and all of them inside
/// one of the case's. Where the device saw memory being misused afterwards, or something was thrown, the reply is an
/// ending.
class Session : public CaseClient {
 public:
  nlohmann::ordered_json ask(const nlohmann::ordered_json& request) final;

 protected:
  /// `name` is that of the case's NVTX range.
  Session(const std::string& name, std::unique_ptr<Device> device) : range_(name), device_(std::move(device)) {}

  /// The reply to the request `what`. Throws whatever its work throws; std::logic_error for an unknown request.
  virtual nlohmann::ordered_json carry_out(const std::string& what, const nlohmann::ordered_json& request) = 0;

  Device& device() const { return *device_; }

 private:
  NvtxRange range_;
  std::unique_ptr<Device> device_;  // outlives everything that a case has on it
};

/// Returns the client that `make` makes; where the device refuses, a client that answers everything with that refusal.
template <typename Make>
std::unique_ptr<CaseClient> session_or_failure(const Make& make) {
  try {
    return make();
  } catch (const DeviceError& error) {
    return failed_client(error.what());
  }
}

/// The other end of a case's process, for all kinds of cases: maps the workload, of type `Work`, and the window for
/// outputs, both of which outlive the case, and serves the client that `make(hello, workload, window)` returns; null
/// for an invalid hello. Returns the exit code.
template <typename Work, typename Make>
int serve_session(int socket_descriptor, int workload_descriptor, int window_descriptor, const Make& make) {
  std::optional<Work> workload;
  std::optional<SharedMemory> window;
  return serve_requests(socket_descriptor, [&](const nlohmann::ordered_json& hello) -> std::unique_ptr<CaseClient> {
    workload.emplace(hello.at("workload"), workload_descriptor);
    window.emplace(window_descriptor, hello.at("window_bytes").get<std::size_t>(), SharedMemory::Access::write);
    return session_or_failure([&] { return make(hello, *workload, *window); });
  });
}

}  // namespace convladder
