// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A strict JSON reader (RFC 8259) that hands out one token at a time: it builds no tree, so what
/// it takes of memory is what its caller keeps, and every error names the byte.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// Reads `text` from its begin on. After an error the scanner is of no further use.
class JsonScanner {
 public:
  /// `where` and `base` stand in errors: "'where' at byte base+position: …".
  JsonScanner(std::string_view text, std::string where, std::int64_t base = 0)
      : text_(text), where_(std::move(where)), base_(base) {}

  /// Reads an object; `member` reads each value after its key and is told the key's position.
  /// Whether keys repeat is up to `member`.
  Status Object(const std::function<Status(std::string key, std::size_t at)>& member);
  /// Reads an array; `element` reads each value.
  Status Array(const std::function<Status()>& element);
  /// A string: valid UTF-8, with its escapes resolved.
  Result<std::string> String();
  /// A number without sign, fraction and exponent, at most 2^63-1.
  Result<std::int64_t> Count();
  /// Whether the next value is null, which is read then.
  bool Null();
  /// Any value, at most 64 deep.
  Status Skip(int depth = 0);
  /// Nothing but white space is left.
  Status End();

  /// Position of the next token, from the begin of the text.
  std::size_t Position();
  Error Wrong(std::size_t at, std::string_view what) const;

 private:
  char Peek();  // next character behind white space; '\0' at the end
  Status Expect(char wanted, std::string_view what);
  Status Escape(std::string& out);
  Result<std::uint32_t> Hex4();
  Status Number();
  void Digits();

  std::string_view text_;
  std::string where_;
  std::int64_t base_;
  std::size_t at_ = 0;
};

/// A JSON string with its quotes, escaped as few characters as the grammar allows.
void AppendJsonString(std::string& out, std::string_view text);

/// A name as it stands in an error: at most 200 bytes, without control characters.
std::string Printable(std::string_view name);

}  // namespace tessera::checkpoint
