// Machine code that holds the PTX it was made from: what `ptxas -lineinfo` writes for debuggers, and so nvcc -lineinfo,
// TileLang and, if it is asked to, the CuTe DSL.
//
// NVIDIA does not document the sections: `.nv_debug_ptx_txt` has the lines of the text, each ended by a zero, without
// comments and .loc, and `.nv_debug_line_sass` is a table of lines as DWARF 2 has them, from addresses to lines of that
// text. CUDA 12 and 13 write both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace convladder::stand_in {

/// The size of an ELF file of 64 bits from its header on, as the header says; 0 if there is no such header.
std::uint64_t machine_code_bytes(const void* header);

/// The PTX that machine code holds, with a .loc where the line of the source is known; empty if it holds none.
std::string ptx_in_machine_code(std::span<const std::byte> elf);

}  // namespace convladder::stand_in
