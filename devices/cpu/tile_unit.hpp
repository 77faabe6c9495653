// Whether this process can use the tile registers of AMX, with bf16 numbers.
#pragma once

#include <string>

namespace convladder {

/// The unit that carries out tile instructions in this process.
enum class TileUnit { none, emulated, processor };

/// The processor's unit, where it has one and the system lets programs use it. CONVLADDER_AMX=emulated in the
/// environment asks for the emulation, on any processor.
TileUnit tile_unit();
/// Why there is no tile unit, in one line that says what can be done. Empty if there is one.
std::string why_no_tile_unit();
/// Asks the system for the tile registers, for all threads, before the first instruction that uses them. Does nothing
/// for an emulation. Throws DeviceError where the system refuses.
void require_tile_unit();
/// The tile unit in a few words for people: the processor's, emulated, or none.
std::string tile_unit_remark();

}  // namespace convladder
