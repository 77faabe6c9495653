// The functions of a problem in C: `solve`, `reference`, and those that call them with a list of addresses.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ladders/problem_file.hpp"

namespace convladder {

std::string c_type(ElementType type, bool is_cuda) {
  if (type == ElementType::f16) return is_cuda ? "__half" : "uint16_t";
  if (type == ElementType::bf16) return is_cuda ? "__nv_bfloat16" : "uint16_t";
  if (type == ElementType::f32) return "float";
  if (type == ElementType::f64) return "double";
  const std::string_view name = element_name(type);
  return fmt::format("{}int{}_t", name[0] == 'u' ? "u" : "", name.substr(1));
}

namespace {

/// A function's arguments: C types and names, in order. A pointer's type ends with '*'.
using Arguments = std::vector<std::pair<std::string, std::string>>;

Arguments solve_arguments(const LadderProblem& problem, bool is_cuda) {
  Arguments all;
  for (const LadderTensor& one : problem.tensors) {
    all.emplace_back((one.role == TensorRole::in ? "const " : "") + c_type(one.type, is_cuda) + "*", one.name);
  }
  for (const LadderScalar& one : problem.scalars) all.emplace_back(c_type(one.type, is_cuda), one.name);
  for (const LadderDimension& one : problem.dimensions) all.emplace_back("int", one.letter);
  return all;
}

Arguments reference_arguments(const LadderProblem& problem) {
  const auto type = [](ElementType of) { return is_floating(of) ? "double" : c_type(of, false); };
  Arguments all;
  for (const LadderTensor& one : problem.tensors) {
    all.emplace_back((one.role == TensorRole::in ? "const " : "") + type(one.type) + "*", one.name);
    if (one.has_scale()) all.emplace_back("double*", one.name + "_scale");
  }
  for (const LadderScalar& one : problem.scalars) all.emplace_back(type(one.type), one.name);
  for (const LadderDimension& one : problem.dimensions) all.emplace_back("int", one.letter);
  return all;
}

std::string declaration(const char* function, const Arguments& arguments) {
  std::string text;
  for (const auto& [type, name] : arguments) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, name);
  return fmt::format("extern \"C\" void {}({})", function, text);
}

std::string call(const char* function, const Arguments& arguments, const std::string& name) {
  std::string text;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& type = arguments[i].first;
    const bool is_pointer = type.ends_with('*');
    text += fmt::format("{}{}({}{})a[{}]", text.empty() ? "" : ", ", is_pointer ? "" : "*",
                        is_pointer ? type : "const " + type, is_pointer ? "" : "*", i);
  }
  return fmt::format("extern \"C\" void {}(void* const* a) {{ {}({}); }}", name, function, text);
}

}  // namespace

std::string LadderProblem::signature(bool is_cuda) const {
  return declaration("solve", solve_arguments(*this, is_cuda));
}
std::string LadderProblem::reference_signature() const { return declaration("reference", reference_arguments(*this)); }
std::string LadderProblem::python_signature() const {
  std::string names;
  for (const auto& [type, name] : solve_arguments(*this, false)) names += (names.empty() ? "" : ", ") + name;
  return fmt::format("def solve({})", names);
}

std::string LadderProblem::solve_call(bool is_cuda, const std::string& name) const {
  return call("solve", solve_arguments(*this, is_cuda), name);
}
std::string LadderProblem::reference_call(const std::string& name) const {
  return call("reference", reference_arguments(*this), name);
}

}  // namespace convladder
