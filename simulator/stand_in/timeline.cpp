#include "simulator/stand_in/timeline.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace convladder::stand_in {

Nanoseconds real_now() {
  using std::chrono::steady_clock;
  static const steady_clock::time_point begin = steady_clock::now();
  return static_cast<Nanoseconds>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now() - begin).count());
}

void wait_until(Nanoseconds real) {
  constexpr Nanoseconds kSpun = 100'000;  // a sleeping thread wakes some 60 us late
  const Nanoseconds now = real_now();
  if (real > now + kSpun) std::this_thread::sleep_for(std::chrono::nanoseconds(real - now - kSpun));
  while (real_now() < real) {
  }
}

int Timeline::add_stream(bool waits_for_default, int device) {
  streams_[next_stream_] = {.waits_for_default = waits_for_default, .device = device};
  return next_stream_++;
}

int Timeline::default_stream(int device) {
  const auto [found, is_new] = default_streams_.try_emplace(device, next_stream_);
  if (is_new) streams_[next_stream_++] = {.is_default = true, .device = device};
  return found->second;
}

void Timeline::remove_stream(int stream) {
  const Moment end = end_of(stream);
  removed_end_.time = std::max(removed_end_.time, end.time);
  simulated::join(removed_end_.ended, end.ended);
  streams_.erase(stream);
}

void Timeline::remove_node_stream(int stream) {
  removed_end_.time = std::max(removed_end_.time, streams_.at(stream).end);
  streams_.erase(stream);
}

std::uint32_t Timeline::graph_ends(int stream, int first, Moment end) {
  end.ended.erase(end.ended.lower_bound(first), end.ended.end());
  wait_for(stream, end);
  StreamTime& own = streams_.at(stream);
  return own.behind[stream] = ++own.works;
}

void Timeline::host_waits_until(const Moment& end) {
  if (is_held_) return;
  host_learns(end);
  if (end.time > now_) now_ = end.time + costs_.wake;
}

/// CUDA C++ programming guide: the legacy default stream and the blocking streams wait for each other.
bool Timeline::waits_for(const StreamTime& stream, const StreamTime& other) const {
  if (&stream == &other || other.device != stream.device) return false;
  return stream.is_default ? other.waits_for_default : other.is_default && stream.waits_for_default;
}

Nanoseconds Timeline::earliest(int stream) const {
  const StreamTime& own = streams_.at(stream);
  Nanoseconds from = std::max(own.end, now_ + costs_.start);
  for (const auto& [number, other] : streams_) {
    if (waits_for(own, other)) from = std::max(from, other.end);
  }
  return from;
}

void Timeline::join_those_it_waits_for(int stream) {
  StreamTime& own = streams_.at(stream);
  simulated::join(own.behind, host_);
  for (const auto& [number, other] : streams_) {
    if (waits_for(own, other)) simulated::join(own.behind, other.behind);
  }
}

simulated::StreamWork Timeline::begin_work(int stream) {
  join_those_it_waits_for(stream);
  StreamTime& own = streams_.at(stream);
  simulated::StreamWork work{stream, ++own.works, "", own.behind};
  own.behind[stream] = work.number;
  return work;
}

Nanoseconds Timeline::when_there_is_room(int device, Nanoseconds from, double share) {
  std::vector<Running>& running = running_[device];
  std::erase_if(running, [from](const Running& kernel) { return kernel.end <= from; });
  double used = 0;
  for (const Running& kernel : running) used += kernel.share;
  std::ranges::sort(running, {}, &Running::end);
  constexpr double kRounding = 1e-9;
  for (auto first = running.begin(); first != running.end() && used + share > 1 + kRounding; ++first) {
    used -= first->share;
    from = std::max(from, first->end);
  }
  return from;
}

Timeline::Span Timeline::enqueue(int stream, Engine engine, Nanoseconds ns, double share) {
  return enqueue(
      stream, engine, [ns](Nanoseconds /*begin*/) { return ns; }, share);
}

Timeline::Span Timeline::enqueue(int stream, Engine engine, const NanosecondsFrom& ns_from, double share) {
  const int device = device_of(stream);
  Nanoseconds begin = earliest(stream);
  Nanoseconds ns = 0;
  if (engine == Engine::kernels) {
    begin = when_there_is_room(device, next_kernel_begins(stream), share);
    ns = ns_from(begin);
    running_[device].push_back({begin + ns, share});
  } else {
    Nanoseconds& engine_end = engine_end_[{device, engine}];
    begin = std::max(begin, engine_end);
    ns = ns_from(begin);
    engine_end = begin + ns;
  }
  busy_[static_cast<std::size_t>(engine)] += ns;
  streams_.at(stream).end = begin + ns;
  return {begin, begin + ns};
}

Moment Timeline::mark(int stream) {
  // An event on an idle stream is recorded when the device learns of it, not when the last work ended.
  join_those_it_waits_for(stream);
  streams_.at(stream).end = earliest(stream) + costs_.event;
  return end_of(stream);
}

void Timeline::wait_for(int stream, const Moment& end) {
  StreamTime& own = streams_.at(stream);
  own.end = std::max(own.end, end.time);
  simulated::join(own.behind, end.ended);
}

Moment Timeline::end_of(int stream) const {
  const StreamTime& own = streams_.at(stream);
  return {own.end, own.behind};
}

Moment Timeline::end_of_all() const {
  Moment end = removed_end_;
  for (const auto& [number, stream] : streams_) {
    end.time = std::max(end.time, stream.end);
    simulated::join(end.ended, stream.behind);
  }
  return end;
}

Nanoseconds Timeline::copy_ns(std::uint64_t bytes, bool pinned) const {
  const double gb_per_s = pinned ? costs_.copy_gb_per_s : costs_.pageable_gb_per_s;
  return costs_.copy + static_cast<Nanoseconds>(std::llround(static_cast<double>(bytes) / gb_per_s));
}

}  // namespace convladder::stand_in
