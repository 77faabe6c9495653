// Integer types derived from others: the unsigned type of the same width, the type of twice the width.
#pragma once

#include <cstdint>
#include <type_traits>

namespace convladder::simulated {

/// The unsigned type for arithmetic: PTX arithmetic wraps around, which C++ defines for unsigned types only.
template <typename T>
using Unsigned = std::make_unsigned_t<T>;

__extension__ using Signed128 = __int128;  // an extension that GCC and clang share
__extension__ using Unsigned128 = unsigned __int128;

template <typename T>
struct Wider;
template <>
struct Wider<std::int16_t> : std::type_identity<std::int32_t> {};
template <>
struct Wider<std::uint16_t> : std::type_identity<std::uint32_t> {};
template <>
struct Wider<std::int32_t> : std::type_identity<std::int64_t> {};
template <>
struct Wider<std::uint32_t> : std::type_identity<std::uint64_t> {};
template <>
struct Wider<std::int64_t> : std::type_identity<Signed128> {};
template <>
struct Wider<std::uint64_t> : std::type_identity<Unsigned128> {};

}  // namespace convladder::simulated
