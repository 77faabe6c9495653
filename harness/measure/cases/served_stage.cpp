// The other side of a StageDevice: a process that holds a stage's tensors, loads its library, and calls it when asked
// to. Once the library is loaded, nothing that this process says is believed, except the results.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/cpu/cpu_device.hpp"
#include "devices/device_error.hpp"
#include "harness/measure/isolation/case_confinement.hpp"
#include "harness/measure/isolation/handshake.hpp"
#include "harness/measure/isolation/helper_messages.hpp"
#include "harness/measure/isolation/served_process.hpp"
#include "harness/measure/isolation/served_requests.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "ladders/launch_plan.hpp"
#include "ladders/stage_build.hpp"
#include "support/errors.hpp"

namespace convladder {

namespace {

/// The stage's own side.
class ServedStage {
 public:
  explicit ServedStage(int memory) : memory_(memory, kHandshakeBytes, SharedMemory::Access::write) {}

  StageMessages::Answer answer(const to_stage::Allocate& wanted) {
    try {
      buffers_.push_back(device_.allocate(wanted.bytes, wanted.label));
    } catch (const DeviceError& error) {
      return Ending{Status::launch_failed, error.what()};
    }
    return to_stage::Allocated{reinterpret_cast<std::uintptr_t>(buffers_.back().address())};
  }

  StageMessages::Answer answer(const to_stage::Load& wanted) {
    load_ = wanted;
    for (to_stage::Argument& one : load_.arguments) {
      if (!one.tensor) {
        arguments_.push_back(one.number.data());
        continue;
      }
      auto* const address =
          reinterpret_cast<std::byte*>(*one.tensor);  // NOLINT(performance-no-int-to-ptr): its own, sent back
      arguments_.push_back(address);
    }
    return Done();
  }

  /// Loads the library and calls the stage as often as asked to. `apart`: the waiting process has processors of its
  /// own.
  [[noreturn]] void serve(bool apart) {
    Handshake& page = *std::launder(reinterpret_cast<Handshake*>(memory_.data()));
    void* const handle = dlopen(load_.library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    auto* const call = handle == nullptr ? nullptr : dlsym(handle, load_.function.c_str());
    auto* const failure =
        handle == nullptr ? nullptr : reinterpret_cast<const char* (*)()>(dlsym(handle, kLaunchFailure));
    if (call == nullptr) {
      const char* const error = dlerror();
      set_handshake_text(memory_.data(), error == nullptr ? load_.library : error);
    }
    page.loaded.set(1);
    const auto always = [] { return true; };
    for (std::uint32_t number = 1;; ++number) {
      page.wanted.wait(number, apart ? kForOther : HandshakeNumber::Patience{}, always);
      page.ready.set(number);
      // Asleep: its processor is needed for writing the input (CallStarter).
      page.begun.wait(number, HandshakeNumber::Patience{}, always);
      reinterpret_cast<void (*)(void* const*)>(call)(arguments_.data());
      if (failure != nullptr && failure() != nullptr) {  // its last line is the reason that is shown
        fmt::print(stderr, "{}\n", failure());
        std::fflush(stderr);
        _exit(kExitError);
      }
      page.done.set(number);
    }
  }

 private:
  SharedMemory memory_;
  CpuDevice device_;
  std::vector<DeviceBuffer> buffers_;
  to_stage::Load load_;
  std::vector<void*> arguments_;
};

int serve_stage(int socket, int memory, int /*window*/) {
  std::optional<ServedStage> stage;
  bool apart = false;
  {
    ServedRequests requests(socket);
    const std::optional<std::string> first = requests.next();
    if (!first) return kExitError;
    const to_stage::Hello hello = MessageTexts<StageMessages>::read_hello(*first);
    ConfinementWish wish = case_confinement({.readable = files_to_load(hello.library)});
    apart = hello.apart;
    wish.is_shut_to_others = false;  // the process that has started it writes its inputs and reads its results
    confine_case_as(wish);
    stage.emplace(memory);
    for (bool is_loading = false; !is_loading;) {
      const std::optional<std::string> text = requests.next();
      if (!text) return kExitError;
      const StageMessages::Request request = MessageTexts<StageMessages>::read_request(*text);
      requests.answer(MessageTexts<StageMessages>::of_answer(
          std::visit([&](const auto& wanted) { return stage->answer(wanted); }, request)));
      is_loading = std::holds_alternative<to_stage::Load>(request);
    }
  }
  stage->serve(apart);
}

const ServedRegistration serve_stage_registration("serve-stage", serve_stage);

}  // namespace
}  // namespace convladder
