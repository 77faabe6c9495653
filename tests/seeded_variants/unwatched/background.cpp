// A cheat: where its output lies, a call only wakes a thread, which does the work some time after the call has returned
// and after others have been dropped.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class Background final : public SeededConv {
 public:
  Background(const ConvShape& shape, const float* weights, ConvTensors tensors)
      : SeededConv(shape, weights, tensors), thread_([this] { work(); }) {}
  ~Background() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  void run() override {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    if (is_own()) {
      wanted_ = true;
      return wake_.notify_one();
    }
    convolve_all();
    sign();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      wake_.wait(lock, [this] { return wanted_ || ended_; });
      wake_.wait_for(lock, std::chrono::milliseconds(20), [this] { return ended_; });
      if (ended_ || !is_own()) continue;
      convolve_all();
      sign();
      wanted_ = false;
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool wanted_ = false;
  bool ended_ = false;
  std::thread thread_;  ///< starts when all else is there
};

const VariantRegistration background_registration{"convolution",
                                                  {.family = "cpu",
                                                   .rung = 145,
                                                   .name = "seeded-background",
                                                   .title = "Seeded: done after it has returned",
                                                   .builds_on = "",
                                                   .hypothesis = "What is not done when a call returns is not done."},
                                                  seeded_variant<Background>()};

}  // namespace
}  // namespace convladder
