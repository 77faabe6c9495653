// The other side of a StageDevice: a process that holds a stage's tensors, loads its library, and calls it when asked
// to. Once the library is loaded, nothing that this process says is believed, except the results.
#include <dlfcn.h>
#include <sys/prctl.h>

#include <array>
#include <csignal>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/cpu/cpu_device.hpp"
#include "devices/device_error.hpp"
#include "harness/measure/isolation/case_confinement.hpp"
#include "harness/measure/isolation/child_process.hpp"
#include "harness/measure/isolation/handshake.hpp"
#include "harness/measure/isolation/message_socket.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "support/errors.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

// A process that is about to begin a call keeps its processor.
constexpr HandshakeNumber::Patience kForBegin{.spin_ns = 5e6, .alone_ns = 5e6};
constexpr std::size_t kMostTouched = 32 << 20;  // bytes: the size of caches
constexpr std::size_t kLine = 64;

/// The stage's own side.
class ServedStage {
 public:
  explicit ServedStage(int memory) : memory_(memory, kHandshakeBytes, SharedMemory::Access::write) {}

  ordered_json allocate(const ordered_json& request) {
    try {
      buffers_.push_back(
          device_.allocate(request.at("bytes").get<std::size_t>(), request.at("label").get<std::string>()));
    } catch (const DeviceError& error) {
      return ending(Status::launch_failed, error.what());
    }
    return {{"address", reinterpret_cast<std::uintptr_t>(buffers_.back().address())}};
  }

  void take_arguments(const ordered_json& request) {
    library_ = request.at("library").get<std::string>();
    function_ = request.at("function").get<std::string>();
    for (const ordered_json& one : request.at("arguments")) {
      if (one.contains("tensor")) {
        const auto number = one.at("tensor").get<std::uintptr_t>();
        auto* const address =
            reinterpret_cast<std::byte*>(number);  // NOLINT(performance-no-int-to-ptr): its own, sent back
        arguments_.push_back(address);
        tensors_.emplace_back(address, one.at("bytes").get<std::size_t>());
      } else {
        std::array<std::byte, 16>& number = numbers_.emplace_back();
        std::size_t at = 0;
        for (const ordered_json& byte : one.at("number"))
          number.at(at++) = static_cast<std::byte>(byte.get<unsigned>());
        arguments_.push_back(nullptr);
      }
    }
    auto number = numbers_.begin();
    for (void*& argument : arguments_) {
      if (argument == nullptr) argument = (number++)->data();
    }
  }

  /// Loads the library and calls the stage as often as asked to. `apart`: the waiting process has processors of its
  /// own.
  [[noreturn]] void serve(bool apart) {
    Handshake& page = *std::launder(reinterpret_cast<Handshake*>(memory_.data()));
    void* const handle = dlopen(library_.c_str(), RTLD_LAZY | RTLD_LOCAL);
    auto* const call = handle == nullptr ? nullptr : dlsym(handle, function_.c_str());
    if (call == nullptr) {
      const char* const error = dlerror();
      set_handshake_text(memory_.data(), error == nullptr ? library_ : error);
    }
    page.loaded.set(1);
    const auto always = [] { return true; };
    for (std::uint32_t number = 1;; ++number) {
      page.wanted.wait(number, apart ? kForOther : HandshakeNumber::Patience{}, always);
      touch();
      page.ready.set(number);
      page.begun.wait(number, apart ? kForBegin : HandshakeNumber::Patience{}, always);
      reinterpret_cast<void (*)(void* const*)>(call)(arguments_.data());
      page.done.set(number);
    }
  }

 private:
  /// Reads the tensors into this processor's caches. Data written by another process is in another processor's caches,
  /// but a call that follows another call finds its data in its own.
  void touch() const {
    std::size_t sum = 0;
    for (const auto& [address, bytes] : tensors_) sum += bytes;
    if (sum > kMostTouched) return;
    for (const auto& [address, bytes] : tensors_) {
      for (std::size_t at = 0; at < bytes; at += kLine) {
        static_cast<void>(*static_cast<const volatile std::byte*>(address + at));
      }
    }
  }

  SharedMemory memory_;
  CpuDevice device_;
  std::vector<DeviceBuffer> buffers_;
  std::string library_;
  std::string function_;
  std::vector<void*> arguments_;
  std::vector<std::array<std::byte, 16>> numbers_;
  std::vector<std::pair<const std::byte*, std::size_t>> tensors_;
};

int serve_stage(int socket_descriptor, int memory, int /*window*/) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::optional<ServedStage> stage;
  bool apart = false;
  {
    MessageSocket socket(socket_descriptor);
    ordered_json hello;
    if (socket.receive(hello, std::nullopt) != MessageSocket::Received::message) return kExitError;
    ConfinementWish wish = case_confinement({.readable = {hello.at("library").get<std::string>()}});
    apart = hello.at("apart").get<bool>();
    wish.is_shut_to_others = false;  // the process that has started it writes its inputs and reads its results
    confine_case_as(wish);
    stage.emplace(memory);
    for (ordered_json request;;) {
      if (socket.receive(request, std::nullopt) != MessageSocket::Received::message) return kExitError;
      if (request.at("do") == "allocate") {
        socket.send(answer_to(request, stage->allocate(request)));
        continue;
      }
      stage->take_arguments(request);
      socket.send(answer_to(request, ordered_json::object()));
      break;
    }
  }
  stage->serve(apart);
}

const ServedRegistration serve_stage_registration("serve-stage", serve_stage);

}  // namespace
}  // namespace convladder
