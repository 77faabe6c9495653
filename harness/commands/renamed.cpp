#include "harness/commands/renamed.hpp"

#include <fmt/format.h>

#include <array>

namespace convladder {
namespace {

struct RenamedCommand {
  std::string_view before;
  std::string_view now;
};

constexpr std::array<RenamedCommand, 6> kCommands{{
    {"env", "list --machine"},
    {"fused", "run --problem fused-convolution"},
    {"launches", "list --launches"},
    {"leave-one-out", "run --leave-one-out"},
    {"published", "list --published"},
    {"selftest", "duel --selftest"},
}};

struct RenamedOption {
  std::string_view command;
  std::string_view before;
  std::string_view now;
};

constexpr std::array<RenamedOption, 14> kOptions{{
    {"list", "--json", "--format json"},
    {"list", "--csv", "--format csv"},
    {"list", "--count", "--format json, an entry for each launch"},
    {"check", "--json", "--format json"},
    {"check", "--operator", "--problem, with names from 'convladder list'"},
    {"duel", "--json", "--output FILE"},
    {"duel", "--markdown", "--format markdown"},
    {"history", "--json", "--format json --output FILE"},
    {"history", "--markdown", "--format markdown --output FILE"},
    {"profile", "--record", "NETWORK.json without an option's name"},
    {"report", "--markdown", "--format markdown --output DIR"},
    {"report", "--pdf", "--format pdf --output DIR"},
    {"simulate", "--check", "--checkers"},
    {"simulate", "--json", "--output FILE, or --format json for the standard output"},
}};

}  // namespace

std::string renamed_command(std::string_view command) {
  for (const RenamedCommand& one : kCommands) {
    if (one.before == command) return fmt::format("'{}' is now '{}'", one.before, one.now);
  }
  return {};
}

std::string renamed_option(std::string_view command, std::string_view option) {
  for (const RenamedOption& one : kOptions) {
    if (one.command == command && one.before == option) {
      return fmt::format("{} of '{}' is now {}", one.before, one.command, one.now);
    }
  }
  return {};
}

}  // namespace convladder
