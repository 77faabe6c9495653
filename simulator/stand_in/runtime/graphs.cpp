// Makes, inspects, instantiates and launches graphs.
#include <algorithm>

#include "simulator/stand_in/runtime/graph_parameters.hpp"

using namespace convladder::stand_in;

namespace {

cudaGraph_t handle_of(const Graph* graph) { return reinterpret_cast<cudaGraph_t>(const_cast<Graph*>(graph)); }
/// Gives a list as these calls do: without a place, only its length; if there is more room, the rest becomes null.
void give_list(cudaGraphNode_t* place, std::size_t* count, const std::vector<const GraphNode*>& nodes) {
  require(count != nullptr);
  if (place != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) place[i] = i < nodes.size() ? handle_of(nodes[i]) : nullptr;
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
}

void no_edge_data(cudaGraphEdgeData* data, const std::size_t* count) {
  if (data != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
}

cudaError_t make_ready(const char* name, cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags) {
  return answer(name, [&](Machine& machine) {
    require(ready != nullptr);
    *ready = reinterpret_cast<cudaGraphExec_t>(machine.graphs().make_ready(machine.graphs().graph(graph), flags));
  });
}

template <typename Change>
cudaError_t change_edges(const char* name, cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                         std::size_t count, const Change& change) {
  return answer(name, [&](Machine& machine) {
    static_cast<void>(machine.graphs().graph(graph));
    require(count == 0 || (from != nullptr && to != nullptr));
    for (std::size_t i = 0; i < count; ++i) change(machine.graphs().node(from[i]), machine.graphs().node(to[i]));
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return answer("cudaGraphCreate", [&](Machine& machine) {
    require(graph != nullptr && flags == 0);
    *graph = handle_of(machine.graphs().add(std::make_unique<Graph>()));
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return answer("cudaGraphDestroy",
                [&](Machine& machine) { machine.graphs().remove(reinterpret_cast<Graph*>(graph)); });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return answer("cudaGraphClone", [&](Machine& machine) {
    require(clone != nullptr);
    *clone = handle_of(machine.graphs().add(machine.graphs().graph(graph).copy()));
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* place, cudaGraphNode_t node, cudaGraph_t clone) {
  return answer("cudaGraphNodeFindInClone", [&](Machine& machine) {
    const GraphNode* const found = machine.graphs().graph(clone).copy_of(machine.graphs().node(node));
    require(found != nullptr);
    give(place, handle_of(found));
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return answer("cudaGraphDestroyNode", [&](Machine& machine) {
    GraphNode& found = machine.graphs().node(node);
    found.graph->remove(found);
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return answer("cudaGraphNodeGetType",
                [&](Machine& machine) { give(type, type_of(machine.graphs().node(node).work)); });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return answer("cudaGraphGetNodes", [&](Machine& machine) {
    std::vector<const GraphNode*> all;
    for (const auto& node : machine.graphs().graph(graph).nodes()) all.push_back(node.get());
    give_list(nodes, count, all);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return answer("cudaGraphGetRootNodes", [&](Machine& machine) {
    std::vector<const GraphNode*> roots;
    for (const auto& node : machine.graphs().graph(graph).nodes()) {
      if (node->needs.empty()) roots.push_back(node.get());
    }
    give_list(nodes, count, roots);
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                              std::size_t* count) {
  return answer("cudaGraphGetEdges", [&](Machine& machine) {
    require(count != nullptr && (from == nullptr) == (to == nullptr));
    std::vector<const GraphNode*> begins;
    std::vector<const GraphNode*> ends;
    for (const auto& node : machine.graphs().graph(graph).nodes()) {
      for (const GraphNode* const need : node->needs) {
        begins.push_back(need);
        ends.push_back(node.get());
      }
    }
    std::size_t room = *count;
    if (to != nullptr) give_list(to, &room, ends);
    give_list(from, count, begins);
    no_edge_data(data, count);
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* needs, cudaGraphEdgeData* data,
                                         std::size_t* count) {
  return answer("cudaGraphNodeGetDependencies", [&](Machine& machine) {
    const GraphNode& found = machine.graphs().node(node);
    give_list(needs, count, {found.needs.begin(), found.needs.end()});
    no_edge_data(data, count);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents, cudaGraphEdgeData* data,
                                           std::size_t* count) {
  return answer("cudaGraphNodeGetDependentNodes", [&](Machine& machine) {
    GraphNode& found = machine.graphs().node(node);
    std::vector<const GraphNode*> all;
    for (const auto& other : found.graph->nodes()) {
      if (std::ranges::find(other->needs, &found) != other->needs.end()) all.push_back(other.get());
    }
    give_list(dependents, count, all);
    no_edge_data(data, count);
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* /*data*/, std::size_t count) {
  return change_edges("cudaGraphAddDependencies", graph, from, to, count, Graph::link);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* /*data*/, std::size_t count) {
  return change_edges("cudaGraphRemoveDependencies", graph, from, to, count, Graph::unlink);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags) {
  return make_ready("cudaGraphInstantiate", ready, graph, flags);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags) {
  return make_ready("cudaGraphInstantiateWithFlags", ready, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* ready, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return refuse("cudaGraphInstantiateWithParams", kInvalidValue);
  const cudaError_t status = make_ready("cudaGraphInstantiateWithParams", ready, graph, parameters->flags);
  parameters->errNode_out = nullptr;
  parameters->result_out = status == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
  return status;
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t ready, unsigned long long* flags) {
  return answer("cudaGraphExecGetFlags", [&](Machine& machine) { give(flags, machine.graphs().ready(ready).flags); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  return answer("cudaGraphExecDestroy",
                [&](Machine& machine) { machine.graphs().remove(reinterpret_cast<ReadyGraph*>(ready)); });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t ready, cudaStream_t stream) {
  return answer("cudaGraphUpload", [&](Machine& machine) {
    static_cast<void>(machine.stream_number(stream));
    static_cast<void>(machine.graphs().ready(ready));
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  return answer("cudaGraphLaunch", [&](Machine& machine) {
    const int number = machine.stream_number(stream);
    const ReadyGraph& found = machine.graphs().ready(ready);
    if (machine.graphs().capturing(number) != nullptr) {
      machine.graphs().capture(number, ChildWork{found.graph->copy()});
    } else {
      carry_out(machine, *found.graph, number);
    }
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t ready, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  return answer("cudaGraphExecUpdate", [&](Machine& machine) {
    const GraphNode* where = nullptr;
    const UpdateResult result = update(machine.graphs().ready(ready), machine.graphs().graph(graph), &where);
    const cudaGraphExecUpdateResult told = result == UpdateResult::done ? cudaGraphExecUpdateSuccess
                                           : result == UpdateResult::other_topology
                                               ? cudaGraphExecUpdateErrorTopologyChanged
                                               : cudaGraphExecUpdateErrorNodeTypeChanged;
    if (info != nullptr) *info = {told, handle_of(where), nullptr};
    if (result != UpdateResult::done) throw Failure(kGraphUpdateFailure);
  });
}

}  // extern "C"
