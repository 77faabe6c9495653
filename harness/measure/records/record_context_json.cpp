#include "harness/measure/records/record_context_json.hpp"

#include <nlohmann/json.hpp>

#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// Calls `field(object, name, value)` for every fact that stands in an object of the context, and is read and written
/// alike.
template <typename Context, typename Field>
void for_each_fact(Context& context, const Field& field) {
  field("program", "commit", context.commit);
  field("program", "dirty", context.dirty);
  field("program", "build_type", context.build_type);
  field("program", "compiler", context.compiler);
  field("program", "compiler_flags", context.compiler_flags);
  field("program", "cpu_variant_flags", context.cpu_variant_flags);
  field("program", "cuda_compiler", context.cuda_compiler);
  field("program", "cuda_architectures", context.cuda_architectures);
  field("program", "sanitized", context.is_sanitized);
  field("program", "ptx", context.ptx);
  field("dataset", "sha256", context.images);
  field("options", "sample_milliseconds", context.sample_milliseconds);
  field("options", "isolate", context.isolate);
  field("options", "profile_calls", context.profile_calls);
  field("options", "google_benchmark_flags", context.google_benchmark_flags);
}

template <typename Machine, typename Field>
void for_each_fact_of_machine(Machine& machine, const Field& field) {
  field("host", "name", machine.host);
  field("host", "kernel", machine.kernel);
  field("host", "virtual_machine", machine.is_virtual);
  field("cpu", "model", machine.processor);
  field("cpu", "cores", machine.cores);
  field("cpu", "threads", machine.threads);
  field("cpu", "instruction_sets", machine.instruction_sets);
  field("cpu", "governor", machine.governor);
  field("cpu", "caches", machine.caches);
}

void read_value(const JsonPlace& place, std::string& value) { value = place.text(); }
void read_value(const JsonPlace& place, bool& value) { value = place.truth(); }
void read_value(const JsonPlace& place, double& value) { value = place.number(); }
void read_value(const JsonPlace& place, std::uint64_t& value) { value = place.whole<std::uint64_t>(); }
void read_value(const JsonPlace& place, RecordedCache& value) {
  value = {.level = place.at("level").whole<std::uint64_t>(),
           .type = place.at("type").text(),
           .bytes = place.at("bytes").whole<std::uint64_t>()};
}
void read_value(const JsonPlace& place, CompiledPtx& value) {
  value = {.compiler = place.at("compiler").text_or_empty(),
           .version = place.at("version").text_or_empty(),
           .sha256 = place.at("sha256").text_or_empty()};
}
void read_value(const JsonPlace& place, NamedTexts& value) {
  for (const auto& [name, text] : place.fields()) value.emplace_back(name, text.text());
}
template <typename T>
void read_value(const JsonPlace& place, std::vector<T>& values) {
  for (const JsonPlace& one : place.list()) read_value(one, values.emplace_back());
}

template <typename T>
void read_if_there(const JsonPlace& object, const char* name, std::optional<T>& value) {
  if (!object.is_null() && object.has(name)) read_value(object.at(name), value.emplace());
}

RecordedMachine read_machine(const JsonPlace& place) {
  RecordedMachine machine;
  for_each_fact_of_machine(machine, [&](const char* object, const char* name, auto& value) {
    read_if_there(place.at(object), name, value);
  });
  if (place.has("devices")) {
    for (const JsonPlace& one : place.at("devices").list()) {
      RecordedDevice& device = machine.devices.emplace_back();
      device.kind = one.at("kind").text_or_empty();
      if (one.has("facts")) read_value(one.at("facts"), device.facts);
    }
  }
  read_if_there(place, "libraries", machine.libraries);
  return machine;
}

template <typename T>
ordered_json json_of(const T& value) {
  return value;
}
ordered_json json_of(const std::vector<RecordedCache>& caches) {
  ordered_json list = ordered_json::array();
  for (const RecordedCache& one : caches) {
    list.push_back({{"level", one.level}, {"type", one.type}, {"bytes", one.bytes}});
  }
  return list;
}
ordered_json json_of(const std::vector<CompiledPtx>& ptx) {
  ordered_json list = ordered_json::array();
  for (const CompiledPtx& one : ptx) {
    list.push_back({{"compiler", one.compiler}, {"version", one.version}, {"sha256", one.sha256}});
  }
  return list;
}
ordered_json json_of(const NamedTexts& texts) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, text] : texts) object[name] = text;
  return object;
}

/// Writes the facts of the machine into `json`.
void write_machine(const RecordedMachine& machine, ordered_json& json) {
  for_each_fact_of_machine(machine, [&json](const char* object, const char* name, const auto& value) {
    if (value) json[object][name] = json_of(*value);
  });
  for (const RecordedDevice& one : machine.devices) {
    json["devices"].push_back({{"kind", one.kind}, {"facts", json_of(one.facts)}});
  }
  if (machine.libraries) json["libraries"] = json_of(*machine.libraries);
}

}  // namespace

RecordContext read_context(const JsonPlace& place) {
  RecordContext context;
  for_each_fact(context, [&](const char* object, const char* name, auto& value) {
    read_if_there(place.at(object), name, value);
  });
  read_if_there(place, "date", context.date);
  read_if_there(place, "seed", context.seed);
  context.machine = read_machine(place);
  if (place.has("machines")) {
    std::vector<RecordedMachine>& machines = context.machines.emplace();
    for (const JsonPlace& one : place.at("machines").list()) machines.push_back(read_machine(one));
  }
  if (place.has("sessions")) {
    for (const JsonPlace& one : place.at("sessions").list()) {
      context.machine_of_session.push_back(one.has("machine") ? std::optional(one.at("machine").whole<std::size_t>())
                                                              : std::nullopt);
    }
  }
  if (place.has("imported")) context.imported_from = printable(place.at("imported").at("from").text_or_empty());
  return context;
}

ordered_json context_json(const RecordContext& context) {
  ordered_json json = ordered_json::object();
  for_each_fact(context, [&json](const char* object, const char* name, const auto& value) {
    if (value) json[object][name] = json_of(*value);
  });
  if (context.date) json["date"] = *context.date;
  if (context.seed) json["seed"] = *context.seed;
  write_machine(context.machine, json);
  if (!context.machines) return json;
  json["machines"] = ordered_json::array();
  for (const RecordedMachine& one : *context.machines) {
    write_machine(one, json["machines"].emplace_back(ordered_json::object()));
  }
  json["sessions"] = ordered_json::array();
  for (const std::optional<std::size_t>& machine : context.machine_of_session) {
    ordered_json& session = json["sessions"].emplace_back(ordered_json::object());
    if (machine) session["machine"] = *machine;
  }
  return json;
}

}  // namespace convladder
