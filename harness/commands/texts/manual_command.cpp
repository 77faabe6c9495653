// `convladder manual`: the manual page, made from the texts of the help. No help lists it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/measure/machine/build_information.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr const char* kManualFooter = R"(examples:
  convladder manual >convladder.1 && man ./convladder.1
  convladder manual --date 2026-01-31

exit codes: 0 printed - 3 bad input)";

struct ManualArguments {
  CLI::App* program = nullptr;
  std::string date;
};

void add_manual_options(CLI::App& command, ManualArguments& a) {
  a.program = command.get_parent();
  command.add_option("--date", a.date, "of the page (default: none)");
}

/// The text as roff needs it: no backslash, hyphen or first character with a special meaning, and no ellipsis, which
/// not every terminal has.
std::string escaped(std::string_view text) {
  constexpr std::string_view kEllipsis = "…";
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with(kEllipsis)) {
      result += "...";
      at += kEllipsis.size() - 1;
      continue;
    }
    const char one = text[at];
    switch (one) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '"':
        result += "\\(dq";
        break;
      default:
        result += one;
    }
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", escaped(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", escaped(text)); }

/// A line such as "  convladder run      what it does" as a paragraph with a tag.
std::string tagged(std::string_view line) {
  const std::string text(trimmed(line));
  const std::size_t gap = text.find("  ");
  if (gap == std::string::npos) return fmt::format(".TP\n{}\n\\&\n", bold(text));
  return fmt::format(".TP\n{}\n{}\n", bold(text.substr(0, gap)), escaped(trimmed(std::string_view(text).substr(gap))));
}

/// Examples and exit codes below the options.
std::string footer_text(const std::string& footer) {
  std::string text;
  bool begins = true;  // a paragraph, which ends a list as well
  for (const std::string& line : split(footer, '\n')) {
    if (line.starts_with(' ')) {
      text += tagged(line);
      begins = true;
    } else if (line.empty()) {
      begins = true;
    } else {
      text += (begins ? ".PP\n" : "") + escaped(line) + "\n";
      begins = false;
    }
  }
  return text;
}

/// The placeholder for the value: "TEXT", "{process,none}", with dots where there may be several; empty for a flag.
std::string value_text(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  std::string type = option.get_type_name();
  const std::size_t check = type.find(':');
  if (check != std::string::npos) {
    const std::string behind = type.substr(check + 1);
    type = behind.starts_with('{') ? behind : type.substr(0, check);
  }
  return option.get_delimiter() == '\0' ? type : type + ",...";
}

std::string option_text(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "" : ", ") + bold("-" + name);
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "" : ", ") + bold("--" + name);
  if (option.get_positional()) {
    names = italic(option.get_name());
  } else if (const std::string value = value_text(option); !value.empty()) {
    names += " " + italic(value);
  }
  return fmt::format(".TP\n{}\n{}\n", names, escaped(option.get_description()));
}

std::string synopsis(const CLI::App& command) {
  std::string text = fmt::format("{} [{}]", bold("convladder " + command.get_name()), italic("OPTIONS"));
  for (const CLI::Option* const option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = italic(option->get_name()) + (option->get_items_expected_max() > 1 ? " ..." : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string command_text(const CLI::App& command) {
  std::string text = fmt::format(".SS {}\n{}\n.PP\n{}\n", escaped(command.get_name()), synopsis(command),
                                 escaped(command.get_description()));
  for (const CLI::Option* const option : command.get_options()) {
    if (!option->get_group().empty() && option->get_name() != "--help") text += option_text(*option);
  }
  return text + footer_text(command.get_footer());
}

std::string manual(const CLI::App& program, const std::string& date) {
  std::string text = fmt::format(
      ".\\\" Written by 'convladder manual'.\n"
      ".TH CONVLADDER 1 \"{}\" \"convladder {}\" \"User Commands\"\n"
      ".SH NAME\nconvladder \\- climb one kernel stage by stage: verified, measured, explained\n"
      ".SH SYNOPSIS\n{} {} [{}]\n.br\n{} [{}]\n"
      ".SH DESCRIPTION\n{}\n"
      ".PP\nA ladder is one kernel, written again and again, each time with one more idea. A GPU is not needed: "
      "without\n"
      "one the CUDA stages are executed from their PTX, verified and counted, and never timed.\n",
      date, build::version, bold("convladder"), italic("COMMAND"), italic("OPTIONS"), bold("convladder help"),
      italic("COMMAND"), escaped(program.get_description()));
  const std::string footer = program.get_footer();
  const std::string_view title = "exit codes:\n";
  const std::size_t codes = footer.find(title);
  text += ".SH EXAMPLES\n" + footer_text(footer.substr(footer.find('\n') + 1, codes - footer.find('\n') - 1));
  text += ".SH EXIT STATUS\n" + footer_text(footer.substr(codes + title.size()));
  text += ".SH COMMANDS\n";
  for (const CLI::App* const command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty() && command->get_name() != "help") text += command_text(*command);
  }
  text +=
      ".SH ENVIRONMENT\n"
      ".TP\n\\fBCXX\\fR\nthe compiler of C++ stages and references of a folder (default g++)\n"
      ".TP\n\\fBPYTHON\\fR\nthe Python that draws charts and reports (default /usr/bin/python3)\n"
      ".TP\n\\fBOMP_NUM_THREADS\\fR\nhow many threads the CPU stages use (default: all cores)\n"
      ".TP\n\\fBCONVLADDER_ONNXRUNTIME\\fR\nthe file of ONNX Runtime's library, libonnxruntime.so.1, if the dynamic "
      "linker does\nnot find it\n"
      ".TP\n\\fBCUDA_VISIBLE_DEVICES\\fR\nwhich GPU is used: the first that is visible\n"
      ".SH FILES\n"
      ".TP\n\\fIresults/<host>\\-<time>/\\fR\nwhere a run writes its record, below the current folder\n"
      ".TP\n\\fI~/.cache/convladder/\\fR\ncompiled stages, trained weights and data sets; below $XDG_CACHE_HOME where "
      "that is\n"
      "set. It may be removed at any time\n"
      ".TP\n\\fI<prefix>/share/convladder/scripts/\\fR\nwhat draws and checks records, and runs profilers\n"
      ".TP\n\\fI<prefix>/share/doc/convladder/docs/\\fR\nthe pages that these texts name as docs/...\n";
  return text;
}

int run_manual(ManualArguments& a, const CommandLine& /*command_line*/) {
  if (a.date.find_first_not_of("0123456789-") != std::string::npos) {
    throw UserError("--date: expected a date as in 2026-01-31");
  }
  fmt::print("{}", manual(*a.program, a.date));
  return kExitOk;
}

const CommandRegistration manual_registration({.name = "manual",
                                               .group = CommandGroup::hidden,
                                               .help = "the manual page",
                                               .footer = kManualFooter,
                                               .add = command_of<ManualArguments, add_manual_options, run_manual>});

}  // namespace
}  // namespace convladder
