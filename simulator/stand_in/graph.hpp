// Enqueued work as data: a stream that is being captured and a graph keep it and carry it out later, as often as they
// are asked to.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "simulator/stand_in/copying.hpp"
#include "simulator/stand_in/library_work.hpp"
#include "simulator/stand_in/machine.hpp"

namespace convladder::stand_in {

class Graph;
struct GraphNode;

struct EmptyWork {};
struct KernelWork {
  Function* function = nullptr;
  LaunchRequest request;
  std::vector<std::vector<std::byte>> arguments;
  std::vector<void*> pointers{};  ///< to the arguments, for callers that ask for them
  int device = 0;                 ///< that it runs on
};
struct CopyWork {
  Rectangle to;
  Rectangle from;
  Size3 size;
  CopyKind kind = CopyKind::by_address;
};
struct FillWork {
  Rectangle to;
  std::array<std::byte, 4> value{};
  std::size_t unit = 1;
  Size3 size;  ///< the width is in bytes
};
struct HostWork {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};
struct EventRecordWork {
  Event* event = nullptr;
};
struct EventWaitWork {
  Event* event = nullptr;
};
/// The memory of a graph has its address from the time when the node is made.
struct AllocationWork {
  void* address = nullptr;
  std::uint64_t bytes = 0;
};
struct FreeWork {
  void* address = nullptr;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;  ///< the node's own graph
};
/// A call of a library, which is a kernel to the program.
struct LibraryCallWork {
  std::shared_ptr<const EnqueuedLibraryWork> call;
};
using Work = std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, EventRecordWork, EventWaitWork,
                          AllocationWork, FreeWork, ChildWork, LibraryCallWork>;

struct GraphNode {
  Graph* graph = nullptr;
  Work work;
  std::vector<GraphNode*> needs;      ///< the nodes that must have ended before, in the order given
  const GraphNode* origin = nullptr;  ///< for a copy: the node that it was copied from
  bool is_enabled = true;
};

/// Nodes that need each other; there must be no circle when it is carried out.
class Graph {
 public:
  /// Throws Failure(kInvalidValue) if `needs` are not of this graph, or one of them is there twice.
  GraphNode& add(Work work, std::vector<GraphNode*> needs);
  void remove(GraphNode& node);
  /// Throws Failure(kInvalidValue) under the same conditions as `add`.
  static void link(GraphNode& from, GraphNode& to);
  static void unlink(GraphNode& from, GraphNode& to);
  const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }
  /// The copy of a node, by `origin`; nullptr if there is none. Graphs of child nodes are searched as well.
  GraphNode* copy_of(const GraphNode& node) const;
  std::unique_ptr<Graph> copy() const;
  /// The nodes in an order in which each comes after those that it needs. Throws Failure(kInvalidValue) for a circle.
  std::vector<GraphNode*> in_order() const;

 private:
  std::vector<std::unique_ptr<GraphNode>> nodes_;
};

/// A graph that is ready to be carried out: a copy, which later changes of the graph do not affect.
struct ReadyGraph {
  std::unique_ptr<Graph> graph;
  unsigned long long flags = 0;
};

/// Why a ready graph cannot become like another one.
enum class UpdateResult { done, other_topology, other_node_type };

/// The capture of a stream and of those that joined it.
struct Capture {
  Graph* graph = nullptr;
  std::unique_ptr<Graph> own;  ///< until the capture ends; none if it adds nodes to a graph of the program
  const Stream* begun_in = nullptr;
  std::thread::id begun_by;
  int mode = 0;  ///< numbers as in cudaStreamCaptureMode
  std::uint64_t id = 0;
  bool is_invalid = false;
};

/// A stream's part in a capture: the nodes that its next work needs.
struct CapturingStream {
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> last;
};

/// The calls that captures of other threads forbid in this thread, numbered as in cudaStreamCaptureMode.
inline thread_local int capture_mode_of_thread = 0;

/// The graphs of a process and the current captures.
class Graphs {
 public:
  Graph* add(std::unique_ptr<Graph> graph);
  /// These throw Failure(kInvalidValue) for a wrong handle.
  Graph& graph(const void* handle) const;
  GraphNode& node(const void* handle) const;
  void remove(Graph* graph);
  ReadyGraph* make_ready(const Graph& graph, unsigned long long flags);
  ReadyGraph& ready(const void* handle) const;
  void remove(ReadyGraph* ready);

  // Captures, by the timeline's stream numbers.
  void begin_capture(int stream, const Stream* object, int mode, Graph* into, std::vector<GraphNode*> last);
  /// Ends a capture and returns the graph, which is now the program's. Throws Failure as cudaStreamEndCapture answers.
  Graph* end_capture(int stream, const Stream* object);
  /// The stream's part in a capture; nullptr if it is not captured.
  CapturingStream* capturing(int stream);
  /// Captures work instead of doing it if the stream is captured; whether it did. Throws Failure if it may not be
  /// captured.
  bool capture(int stream, Work work);
  /// Refuse calls that would wait for captured work: throw Failure, and the captures are lost. `wait_for_stream` is for
  /// those that wait for a stream or ask it, `wait_for_recording` for an event, and `wait_for_all` for the device.
  void wait_for_stream(int stream);
  void wait_for_recording(const Event* event);
  void wait_for_all();
  /// Refuses, in the same way, a call that captures forbid unless they or the thread say otherwise (see
  /// cudaThreadExchangeStreamCaptureMode): it may wait for work, or order it, in a way that a graph would not have.
  void do_unsafe();
  void event_recorded(const Event* event, int stream);
  /// Whether the event was recorded in a capture: the stream is then a part of it.
  bool wait_for_event(const Event* event, int stream);
  /// Notes memory of a graph's node, which stays as long as the process.
  void add_memory(const void* address) { memory_.insert(address); }
  bool is_memory(const void* address) const { return memory_.contains(address); }

  void stream_ends(int stream) { capturing_.erase(stream); }
  void event_ends(const Event* event) { captured_events_.erase(event); }
  /// Ends the captures, together with the device's streams.
  void forget_captures();

 private:
  void invalidate(Capture& capture) { capture.is_invalid = true; }
  void refuse_default_stream();

  std::map<const void*, std::unique_ptr<Graph>> graphs_;
  std::map<const void*, std::unique_ptr<ReadyGraph>> ready_;
  std::map<int, CapturingStream> capturing_;
  std::map<const Event*, CapturingStream> captured_events_;
  std::set<const void*> memory_;
  std::uint64_t next_capture_ = 1;
};

/// Carries out work in a stream, now. Throws Failure.
void carry_out(Machine& machine, const Work& work, int stream);

/// Carries out the whole graph: nodes that need not wait for each other are concurrent on the timeline. It costs the
/// host one launch.
void carry_out(Machine& machine, const Graph& graph, int stream);

/// Makes the ready graph what instantiating `graph` would give, if only parameters differ.
UpdateResult update(ReadyGraph& ready, const Graph& graph, const GraphNode** where);

}  // namespace convladder::stand_in
