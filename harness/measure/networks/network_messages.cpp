#include "harness/measure/networks/network_messages.hpp"

#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/isolation/message_codec.hpp"
#include "harness/measure/profile/profile_json.hpp"

namespace convladder {

using nlohmann::ordered_json;

static void to_json(ordered_json& json, const Activity& a) { json = {a.group, a.name, a.start_ns, a.duration_ns}; }
static void from_json(const ordered_json& json, Activity& a) {
  a = {json.at(0).get<std::string>(), json.at(1).get<std::string>(), json.at(2).get<double>(),
       json.at(3).get<double>()};
}

static void to_json(ordered_json& json, const ProgramTime& time) { json = convladder::to_json(time); }
static void from_json(const ordered_json& json, ProgramTime& time) {
  time = read_program_time(JsonPlace(json, "its program"));
}

template struct MessageTexts<NetworkMessages>;

}  // namespace convladder
