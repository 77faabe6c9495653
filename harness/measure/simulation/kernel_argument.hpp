// Kernel arguments as they are written on the command line.
//
//   [NAME=]TYPE:VALUE                     a number
//   [NAME=]bytes:@FILE                    a structure passed by value: the file's bytes
//   [NAME=]struct:{FIELD,…}               one written out, with the layout of C
//   [NAME=]tensor:@BUFFER:TYPE:SIZES:…    a tensor map: tensor_argument.hpp
//   [NAME=]@BUFFER[+BYTES]                an address in the buffer of that name
//   [NAME=]in:TYPE:CONTENT                a buffer on the device that the kernel reads
//   [NAME=]in:@FILE.npy                   the same, its type and shape from the file
//   [NAME=]inout:TYPE:CONTENT             a buffer whose values are shown afterwards as well
//   [NAME=]out:TYPE:SHAPE[=VALUE]         a buffer to be written: never initialised unless there is a value
//   [NAME=]texture,…:TYPE:CONTENT         a texture: see texture_argument.hpp; [NAME=]surface,…:TYPE:CONTENT
//
//   TYPE     i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64
//   CONTENT  1,2,3 | @FILE.bin | @FILE.npy | fill:SHAPE:VALUE | iota:SHAPE[:FIRST] | random:SHAPE[:SEED]
//   SHAPE    a number of elements, or several sizes: 64x32
//   FIELD    TYPE:VALUE | TYPE:[VALUE,…] | @BUFFER[+BYTES] | {FIELD,…}
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/simulation/structure_value.hpp"
#include "harness/measure/simulation/texture_argument.hpp"
#include "support/element_type.hpp"

namespace convladder {

enum class ArgumentKind { value, input, in_out, output };

struct KernelArgument {
  ArgumentKind kind = ArgumentKind::value;
  std::string text;                         ///< as written
  std::string name;                         ///< as given before '='; empty without it
  std::optional<ElementType> type;          ///< none for `bytes:`
  std::vector<std::size_t> shape;           ///< of a buffer, in elements; its last size varies fastest
  std::vector<std::byte> bytes;             ///< of the value, or the buffer's initial content; empty for one without
  std::vector<BufferAddress> addresses{};   ///< addresses that belong in the value
  std::optional<TextureRequest> texture{};  ///< set if the buffer is one of texels

  bool is_buffer() const { return kind != ArgumentKind::value; }
  /// The size of the device's buffer in bytes.
  std::size_t buffer_bytes() const;
};

/// Parses an argument. Also reads the files that are named. Throws UserError "--arg TEXT: what is wrong", or that of a
/// file.
KernelArgument parse_kernel_argument(const std::string& text, const std::string& option = "--arg");

/// Parses the value for a variable: TYPE:CONTENT, @FILE.npy, @BUFFER, struct: or bytes:. `text` is the whole value of
/// --set.
KernelArgument parse_variable_value(const std::string& text, const std::string& value);

/// Parses CONTENT with the type `type`, or an .npy file of any type; `what` begins messages.
KernelArgument parse_content(const std::string& what, ElementType type, const std::string& content);

}  // namespace convladder
