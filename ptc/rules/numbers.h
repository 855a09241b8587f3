// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Numbers in the files of rules.h: as such, or by the names that the tensors file gives them.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/rules/json_text.h"

namespace tessera::ptc {

/// The section `values` of a tensors file.
struct Values {
  std::string file;  // its name, for messages
  std::map<std::string, std::int64_t, std::less<>> by_name;
};
/// Reads the section, where there is one. \error kInvalidArgument `FILE:LINE: …`
Result<Values> ReadValues(const NamedText& file, const ObjectReader& tensors_file);

/// A whole number, or a text such as "$heads" or "3*$width". \error kInvalidArgument `FILE:LINE: …`
Result<std::int64_t> ReadNumber(const ObjectReader& reader, const JsonValue& value,
                                std::string_view key, const Values& values);
Result<std::int64_t> ReadNumber(const ObjectReader& reader, std::string_view key,
                                const Values& values);
/// A list of them.
Result<std::vector<std::int64_t>> ReadNumbers(const ObjectReader& reader, std::string_view key,
                                              const Values& values);
/// What `$name` stands for; the error is of the line of `at`.
Result<std::int64_t> ValueOf(const ObjectReader& reader, const JsonValue& at, std::string_view name,
                             const Values& values);

}  // namespace tessera::ptc
