#include "harness/measure/isolation/served_process.hpp"

#include <fmt/format.h>

#include "support/registry.hpp"

namespace convladder {
namespace {

struct Served {
  std::string_view name;
  Serve serve;
};

Registry<Served>& all_served() {
  static Registry<Served> served({.before = [](const Served& a, const Served& b) { return a.name < b.name; },
                                  .identity = [](const Served& one) { return std::string(one.name); }});
  return served;
}

}  // namespace

ServedRegistration::ServedRegistration(std::string_view name, Serve serve) { all_served().add({name, serve}); }

Serve find_served(std::string_view name) {
  const Served* const found = all_served().find([&](const Served& one) { return one.name == name; });
  return found == nullptr ? nullptr : found->serve;
}

}  // namespace convladder
