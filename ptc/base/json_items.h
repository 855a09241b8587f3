// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads a text that is mostly one long list, without keeping the list.

#include <functional>
#include <string_view>

#include "ptc/base/json_reader.h"

namespace tessera {

/// What happens to the items of the list that is the member `key` of the outermost object.
struct JsonItems {
  std::string_view key;
  std::function<void(const JsonValue&)> take;
};

/// Parses a whole text like ParseJson. `items.take` gets each item of the list when it has been
/// read, in order; in the result the list is empty. Items may be taken before an error is found.
/// \error as ParseJson
Result<JsonValue> ParseJsonItems(const NamedText& file, const JsonItems& items);

}  // namespace tessera
