// Carries out graphs.
#include <algorithm>
#include <unordered_map>

#include "simulator/stand_in/graph.hpp"

namespace convladder::stand_in {
namespace {

/// Stops the host's time as long as it exists.
class HeldHost {
 public:
  explicit HeldHost(Timeline& timeline) : timeline_(timeline) { timeline_.hold(true); }
  ~HeldHost() { timeline_.hold(false); }
  HeldHost(const HeldHost&) = delete;
  HeldHost& operator=(const HeldHost&) = delete;

 private:
  Timeline& timeline_;
};

/// Whether every node needs only the one before it, as in a capture of one stream. With the real clock a graph of a
/// thousand such kernels has to be enqueued sooner than a GPU has run them.
bool is_chain(const Graph& graph) {
  const GraphNode* before = nullptr;
  for (const auto& node : graph.nodes()) {
    const bool follows = before == nullptr ? node->needs.empty() : node->needs.size() == 1 && node->needs[0] == before;
    if (!follows || std::holds_alternative<ChildWork>(node->work)) return false;
    before = node.get();
  }
  return true;
}

Moment carry_out_chain(Machine& machine, const Graph& graph, const Moment& begin) {
  const int own = machine.timeline.add_stream(false);
  machine.timeline.wait_for(own, begin);
  for (const auto& node : graph.nodes()) {
    if (node->is_enabled) carry_out(machine, node->work, own);
  }
  const Moment end = machine.timeline.end_of(own);
  machine.timeline.remove_node_stream(own);
  return end;
}

/// The moment when both have come.
Moment later(Moment one, const Moment& other) {
  one.time = std::max(one.time, other.time);
  simulated::join(one.ended, other.ended);
  return one;
}

/// The moment when the last of the graph's nodes ends. Nodes that need nothing begin at `begin`.
Moment carry_out_nodes(Machine& machine, const Graph& graph, const Moment& begin) {
  if (is_chain(graph)) return carry_out_chain(machine, graph, begin);
  Timeline& timeline = machine.timeline;
  std::unordered_map<const GraphNode*, Moment> ends;
  Moment last = begin;
  for (const GraphNode* const node : graph.in_order()) {
    Moment from = begin;
    for (const GraphNode* const need : node->needs) from = later(from, ends.at(need));
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      ends[node] = node->is_enabled ? carry_out_nodes(machine, *child->graph, from) : from;
    } else {
      // Each node has a stream on the timeline: the device runs concurrently what it can.
      const int own = timeline.add_stream(false);
      timeline.wait_for(own, from);
      if (node->is_enabled) carry_out(machine, node->work, own);
      ends[node] = timeline.end_of(own);
      timeline.remove_node_stream(own);
    }
    last = later(last, ends[node]);
  }
  return last;
}

struct CarryOut {
  Machine& machine;
  int stream;

  void operator()(const EmptyWork& /*work*/) const {}
  void operator()(const KernelWork& work) const {
    machine.run(work, stream);
    if (machine.lost() != kSuccess) throw Failure(machine.lost());
  }
  void operator()(const CopyWork& work) const {
    copy_rectangle(machine, work.to, work.from, work.size, work.kind, stream, false);
  }
  void operator()(const FillWork& work) const {
    fill_rectangle(machine, work.to, work.value.data(), work.unit, work.size, stream, false);
  }
  void operator()(const HostWork& work) const {
    machine.settle();
    machine.host_sees(stream);
    machine.beside.host_works([&work] { work.function(work.data); });
  }
  void operator()(const EventRecordWork& work) const {
    work.event->at = machine.timeline.mark(stream);
    work.event->is_recorded = true;
  }
  void operator()(const EventWaitWork& work) const {
    if (work.event->is_recorded) machine.timeline.wait_for(stream, work.event->at);
  }
  void operator()(const AllocationWork& /*work*/) const {}
  void operator()(const FreeWork& /*work*/) const {}
  void operator()(const LibraryCallWork& work) const {
    carry_out(machine, *work.call, stream);
    if (machine.lost() != kSuccess) throw Failure(machine.lost());
  }
  void operator()(const ChildWork& work) const { carry_out(machine, *work.graph, stream); }
};

}  // namespace

void carry_out(Machine& machine, const Work& work, int stream) { std::visit(CarryOut{machine, stream}, work); }

void carry_out(Machine& machine, const Graph& graph, int stream) {
  Timeline& timeline = machine.timeline;
  const FixedCosts& costs = timeline.costs();
  timeline.host_works(costs.graph_launch + costs.graph_node * graph.nodes().size());
  const HeldHost held(timeline);
  const Moment begin = timeline.mark(stream);
  const int first = timeline.next_stream();
  const std::uint32_t number = timeline.graph_ends(stream, first, carry_out_nodes(machine, graph, begin));
  machine.graph_ended(first, stream, number);
}

}  // namespace convladder::stand_in
