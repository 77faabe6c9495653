#include "ladders/launch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "ladders/launch_texts.hpp"
#include "ladders/ptx_entries.hpp"
#include "ladders/source_literal.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

constexpr std::size_t kRanks = 3;
constexpr std::size_t kShared = 2 * kRanks;  // the index after those of grid and block
constexpr const char* kMostInt = "2147483647.";
constexpr const char* kMostLong = "9007199254740992.";  // 2^53: what a double holds

/// The C++ type of a field.
std::string field_type(const std::string& type) {
  const std::optional<ElementType> element = element_type_of(type);
  return type == "ptr" || !element ? "const void*" : c_type(*element, false);
}

std::size_t field_bytes(const std::string& type) {
  const std::optional<ElementType> element = element_type_of(type);
  return type == "ptr" || !element ? sizeof(void*) : element_bytes(*element);
}

std::size_t parameter_bytes(const std::vector<PtxField>& fields) {
  std::size_t bytes = 0;
  std::size_t widest = 1;
  for (const PtxField& one : fields) {
    const std::size_t size = field_bytes(one.type);
    bytes = (bytes + size - 1) / size * size + size;
    widest = std::max(widest, size);
  }
  return (bytes + widest - 1) / widest * widest;
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
    // Where a compiler chooses the block, or the grid as well, it is 1 until `sized_as` has its answer.
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
    return {.name = name, .bytes = sizeof(void*), .value = {}, .kind = PtxField::Kind::tensor, .type = "ptr"};
  }
  const auto scalar = std::ranges::find(problem_.scalars, name, &LadderScalar::name);
  if (scalar != problem_.scalars.end()) {
    return {.name = name,
            .bytes = element_bytes(scalar->type),
            .value = {},
            .kind = PtxField::Kind::scalar,
            .type = std::string(element_name(scalar->type))};
  }
  Argument made{.name = name, .bytes = sizeof(int), .value = {}, .type = "i32"};
  const bool is_dimension =
      std::ranges::find(problem_.dimensions, name, &LadderDimension::letter) != problem_.dimensions.end();
  if (is_dimension) return made;
  const bool is_one_name = std::ranges::all_of(name, is_of_identifier) && !is_digit(name[0]);
  if (is_one_name && std::ranges::find(names_, name) == names_.end()) {
    fail(launch, "args: " + unknown_name_message("name", name, argument_names()));
  }
  try {
    made.value.emplace(name, names_);
  } catch (const std::invalid_argument& error) {
    fail(launch, fmt::format("args: {}", error.what()));
  }
  return made;
}

std::string LaunchPlan::shown(const Launch& launch) const {
  return fmt::format("{}:{}: @launch {}", printable(stage_.file), launch.line->line,
                     printable(launch.line->kernel, kShortText));
}

std::string LaunchPlan::first_text() const {
  return std::string(kExpressionText) + kLaunchText + (stage_.language == StageLanguage::cuda ? kCudaLaunchText : "");
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
std::string LaunchPlan::prepared(const Launch& launch, const std::vector<Made>& made) const {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < names_.size(); ++i) known.push_back(fmt::format("convladder_v[{}]", i));
  const auto whole = [&](const std::string& what, const Expression& value, const char* least, const char* most,
                         const std::string& into) {
    return fmt::format("    if (!convladder_whole({}, {}, {}, {}, {}, {})) return;\n",
                       source_literal(fmt::format("{}: {}", shown(launch), what)), source_literal(value.text()),
                       value.c_text(known), least, most, into);
  };
  std::string text = "    long long convladder_s[7];\n    static long long convladder_granted = 0;\n";
  for (std::size_t i = 0; i < launch.sizes.size(); ++i) {
    text += whole(what_of(i), launch.sizes[i], i == kShared ? "0" : "1", kMostInt, fmt::format("&convladder_s[{}]", i));
  }
  for (const Made& one : made) {
    const bool is_long = field_bytes(one.type) > sizeof(int);
    text += fmt::format("    long long {} = 0;\n", one.name);
    text += whole("args", one.value, is_long ? "-9007199254740992." : "-2147483648.", is_long ? kMostLong : kMostInt,
                  "&" + one.name);
  }
  return text + "    (void)convladder_granted;\n";
}

std::string LaunchPlan::cuda_source(const std::string& source, const std::vector<int>& values) const {
  const std::string file = source_literal(source);
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
    std::vector<Made> made;
    for (const Argument& one : launch.arguments) {
      std::string passed = one.name;
      if (one.value) {
        made.push_back({fmt::format("convladder_w{}", made.size()), *one.value, one.type});
        passed = "(int)" + made.back().name;
      }
      arguments += (arguments.empty() ? "" : ", ") + passed;
    }
    text += "  {\n" + prepared(launch, made);
    const std::string place = source_literal(shown(launch));
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

/// Refuses a compiler's answer that does not fit the PTX that it made: a newer version may lay parameters out
/// otherwise.
void LaunchPlan::check_parameters(const Launch& launch, const PtxLaunch& compiled) const {
  const std::vector<PtxEntry> entries = ptx_entries(compiled.ptx);
  const auto entry = std::ranges::find(entries, compiled.entry, &PtxEntry::name);
  bool fits = entry != entries.end() && entry->parameters.size() == compiled.parameters.size();
  for (std::size_t i = 0; fits && i < compiled.parameters.size(); ++i) {
    const std::size_t bytes = entry->parameters[i].bytes;
    fits = bytes == 0 || bytes == parameter_bytes(compiled.parameters[i]);
  }
  if (!fits) fail(*launch.line, "this version of its package lays the kernel's parameters out in a way not known here");
}

std::vector<PtxLaunch> LaunchPlan::ptx_launches(std::string_view ptx) const {
  std::vector<PtxLaunch> launches;
  for (const Launch& launch : launches_) {
    check_kernel(launch, ptx);
    PtxLaunch& one = launches.emplace_back(PtxLaunch{.ptx = std::string(ptx), .entry = launch.line->kernel});
    for (const Argument& argument : launch.arguments) {
      one.parameters.push_back({{.kind = argument.kind, .type = argument.type, .text = argument.name}});
    }
  }
  return launches;
}

/// The launch with the sizes that a compiler has chosen.
LaunchPlan::Launch LaunchPlan::sized_as(const Launch& launch, const PtxLaunch& compiled) const {
  Launch sized = launch;
  const auto set = [&](std::size_t at, const std::string& text) {
    try {
      sized.sizes.at(at) = Expression(text, names_);
    } catch (const std::invalid_argument& error) {
      fail(*launch.line, fmt::format("{}: {}", what_of(at), error.what()));
    }
  };
  for (std::size_t i = 0; i < std::min(kRanks, compiled.grid.size()); ++i) set(i, compiled.grid[i]);
  for (std::size_t i = 0; i < std::min(kRanks, compiled.block.size()); ++i) set(kRanks + i, compiled.block[i]);
  if (compiled.shared) set(kShared, *compiled.shared);
  return sized;
}

/// The text of one launch of PTX.
std::string LaunchPlan::launch_text(const Launch& launch, const PtxLaunch& compiled, std::size_t module) const {
  std::vector<Made> made;
  std::string scratch;
  std::string parameters;
  std::string addresses;
  const std::string place = source_literal(shown(launch));
  const auto text_of = [&](const PtxField& field) -> std::string {
    const Argument argument =
        field.text.empty() ? Argument{.name = {}, .value = {}, .type = {}} : this->argument(*launch.line, field.text);
    switch (field.kind) {
      case PtxField::Kind::tensor:
      case PtxField::Kind::scalar:
        if (argument.kind != field.kind) fail(*launch.line, fmt::format("'{}' is of another kind", field.text));
        return field.text;
      case PtxField::Kind::value:
        try {
          made.push_back({fmt::format("convladder_w{}", made.size()), Expression(field.text, names_), field.type});
        } catch (const std::invalid_argument& error) {
          fail(*launch.line, fmt::format("args: {}", error.what()));
        }
        return fmt::format("({}){}", field_type(field.type), made.back().name);
      case PtxField::Kind::scratch: {
        if (field.bytes <= 0) return "nullptr";
        const std::string name = fmt::format("convladder_scratch{}", scratch.size());
        scratch += fmt::format(
            "    static unsigned long long {0} = 0;\n    static long long {0}_held = 0;\n    if "
            "(!convladder_scratch({1}, &convladder_modules[{2}], {3}, convladder_s, &{0}, &{0}_held)) return;\n",
            name, place, module, field.bytes);
        return fmt::format("(const void*){}", name);
      }
      case PtxField::Kind::null:
        break;
    }
    return "nullptr";
  };
  for (std::size_t i = 0; i < compiled.parameters.size(); ++i) {
    std::string members;
    std::string values;
    for (std::size_t f = 0; f < compiled.parameters[i].size(); ++f) {
      const PtxField& field = compiled.parameters[i][f];
      members += fmt::format("{} f{}; ", field_type(field.type), f);
      values += fmt::format("{}{}", f == 0 ? "" : ", ", text_of(field));
    }
    parameters += fmt::format("    struct {{ {}}} convladder_p{} = {{{}}};\n", members, i, values);
    addresses += fmt::format("(void*)&convladder_p{}, ", i);
  }
  return fmt::format(
      "  {{\n{}{}{}    static void* convladder_function = nullptr;\n    void* convladder_a[] = {{{}nullptr}};\n"
      "    if (!convladder_launch({}, &convladder_modules[{}], {}, &convladder_function, &convladder_granted, "
      "convladder_s, convladder_a)) return;\n  }}\n",
      prepared(launch, made), scratch, parameters, addresses, place, module, source_literal(compiled.entry));
}

std::string LaunchPlan::ptx_source(const std::vector<PtxLaunch>& launches, const std::vector<int>& values) const {
  std::vector<std::string_view> modules;
  std::string texts;
  std::string entries;
  std::string calls;
  if (launches.size() != launches_.size()) {
    fail(*launches_.front().line, fmt::format("{} launches were compiled of {}", launches.size(), launches_.size()));
  }
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    const PtxLaunch& compiled = launches[i];
    const Launch launch = sized_as(launches_[i], compiled);
    check_parameters(launch, compiled);
    const auto known = std::ranges::find(modules, std::string_view(compiled.ptx));
    const auto module = static_cast<std::size_t>(known - modules.begin());
    if (known == modules.end()) {
      modules.emplace_back(compiled.ptx);
      texts += fmt::format("static const char convladder_ptx{}[] =\n{};\n", module, source_literal(compiled.ptx));
      entries += fmt::format("{{convladder_ptx{}, nullptr}}, ", module);
    }
    calls += launch_text(launch, compiled, module);
  }
  return fmt::format(
      "{}struct convladder_module {{ const char* ptx; void* loaded; }};\nstatic convladder_module "
      "convladder_modules[] = {{{}}};\n{}{}{}}}\n",
      texts, entries, kPtxLaunchText, beginning(values), calls);
}

}  // namespace convladder
