// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Numbers in the files of rules.h. They are written as numbers, or by the names that the tensors
/// file defines.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/json_reader.h"

namespace tessera::ptc {

/// The section `values` of a tensors file.
struct Values {
  std::string file;  // the name of the tensors file, for messages
  std::map<std::string, std::int64_t, std::less<>> by_name;
};
/// Reads the section; a file without it defines no names.
/// \error kInvalidArgument `FILE:LINE: …`
Result<Values> ReadValues(const NamedText& file, const JsonReader& tensors_file);

/// Reads a whole number, or a text such as "$heads" or "3*$width".
/// \error kInvalidArgument `FILE:LINE: …`
Result<std::int64_t> ReadNumber(const JsonReader& reader, const JsonValue& value,
                                std::string_view key, const Values& values);
Result<std::int64_t> ReadNumber(const JsonReader& reader, std::string_view key,
                                const Values& values);
/// Reads a list of such numbers.
Result<std::vector<std::int64_t>> ReadNumbers(const JsonReader& reader, std::string_view key,
                                              const Values& values);
/// The value of `$name`.
/// \error kInvalidArgument with the line of `at` if the tensors file does not define it
Result<std::int64_t> ValueOf(const JsonReader& reader, const JsonValue& at, std::string_view name,
                             const Values& values);

}  // namespace tessera::ptc
