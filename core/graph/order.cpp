// SPDX-License-Identifier: Apache-2.0
#include "core/graph/order.hpp"

#include <algorithm>
#include <set>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/strong_components.hpp>

namespace slipway::core {
namespace {

using Digraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
using Vertex = boost::graph_traits<Digraph>::vertex_descriptor;

/// The components as a Boost graph; vertices are numbered by name.
struct Numbered {
  std::vector<std::string> names;
  Digraph graph;
};

Numbered numbered(const Predecessors& before) {
  Numbered result;
  std::map<std::string, Vertex> numbers;
  for (const auto& [name, first] : before) {
    numbers[name] = result.names.size();
    result.names.push_back(name);
  }
  result.graph = Digraph(result.names.size());
  for (const auto& [name, first] : before)
    for (const std::string& predecessor : first)
      boost::add_edge(numbers.at(predecessor), numbers.at(name), result.graph);
  return result;
}

/// Returns the vertices of a shortest path from `start` back to it, inside its strong component.
std::vector<Vertex> cycle_through(Vertex start, const Digraph& graph) {
  std::vector<Vertex> parent(boost::num_vertices(graph), start);
  boost::breadth_first_search(
      graph, start,
      boost::visitor(boost::make_bfs_visitor(boost::record_predecessors(parent.data(), boost::on_tree_edge{}))));
  std::vector<std::size_t> depth(boost::num_vertices(graph), 0);
  boost::breadth_first_search(
      graph, start,
      boost::visitor(boost::make_bfs_visitor(boost::record_distances(depth.data(), boost::on_tree_edge{}))));
  const auto edges = boost::in_edges(start, graph);
  Vertex last = start;
  for (auto edge = edges.first; edge != edges.second; ++edge) {
    const Vertex source = boost::source(*edge, graph);
    const bool reached = source == start || depth[source] > 0;
    if (reached && (last == start || depth[source] < depth[last])) last = source;
  }
  std::vector<Vertex> path;
  for (Vertex at = last; at != start; at = parent[at]) path.push_back(at);
  path.push_back(start);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace

std::vector<std::string> total_order(const Predecessors& before) {
  const Numbered components = numbered(before);
  std::vector<std::size_t> waiting_for(components.names.size());
  std::set<Vertex> ready;  // numbers follow the names, so the first one is the next by name
  for (Vertex vertex = 0; vertex < components.names.size(); ++vertex) {
    waiting_for[vertex] = boost::in_degree(vertex, components.graph);
    if (waiting_for[vertex] == 0) ready.insert(vertex);
  }
  std::vector<std::string> order;
  while (!ready.empty()) {
    const Vertex next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(components.names[next]);
    const auto edges = boost::out_edges(next, components.graph);
    for (auto edge = edges.first; edge != edges.second; ++edge) {
      const Vertex target = boost::target(*edge, components.graph);
      if (--waiting_for[target] == 0) ready.insert(target);
    }
  }
  return order;
}

std::vector<std::string> find_cycle(const Predecessors& before) {
  const Numbered components = numbered(before);
  std::vector<std::size_t> group(components.names.size());
  if (components.names.empty()) return {};
  const std::size_t groups = boost::strong_components(components.graph, group.data());
  std::vector<std::size_t> size(groups, 0);
  for (const std::size_t number : group) ++size[number];
  for (Vertex vertex = 0; vertex < components.names.size(); ++vertex) {
    if (size[group[vertex]] < 2) continue;
    std::vector<std::string> names;
    for (const Vertex on_cycle : cycle_through(vertex, components.graph)) names.push_back(components.names[on_cycle]);
    return names;
  }
  return {};
}

}  // namespace slipway::core
