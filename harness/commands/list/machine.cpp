// `convladder list --machine`: the facts that a run would record about this machine.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "datasets/catalogue.hpp"
#include "harness/commands/list/topics.hpp"
#include "harness/measure/machine/environment.hpp"
#include "support/json_text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

std::string object_text(const std::string& title, const ordered_json& object) {
  std::string text = title + '\n';
  for (const auto& [name, value] : object.items()) {
    text += fmt::format("  {:<22} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

}  // namespace

std::string machine_listing(const std::string& format) {
  const ordered_json environment = environment_json();
  if (format == "json") return json_text(environment);
  std::string text;
  for (const char* part : {"program", "host", "cpu"}) text += object_text(part, environment.at(part));
  text += "libraries\n";
  const ordered_json& files = environment.at("library_files");
  for (const auto& [name, version] : environment.at("libraries").items()) {
    const std::string file = files.contains(name) ? files.at(name).get<std::string>() : std::string();
    text += fmt::format("  {:<22} {}{}\n", name, version.get<std::string>(), file.empty() ? "" : ", " + file);
  }
  for (const ordered_json& device : environment.at("devices")) {
    text += object_text(fmt::format("device {}", device.at("kind").get<std::string>()), device.at("facts"));
    for (const char* const remark : {"unavailable", "warning"}) {
      if (!device.at(remark).is_null()) text += fmt::format("  {}\n", device.at(remark).get<std::string>());
    }
  }
  if (environment.at("program").at("cuda_compiler").is_null()) {
    text += "not in this build: the cuda family (configuration found neither nvcc nor clang)\n";
  }
  const auto cached = find_cached_folder();
  text += fmt::format(
      "images on this machine\n  {}\n",
      cached ? cached->string() : "only the built-in synthetic set; scripts/fetch_datasets.sh downloads more");
  return text;
}

}  // namespace convladder
