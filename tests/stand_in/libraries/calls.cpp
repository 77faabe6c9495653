#include "calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "simulator/stand_in/gpu_state.hpp"

namespace library_of_tests {
namespace {

struct Calls {
  Calls() {
    if (const char* const text = std::getenv("CONVLADDER_TEST_LIBRARIES")) settings = nlohmann::json::parse(text);
    if (const std::string file = settings.value("log", ""); !file.empty()) {
      descriptor = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
      if (descriptor < 0) std::abort();  // a test that reads no log would find nothing wrong
    }
  }

  std::mutex mutex;
  nlohmann::json settings = nlohmann::json::object();
  int descriptor = -1;
  std::map<std::string, int> numbers;          // of calls, by name
  std::map<const void*, std::size_t> objects;  // that were seen
};

Calls& calls() {
  static auto* const instance = new Calls;  // never destroyed: libraries are called until the very end
  return *instance;
}

}  // namespace

void host_takes(const char* call) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  static const auto ask =
      reinterpret_cast<convladder::stand_in::AskGpuState>(dlsym(RTLD_DEFAULT, convladder::stand_in::kGpuState));
  const std::string_view name = call;
  const bool is_nvml = name.starts_with("nvml");
  if (ask == nullptr || !(is_nvml || name.starts_with("cudnn") || name.starts_with("cublas"))) return;
  convladder::stand_in::GpuState state;
  if (ask(&state) == 0) return;
  if (is_nvml) {
    std::this_thread::sleep_until(
        begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(state.query_ms)));
  } else {
    while (Clock::now() < begin + std::chrono::nanoseconds(state.library_ns)) {
    }
  }
}

int fault_of(const char* call) {
  Calls& all = calls();
  const std::scoped_lock lock(all.mutex);
  const int number = ++all.numbers[call];
  for (const nlohmann::json& fault : all.settings.value("faults", nlohmann::json::array())) {
    const int from = fault.value("from", 1);
    const int count = fault.value("count", 0);
    if (fault.at("call") == call && number >= from && (count == 0 || number < from + count)) return fault.at("status");
  }
  return 0;
}

void log(const char* call, int status, const void* object) {
  Calls& all = calls();
  const std::scoped_lock lock(all.mutex);
  if (all.descriptor < 0) return;
  nlohmann::ordered_json line = {{"process", getpid()}, {"call", call}, {"status", status}};
  if (object != nullptr) line["object"] = all.objects.try_emplace(object, all.objects.size() + 1).first->second;
  const std::string text = line.dump() + '\n';
  if (write(all.descriptor, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

std::size_t dropped_records() { return calls().settings.value("dropped", 0U); }

}  // namespace library_of_tests
