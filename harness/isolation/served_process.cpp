#include "harness/isolation/served_process.hpp"

#include <map>

namespace convladder {
namespace {

std::map<std::string_view, Serve>& all_served() {
  static std::map<std::string_view, Serve> served;
  return served;
}

}  // namespace

ServedRegistration::ServedRegistration(std::string_view name, Serve serve) { all_served().emplace(name, serve); }

Serve find_served(std::string_view name) {
  const auto found = all_served().find(name);
  return found == all_served().end() ? nullptr : found->second;
}

}  // namespace convladder
