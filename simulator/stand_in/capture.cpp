// Streams that are being captured: work enqueued in them becomes nodes of a graph.
#include <algorithm>
#include <unordered_set>

#include "simulator/stand_in/graph.hpp"

namespace convladder::stand_in {
namespace {

constexpr int kModeGlobal = 0;
constexpr int kModeRelaxed = 2;
constexpr int kDefaultStream = 0;

/// Adds the nodes of `more` that `nodes` does not have yet.
void join(std::vector<GraphNode*>& nodes, const std::vector<GraphNode*>& more) {
  for (GraphNode* const node : more) {
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  }
}

/// Whether all of `nodes` are among `ends` or what these need.
bool are_before(const std::vector<GraphNode*>& nodes, const std::vector<GraphNode*>& ends) {
  std::vector<const GraphNode*> waiting(ends.begin(), ends.end());
  std::unordered_set<const GraphNode*> known(ends.begin(), ends.end());
  while (!waiting.empty()) {
    const GraphNode* const node = waiting.back();
    waiting.pop_back();
    for (const GraphNode* need : node->needs) {
      if (known.insert(need).second) waiting.push_back(need);
    }
  }
  return std::ranges::all_of(nodes, [&known](const GraphNode* node) { return known.contains(node); });
}

}  // namespace

void Graphs::begin_capture(int stream, const Stream* object, int mode, Graph* into, std::vector<GraphNode*> last) {
  // The default stream is never captured.
  if (object == nullptr) throw Failure(kStreamCaptureUnsupported);
  if (capturing_.contains(stream)) throw Failure(kIllegalState);
  auto capture = std::make_shared<Capture>();
  if (into == nullptr) {
    capture->own = std::make_unique<Graph>();
    into = capture->own.get();
  }
  capture->graph = into;
  capture->begun_in = object;
  capture->begun_by = std::this_thread::get_id();
  capture->mode = mode;
  capture->id = next_capture_++;
  capturing_[stream] = {std::move(capture), std::move(last)};
}

Graph* Graphs::end_capture(int stream, const Stream* object) {
  const auto found = capturing_.find(stream);
  if (found == capturing_.end()) throw Failure(kIllegalState);
  const std::shared_ptr<Capture> capture = found->second.capture;
  if (capture->begun_in != object) {
    invalidate(*capture);
    throw Failure(kStreamCaptureUnmatched);
  }
  if (capture->mode != kModeRelaxed && capture->begun_by != std::this_thread::get_id()) {
    invalidate(*capture);
    throw Failure(kStreamCaptureWrongThread);
  }
  const std::vector<GraphNode*> ends = found->second.last;
  const bool is_joined = std::ranges::all_of(capturing_, [&](const auto& other) {
    return other.second.capture != capture || are_before(other.second.last, ends);
  });
  std::erase_if(capturing_, [&](const auto& other) { return other.second.capture == capture; });
  std::erase_if(captured_events_, [&](const auto& other) { return other.second.capture == capture; });
  if (capture->is_invalid) throw Failure(kStreamCaptureInvalidated);
  if (!is_joined) throw Failure(kStreamCaptureUnjoined);
  return capture->own == nullptr ? capture->graph : add(std::move(capture->own));
}

CapturingStream* Graphs::capturing(int stream) {
  const auto found = capturing_.find(stream);
  return found == capturing_.end() ? nullptr : &found->second;
}

bool Graphs::capture(int stream, Work work) {
  if (stream == kDefaultStream) {
    refuse_default_stream();
    return false;
  }
  CapturingStream* const captured = capturing(stream);
  if (captured == nullptr) return false;
  if (captured->capture->is_invalid) throw Failure(kStreamCaptureInvalidated);
  captured->last = {&captured->capture->graph->add(std::move(work), captured->last)};
  return true;
}

void Graphs::forget_captures() {
  capturing_.clear();
  captured_events_.clear();
}

void Graphs::refuse_default_stream() {
  // Blocking streams and the default stream wait for each other, which a graph cannot express.
  for (auto& [number, other] : capturing_) {
    const bool blocks = (other.capture->begun_in->flags & 1U) == 0;
    if (!blocks) continue;
    invalidate(*other.capture);
    throw Failure(kStreamCaptureImplicit);
  }
}

void Graphs::wait_for_stream(int stream) {
  if (stream == kDefaultStream) refuse_default_stream();
  CapturingStream* const captured = capturing(stream);
  if (captured == nullptr) return;
  invalidate(*captured->capture);
  throw Failure(kStreamCaptureUnsupported);
}

void Graphs::wait_for_recording(const Event* event) {
  const auto found = captured_events_.find(event);
  if (found != captured_events_.end()) {
    invalidate(*found->second.capture);
    throw Failure(kCapturedEvent);
  }
  do_unsafe();
}

void Graphs::wait_for_all() {
  if (capturing_.empty()) return;
  for (auto& [number, captured] : capturing_) invalidate(*captured.capture);
  throw Failure(kStreamCaptureUnsupported);
}

void Graphs::do_unsafe() {
  if (capture_mode_of_thread == kModeRelaxed) return;
  bool is_refused = false;
  for (auto& [number, captured] : capturing_) {
    Capture& capture = *captured.capture;
    const bool is_own = capture.begun_by == std::this_thread::get_id();
    const bool forbids =
        is_own ? capture.mode != kModeRelaxed : capture.mode == kModeGlobal && capture_mode_of_thread == kModeGlobal;
    if (!forbids) continue;
    invalidate(capture);
    is_refused = true;
  }
  if (is_refused) throw Failure(kStreamCaptureUnsupported);
}

void Graphs::event_recorded(const Event* event, int stream) {
  if (const CapturingStream* const captured = capturing(stream); captured != nullptr) {
    captured_events_[event] = *captured;
  } else {
    captured_events_.erase(event);
  }
}

bool Graphs::wait_for_event(const Event* event, int stream) {
  const auto found = captured_events_.find(event);
  CapturingStream* const captured = capturing(stream);
  if (found == captured_events_.end()) {
    if (captured == nullptr) return false;
    // Every launch of the graph would have to wait for work outside of it.
    invalidate(*captured->capture);
    throw Failure(kStreamCaptureIsolation);
  }
  if (stream == kDefaultStream) throw Failure(kStreamCaptureImplicit);
  if (captured == nullptr) {
    capturing_[stream] = found->second;
  } else if (captured->capture != found->second.capture) {
    invalidate(*captured->capture);
    invalidate(*found->second.capture);
    throw Failure(kStreamCaptureMerge);
  } else {
    join(captured->last, found->second.last);
  }
  return true;
}

}  // namespace convladder::stand_in
