#include "ladders/launch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "ladders/launch_texts.hpp"
#include "ladders/ptx_entries.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

constexpr std::size_t kRanks = 3;
constexpr std::size_t kShared = 2 * kRanks;  // the index after those of grid and block
constexpr std::size_t kPieceOfLiteral = 4096;

/// A text as C++ writes it, in as many pieces as keep lines readable for a compiler.
std::string literal(std::string_view text) {
  std::string written = "\"";
  std::size_t in_piece = 0;
  for (const char one : text) {
    const bool is_plain = one >= ' ' && one <= '~' && one != '"' && one != '\\' && one != '?';
    if (is_plain) {
      written += one;
    } else {
      written += fmt::format("\\{:03o}", static_cast<unsigned char>(one));
    }
    if (one == '\n' || ++in_piece == kPieceOfLiteral) {
      written += "\"\n\"";
      in_piece = 0;
    }
  }
  return written + '"';
}

const char* what_of(std::size_t size) { return size < kRanks ? "grid" : size < kShared ? "block" : "shared"; }

}  // namespace

LaunchPlan::LaunchPlan(const StageSource& stage, const LadderProblem& problem, std::string source_place)
    : stage_(stage), problem_(problem), place_(std::move(source_place)), names_(problem.names()) {
  for (const StageParameter& one : stage.parameters) {
    const std::vector<std::string> taken = argument_names();
    if (std::ranges::find(taken, one.name) != taken.end()) {
      fail(stage.launches.front(), fmt::format("the parameter {} has the name of something else", one.name));
    }
    names_.push_back(one.name);
  }
  for (const StageLaunch& line : stage.launches) {
    Launch launch{&line, {}, {}};
    const auto add = [&](const std::string& text) {
      try {
        launch.sizes.emplace_back(text, names_);
      } catch (const std::invalid_argument& error) {
        fail(line, fmt::format("{}: {}", what_of(launch.sizes.size()), error.what()));
      }
    };
    for (const auto* const list : {&line.grid, &line.block}) {
      for (std::size_t i = 0; i < kRanks; ++i) add(i < list->size() ? (*list)[i] : "1");
    }
    add(line.shared);
    if (line.arguments) {
      for (const std::string& name : *line.arguments) launch.arguments.push_back(argument(line, name));
    } else {
      for (const LadderTensor& one : problem.tensors) launch.arguments.push_back(argument(line, one.name));
      for (const LadderScalar& one : problem.scalars) launch.arguments.push_back(argument(line, one.name));
      for (const LadderDimension& one : problem.dimensions) launch.arguments.push_back(argument(line, one.letter));
    }
    launches_.push_back(std::move(launch));
  }
}

void LaunchPlan::fail(const StageLaunch& launch, const std::string& what) const {
  throw UserError(
      fmt::format("{}:{}: @launch {}: {}", place_, launch.line, printable(launch.kernel, kShortText), what));
}

/// All the names that an argument can have.
std::vector<std::string> LaunchPlan::argument_names() const {
  std::vector<std::string> names;
  for (const LadderTensor& one : problem_.tensors) names.push_back(one.name);
  for (const LadderScalar& one : problem_.scalars) names.push_back(one.name);
  names.insert(names.end(), names_.begin(), names_.end());
  return names;
}

LaunchPlan::Argument LaunchPlan::argument(const StageLaunch& launch, const std::string& name) const {
  if (std::ranges::find(problem_.tensors, name, &LadderTensor::name) != problem_.tensors.end()) {
    return {.name = name, .text = name, .bytes = sizeof(void*)};
  }
  const auto scalar = std::ranges::find(problem_.scalars, name, &LadderScalar::name);
  if (scalar != problem_.scalars.end()) return {.name = name, .text = name, .bytes = element_bytes(scalar->type)};
  const auto known = std::ranges::find(names_, name);
  if (known == names_.end()) fail(launch, "args: " + unknown_name_message("name", name, argument_names()));
  const auto which = static_cast<std::size_t>(known - names_.begin());
  if (which < problem_.dimensions.size()) return {.name = name, .text = name, .bytes = sizeof(int)};
  return {.name = name,
          .text = fmt::format("convladder_i{}", which),
          .bytes = sizeof(int),
          .value = which,
          .is_made = true};
}

std::string LaunchPlan::shown(const Launch& launch) const {
  return fmt::format("{}:{}: @launch {}", printable(stage_.file), launch.line->line,
                     printable(launch.line->kernel, kShortText));
}

std::string LaunchPlan::first_text() const {
  return std::string(kLaunchText) + (stage_.language == StageLanguage::cuda ? kCudaLaunchText : "");
}

/// The text of `solve` up to the first launch: the values of all names, in their order.
std::string LaunchPlan::beginning(const std::vector<int>& values) const {
  const std::size_t dimensions = problem_.dimensions.size();
  std::string text = fmt::format("{} {{\n  convladder_failure[0] = 0;\n  double convladder_v[{}];\n",
                                 problem_.signature(stage_.language == StageLanguage::cuda), names_.size());
  std::vector<std::string> known;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    std::string value;
    if (i < dimensions) {
      value = names_[i];
    } else if (i < dimensions + problem_.derived.size()) {
      value = problem_.derived[i - dimensions].value.c_text(known);
    } else {
      value = std::to_string(values.at(i - dimensions - problem_.derived.size()));
    }
    text += fmt::format("  convladder_v[{}] = {};\n", i, value);
    known.push_back(fmt::format("convladder_v[{}]", i));
  }
  return text;
}

/// The text that computes the sizes and numbers of one launch, or returns with the reason why it cannot.
std::string LaunchPlan::prepared(const Launch& launch) const {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < names_.size(); ++i) known.push_back(fmt::format("convladder_v[{}]", i));
  const auto whole = [&](const std::string& what, const std::string& shown_value, const std::string& value,
                         const char* least, const std::string& into) {
    return fmt::format("    if (!convladder_whole({}, {}, {}, {}, {})) return;\n",
                       literal(fmt::format("{}: {}", shown(launch), what)), literal(shown_value), value, least, into);
  };
  std::string text = "    long long convladder_s[7];\n    static long long convladder_granted = 0;\n";
  for (std::size_t i = 0; i < launch.sizes.size(); ++i) {
    text += whole(what_of(i), launch.sizes[i].text(), launch.sizes[i].c_text(known), i == kShared ? "0" : "1",
                  fmt::format("&convladder_s[{}]", i));
  }
  std::vector<std::size_t> made;
  for (const Argument& one : launch.arguments) {
    if (!one.is_made || std::ranges::find(made, one.value) != made.end()) continue;
    made.push_back(one.value);
    text += fmt::format("    long long convladder_w{} = 0;\n", one.value);
    text += whole("args", one.name, known[one.value], "-2147483648.", fmt::format("&convladder_w{}", one.value));
    text += fmt::format("    int {} = (int)convladder_w{};\n", one.text, one.value);
  }
  return text + "    (void)convladder_granted;\n";
}

std::string LaunchPlan::cuda_source(const std::string& source, const std::vector<int>& values) const {
  const std::string file = literal(source);
  const auto at = [&](const Launch& launch) { return fmt::format("#line {} {}\n", launch.line->line, file); };
  std::string text = fmt::format("#include \"{}\"\n", source);
  // The user's macros end here; arguments may have the same names.
  for (const std::string& name : argument_names()) {
    if (std::ranges::find(stage_.parameters, name, &StageParameter::name) == stage_.parameters.end()) {
      text += fmt::format("#undef {}\n", name);
    }
  }
  text += at(launches_.front()) + beginning(values);
  for (const Launch& launch : launches_) {
    const std::string& kernel = launch.line->kernel;
    std::string arguments;
    for (const Argument& one : launch.arguments) arguments += (arguments.empty() ? "" : ", ") + one.text;
    text += "  {\n" + prepared(launch);
    const std::string place = literal(shown(launch));
    if (launch.line->shared != "0") {
      text += fmt::format(
          "    if (convladder_s[6] > convladder_granted) {{\n{}      if (!convladder_succeeded({}, "
          "cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)convladder_s[6]))) return;\n"
          "      convladder_granted = convladder_s[6];\n    }}\n",
          at(launch), place, kernel);
    }
    text += fmt::format(
        "{}    {}<<<dim3(convladder_s[0], convladder_s[1], convladder_s[2]), dim3(convladder_s[3], convladder_s[4], "
        "convladder_s[5]), convladder_s[6]>>>({});\n    if (!convladder_succeeded({}, cudaGetLastError())) return;\n  "
        "}}\n",
        at(launch), kernel, arguments, place);
  }
  return text + "}\n";
}

void LaunchPlan::check_kernel(const Launch& launch, std::string_view ptx) const {
  const std::vector<PtxEntry> entries = ptx_entries(ptx);
  const auto entry = std::ranges::find(entries, launch.line->kernel, &PtxEntry::name);
  if (entries.empty()) fail(*launch.line, "the text has no kernel (.entry)");
  if (entry == entries.end()) {
    fail(*launch.line, unknown_name_message("kernel", launch.line->kernel, names_of(entries, &PtxEntry::name)));
  }
  if (entry->parameters.size() != launch.arguments.size()) {
    fail(*launch.line, fmt::format("the kernel takes {}, and gets {}", plural(entry->parameters.size(), "parameter"),
                                   launch.arguments.size()));
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const PtxParameter& parameter = entry->parameters[i];
    const Argument& argument = launch.arguments[i];
    if (parameter.bytes == 0 || parameter.bytes == argument.bytes) continue;
    fail(*launch.line,
         fmt::format("parameter {} is {} ({}), but {} has {}", i + 1, printable(parameter.type, kShortText),
                     plural(parameter.bytes, "byte"), argument.name, argument.bytes));
  }
}

std::string LaunchPlan::ptx_source(std::string_view ptx, const std::vector<int>& values) const {
  std::string text = fmt::format("static const char convladder_ptx[] =\n{};\n{}", literal(ptx), kPtxLaunchText);
  text += beginning(values);
  for (const Launch& launch : launches_) {
    check_kernel(launch, ptx);
    std::string arguments;
    for (const Argument& one : launch.arguments) arguments += fmt::format("(void*)&{}, ", one.text);
    text += fmt::format(
        "  {{\n{}    static void* convladder_function = nullptr;\n    void* convladder_a[] = {{{}nullptr}};\n"
        "    if (!convladder_launch({}, {}, &convladder_function, &convladder_granted, convladder_s, convladder_a)) "
        "return;\n  }}\n",
        prepared(launch), arguments, literal(shown(launch)), literal(launch.line->kernel));
  }
  return text + "}\n";
}

}  // namespace convladder
