// Reads the context of a record, and writes as much of it as was read.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/measure/records/record_context.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// Reads `context` of a record, with those of its fields that are there. Throws UserError for a field of the wrong
/// kind.
RecordContext read_context(const JsonPlace& place);

/// The context as JSON that `read_context` reads as the same, except for `imported_from`.
nlohmann::ordered_json context_json(const RecordContext& context);

}  // namespace convladder
