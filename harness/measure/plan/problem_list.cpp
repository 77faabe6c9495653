#include "harness/measure/plan/problem_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "support/json_null.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

using nlohmann::ordered_json;

ordered_json problems_json() {
  ordered_json problems = ordered_json::array();
  for (const Problem* problem : registered_problems()) {
    ordered_json dimensions = ordered_json::array();
    for (const Dimension& one : problem->dimensions()) {
      dimensions.push_back({{"letter", one.letter}, {"name", one.name}, {"usual", or_null(one.usual)}});
    }
    ordered_json variants = ordered_json::array();
    for (const ProblemVariant& one : problem->variants()) {
      variants.push_back({{"family", one.info.family},
                          {"rung", or_null(one.info.rung)},
                          {"name", one.info.name},
                          {"title", one.info.title}});
    }
    problems.push_back({{"name", problem->name()},
                        {"title", problem->title()},
                        {"dimensions", std::move(dimensions)},
                        {"default_sizes", problem->default_sizes()},
                        {"variants", std::move(variants)}});
  }
  return problems;
}

std::string problem_lines() {
  std::string text = "\nproblems (--problem, --size)\n";
  for (const Problem* problem : registered_problems()) {
    text +=
        fmt::format("  {:<22} {}: {}\n", problem->name(), problem->title(), fmt::join(problem->default_sizes(), ", "));
    if (problem->is_default()) continue;
    for (const ProblemVariant& one : problem->variants()) {
      text += fmt::format("     {} {:<5} {:<22} {}\n", one.info.rung ? fmt::format("{:>2}", *one.info.rung) : " -",
                          one.info.family, one.info.name, one.info.title);
    }
  }
  return text;
}

}  // namespace convladder
