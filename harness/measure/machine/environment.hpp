// The facts besides the code that a result depends on: program, host, processor, devices, libraries.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/measure/machine/program_facts.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// `context.program`, `.host`, `.cpu`, `.devices` and `.libraries` of the record.
nlohmann::ordered_json environment_json();
/// These facts as JSON on several lines, and as lines for people.
std::string environment_json_text();
std::string environment_text();

/// `context.program`, of any build.
nlohmann::ordered_json program_json(const ProgramFacts& program = this_program());
/// Reads what `program_json` of another build wrote, which may have other fields. Throws UserError.
ProgramFacts read_program(const JsonPlace& place);

/// The scheduler's name for this machine (SLURMD_NODENAME), otherwise the host's name.
std::string node_name();
/// Which machine this is: {"node", "host", "cpu", "devices", "libraries"}.
nlohmann::ordered_json machine_json();
/// The part of such a machine that has to be the same where the figures of two are compared: processor, governor, GPUs
/// with their settings, libraries; but not which one of its kind it is.
nlohmann::ordered_json machine_kind(const nlohmann::ordered_json& machine);

/// The host's name, made fit for a folder name.
std::string host_name();

/// Now, as "2026-01-31T23:59:59Z".
std::string utc_now();
/// Now in local time, as "20260131-235959": for folder names.
std::string local_time_for_names();

}  // namespace convladder
