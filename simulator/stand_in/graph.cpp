#include "simulator/stand_in/graph.hpp"

#include <algorithm>
#include <unordered_map>

namespace convladder::stand_in {
namespace {

/// Copies work; child nodes have a graph of their own.
Work copy_of_work(const Work& work) {
  if (const auto* child = std::get_if<ChildWork>(&work)) return ChildWork{child->graph->copy()};
  return work;
}

template <typename T>
bool same_index(const std::vector<std::unique_ptr<T>>& a, const T* in_a, const std::vector<std::unique_ptr<T>>& b,
                const T* in_b) {
  const auto place = [](const auto& list, const T* one) {
    return std::ranges::find_if(list, [one](const auto& each) { return each.get() == one; }) - list.begin();
  };
  return place(a, in_a) == place(b, in_b);
}

UpdateResult update(Graph& old, const Graph& wanted, const GraphNode** where) {
  const auto& mine = old.nodes();
  const auto& theirs = wanted.nodes();
  *where = nullptr;
  if (mine.size() != theirs.size()) return UpdateResult::other_topology;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    *where = theirs[i].get();
    if (mine[i]->work.index() != theirs[i]->work.index()) return UpdateResult::other_node_type;
    const bool same_needs = std::ranges::equal(mine[i]->needs, theirs[i]->needs, [&](GraphNode* a, GraphNode* b) {
      return same_index<GraphNode>(mine, a, theirs, b);
    });
    if (!same_needs) return UpdateResult::other_topology;
  }
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (auto* child = std::get_if<ChildWork>(&mine[i]->work)) {
      const UpdateResult result = update(*child->graph, *std::get<ChildWork>(theirs[i]->work).graph, where);
      if (result != UpdateResult::done) return result;
    } else {
      mine[i]->work = theirs[i]->work;
    }
  }
  *where = nullptr;
  return UpdateResult::done;
}

/// Gives the nodes of a copy the origins of the nodes that they were copied from.
void keep_origins(Graph& copy, const Graph& of) {
  for (std::size_t i = 0; i < of.nodes().size(); ++i) {
    copy.nodes()[i]->origin = of.nodes()[i]->origin;
    const auto* child = std::get_if<ChildWork>(&copy.nodes()[i]->work);
    if (child != nullptr) keep_origins(*child->graph, *std::get<ChildWork>(of.nodes()[i]->work).graph);
  }
}

}  // namespace

GraphNode& Graph::add(Work work, std::vector<GraphNode*> needs) {
  for (auto need = needs.begin(); need != needs.end(); ++need) {
    if ((*need)->graph != this || std::find(needs.begin(), need, *need) != need) throw Failure(kInvalidValue);
  }
  auto node = std::make_unique<GraphNode>();
  node->graph = this;
  node->work = std::move(work);
  node->needs = std::move(needs);
  return *nodes_.emplace_back(std::move(node));
}

void Graph::remove(GraphNode& node) {
  for (const auto& other : nodes_) std::erase(other->needs, &node);
  std::erase_if(nodes_, [&node](const auto& other) { return other.get() == &node; });
}

void Graph::link(GraphNode& from, GraphNode& to) {
  if (from.graph != to.graph || &from == &to || std::ranges::find(to.needs, &from) != to.needs.end()) {
    throw Failure(kInvalidValue);
  }
  to.needs.push_back(&from);
}

void Graph::unlink(GraphNode& from, GraphNode& to) {
  if (std::erase(to.needs, &from) == 0) throw Failure(kInvalidValue);
}

GraphNode* Graph::copy_of(const GraphNode& node) const {
  for (const auto& one : nodes_) {
    if (one->origin == &node) return one.get();
    if (const auto* child = std::get_if<ChildWork>(&one->work)) {
      if (GraphNode* const found = child->graph->copy_of(node); found != nullptr) return found;
    }
  }
  return nullptr;
}

std::unique_ptr<Graph> Graph::copy() const {
  auto made = std::make_unique<Graph>();
  std::unordered_map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes_) {
    GraphNode& copy = made->add(copy_of_work(node->work), {});
    copy.origin = node.get();
    copy.is_enabled = node->is_enabled;
    copies[node.get()] = &copy;
  }
  for (const auto& node : nodes_) {
    for (const GraphNode* need : node->needs) copies[node.get()]->needs.push_back(copies.at(need));
  }
  return made;
}

std::vector<GraphNode*> Graph::in_order() const {
  std::vector<GraphNode*> order;
  std::unordered_map<const GraphNode*, std::size_t> waits_for;
  std::unordered_map<const GraphNode*, std::vector<GraphNode*>> dependents;
  for (const auto& node : nodes_) {
    waits_for[node.get()] = node->needs.size();
    for (const GraphNode* need : node->needs) dependents[need].push_back(node.get());
    if (node->needs.empty()) order.push_back(node.get());
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (GraphNode* const next : dependents[order[i]]) {
      if (--waits_for[next] == 0) order.push_back(next);
    }
  }
  if (order.size() != nodes_.size()) throw Failure(kInvalidValue, "the graph's nodes wait for each other in a circle");
  return order;
}

UpdateResult update(ReadyGraph& ready, const Graph& graph, const GraphNode** where) {
  // If it cannot become the other, nothing of it may change, so a copy is changed first.
  std::unique_ptr<Graph> changed = ready.graph->copy();
  keep_origins(*changed, *ready.graph);
  const UpdateResult result = update(*changed, graph, where);
  if (result == UpdateResult::done) ready.graph = std::move(changed);
  return result;
}

Graph* Graphs::add(std::unique_ptr<Graph> graph) {
  Graph* const handle = graph.get();
  graphs_[handle] = std::move(graph);
  return handle;
}

Graph& Graphs::graph(const void* handle) const {
  if (const auto found = graphs_.find(handle); found != graphs_.end()) return *found->second;
  // The graph of a child node is found through its node.
  for (const auto& [own, graph] : graphs_) {
    for (const auto& node : graph->nodes()) {
      const auto* child = std::get_if<ChildWork>(&node->work);
      if (child != nullptr && child->graph.get() == handle) return *child->graph;
    }
  }
  for (const auto& [stream, capturing] : capturing_) {
    if (capturing.capture->graph == handle) return *capturing.capture->graph;
  }
  throw Failure(kInvalidValue);
}

namespace {

GraphNode* find_node(const Graph& graph, const void* handle) {
  for (const auto& node : graph.nodes()) {
    if (node.get() == handle) return node.get();
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      if (GraphNode* const found = find_node(*child->graph, handle); found != nullptr) return found;
    }
  }
  return nullptr;
}

}  // namespace

GraphNode& Graphs::node(const void* handle) const {
  for (const auto& [own, graph] : graphs_) {
    if (GraphNode* const found = find_node(*graph, handle); found != nullptr) return *found;
  }
  for (const auto& [stream, capturing] : capturing_) {
    if (GraphNode* const found = find_node(*capturing.capture->graph, handle); found != nullptr) return *found;
  }
  throw Failure(kInvalidValue);
}

void Graphs::remove(Graph* graph) {
  if (graphs_.erase(graph) == 0) throw Failure(kInvalidValue);
}

ReadyGraph* Graphs::make_ready(const Graph& graph, unsigned long long flags) {
  static_cast<void>(graph.in_order());
  auto made = std::make_unique<ReadyGraph>(ReadyGraph{graph.copy(), flags});
  ReadyGraph* const handle = made.get();
  ready_[handle] = std::move(made);
  return handle;
}

ReadyGraph& Graphs::ready(const void* handle) const {
  const auto found = ready_.find(handle);
  if (found == ready_.end()) throw Failure(kInvalidValue);
  return *found->second;
}

void Graphs::remove(ReadyGraph* ready) {
  if (ready_.erase(ready) == 0) throw Failure(kInvalidValue);
}

}  // namespace convladder::stand_in
