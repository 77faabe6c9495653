#include "network/whole_network.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <tuple>

#include "support/registry.hpp"
#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

void check(const std::vector<RegisteredWholeNetwork>& networks) {
  for (const RegisteredWholeNetwork& one : networks) {
    const VariantInfo& info = one.info;
    if (find_variant(convolution_problem(), info.family, info.name) != nullptr ||
        find_variant(fused_problem(), info.family, info.name) != nullptr) {
      throw std::logic_error(fmt::format("there are two: variant '{}' of family {}", info.name, info.family));
    }
  }
}

auto place_in_order(const VariantInfo& info) { return std::tuple(info.family, info.name); }

using WholeNetworks = Registry<RegisteredWholeNetwork>;

WholeNetworks& whole_networks() {
  static WholeNetworks all(
      {.before = [](const RegisteredWholeNetwork& a,
                    const RegisteredWholeNetwork& b) { return place_in_order(a.info) < place_in_order(b.info); },
       .identity =
           [](const RegisteredWholeNetwork& one) {
             return fmt::format("variant '{}' of family {}", one.info.name, one.info.family);
           },
       .check = check});
  return all;
}

}  // namespace

const std::vector<RegisteredWholeNetwork>& registered_whole_networks() { return whole_networks().all(); }

const RegisteredWholeNetwork* find_whole_network(std::string_view family, std::string_view name) {
  return whole_networks().find(
      [&](const RegisteredWholeNetwork& one) { return one.info.family == family && one.info.name == name; });
}

WholeNetworkRegistration::WholeNetworkRegistration(const VariantInfo& info, std::unique_ptr<WholeNetwork> network) {
  const WholeNetwork* const itself = network.get();
  whole_networks().add({info, itself}, std::move(network));
}

}  // namespace convladder
