#include "devices/cpu/all_cores.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "devices/cpu/cpu_facts.hpp"

namespace convladder {

void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto take_pieces = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!thrown) thrown = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::jthread> others;
  try {
    for (int thread = 1; thread < usable_cores(); ++thread) others.emplace_back(take_pieces);
  } catch (const std::system_error&) {
    // No more threads may be started: those that exist do all of the work.
  }
  take_pieces();
  others.clear();  // joins
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace convladder
