// Whether this process can use the tile registers of AMX, with bf16 numbers.
#pragma once

#include <string>

namespace convladder {

/// What carries out tile instructions in this process.
enum class TileUnit { none, emulated, processor };

/// The processor's where it has them and the system lets programs use them. CONVLADDER_AMX=emulated in the environment
/// asks for the emulation, on any processor.
TileUnit tile_unit();
/// Why there are none, in one line that says what can be done. Empty otherwise.
std::string why_no_tile_unit();
/// Asks the system for the registers, which it gives to whoever asks: for all threads, before the first instruction.
/// Nothing for an emulation. Throws DeviceError where the system refuses.
void require_tile_unit();
/// For people, in a few words: the processor's, emulated, or none.
std::string tile_unit_remark();

}  // namespace convladder
