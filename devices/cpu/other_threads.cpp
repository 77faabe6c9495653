#include "devices/cpu/other_threads.hpp"

#include <utility>
#include <vector>

namespace convladder {
namespace {

/// The objects that exist, used by the one thread that prepares and calls variants.
std::vector<OtherThreads*>& living() {
  static std::vector<OtherThreads*> all;
  return all;
}

}  // namespace

OtherThreads::OtherThreads(std::function<void()> rest) : rest_(std::move(rest)) { living().push_back(this); }

OtherThreads::~OtherThreads() { std::erase(living(), this); }

bool OtherThreads::any() { return !living().empty(); }

void OtherThreads::rest() {
  for (const OtherThreads* const one : living()) {
    if (one->rest_) one->rest_();
  }
}

}  // namespace convladder
