#include "harness/measure/verification/output_probe.hpp"

namespace convladder {

OutputProbe::OutputProbe(Device& device, ElementType type, std::int64_t items, std::int64_t elements, void* output)
    : device_(&device),
      type_(type),
      elements_{.items = items, .of_item = elements},
      output_(output),
      kept_(device.allocate(bytes_of_call() * ProbedElements::kCalls, "looking at outputs")) {}

void OutputProbe::set(std::uint64_t seed, const OutputFill& fill) {
  elements_.seed = seed;
  fill_ = fill.formula(0);
}

std::byte* OutputProbe::place(std::int64_t call) const {
  return static_cast<std::byte*>(kept_.address()) +
         static_cast<std::size_t>(call % ProbedElements::kCalls) * bytes_of_call();
}

void OutputProbe::before_call(std::int64_t call) {
  device_->filling()->fill_chosen(output_, type_, elements_.of_call(call), fill_);
}

void OutputProbe::behind_call(std::int64_t call) {
  device_->filling()->copy_chosen(place(call), output_, type_, elements_.of_call(call));
}

void OutputProbe::read(std::int64_t call, void* to) {
  device_->wait();
  device_->copy_to_host(to, place(call), bytes_of_call());
}

}  // namespace convladder
