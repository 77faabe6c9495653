#include "harness/measure/verification/output_probe.hpp"

#include <algorithm>
#include <array>

#include "support/element_type.hpp"

namespace convladder {

namespace {

constexpr std::size_t kMostOnHost = 256;  // calls of a sample: many times as many as are expected

}  // namespace

OutputProbe::OutputProbe(Device& device, ElementType type, std::int64_t items, std::int64_t elements, void* output)
    : device_(&device), type_(type), elements_{.items = items, .of_item = elements}, output_(output) {
  if (device.filling() != nullptr) {
    kept_ = device.allocate(bytes_of_call() * ProbedElements::kCalls, "looking at outputs");
  }
}

void OutputProbe::set(std::uint64_t seed, std::int64_t every, const OutputFill& fill) {
  elements_.seed = seed;
  elements_.every = every;
  fill_ = fill.formula(0);
  on_host_.clear();
}

std::byte* OutputProbe::place(std::int64_t call) const {
  return static_cast<std::byte*>(kept_.address()) +
         static_cast<std::size_t>(call % ProbedElements::kCalls) * bytes_of_call();
}

void OutputProbe::before_call(std::int64_t call) {
  if (kept_.address() == nullptr || !elements_.has(call)) return;
  device_->filling()->fill_chosen(output_, type_, elements_.of_call(call), fill_);
}

void OutputProbe::behind_call(std::int64_t call) {
  if (!elements_.has(call)) return;
  const ChosenElements chosen = elements_.of_call(call);
  if (kept_.address() != nullptr) return device_->filling()->copy_chosen(place(call), output_, type_, chosen);
  if (on_host_.size() >= kMostOnHost) return;
  std::array<std::int64_t, ProbedElements::kElements> places{};
  for (std::int32_t i = 0; i < chosen.count; ++i) places[static_cast<std::size_t>(i)] = chosen.element(i);
  std::vector<std::byte>& kept = on_host_[call];
  kept.resize(bytes_of_call());
  device_->copy_elements_to_host(kept.data(), output_, element_bytes(type_), places);
}

bool OutputProbe::has(std::int64_t call) const {
  return kept_.address() != nullptr ? elements_.has(call) : on_host_.contains(call);
}

void OutputProbe::read(std::int64_t call, void* to) {
  if (kept_.address() == nullptr) {
    std::ranges::copy(on_host_.at(call), static_cast<std::byte*>(to));
    return;
  }
  device_->wait();
  device_->copy_to_host(to, place(call), bytes_of_call());
}

}  // namespace convladder
