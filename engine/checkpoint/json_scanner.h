// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A strict JSON reader (RFC 8259) that returns one token at a time. It builds no tree, so it needs
/// no memory beyond what its caller keeps. Every error names the byte.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// Reads `text` from its beginning. Not usable after an error.
class JsonScanner {
 public:
  /// `where` and `base` appear in errors: "'where' at byte base+position: …".
  JsonScanner(std::string_view text, std::string where, std::int64_t base = 0)
      : text_(text), where_(std::move(where)), base_(base) {}

  /// Reads an object. `member` is called after each key, with the position of the key, and reads
  /// the value. It decides whether a repeated key is an error.
  Status Object(const std::function<Status(std::string key, std::size_t at)>& member);
  /// Reads an array. `element` reads each value.
  Status Array(const std::function<Status()>& element);
  /// Reads a string of valid UTF-8 and resolves its escapes.
  Result<std::string> String();
  /// Reads a number without sign, fraction and exponent, at most 2^63-1.
  Result<std::int64_t> Count();
  /// Reads `null` if it is the next value, and returns whether it was.
  bool Null();
  /// Skips any value, at most 64 levels deep.
  Status Skip(int depth = 0);
  /// Checks that only white space is left.
  Status End();

  /// The offset of the next token in the text.
  std::size_t Position();
  Error Wrong(std::size_t at, std::string_view what) const;

 private:
  char Peek();  // skips white space and returns the next character; '\0' at the end
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

/// Appends a JSON string with its quotes. Escapes only the characters that the grammar requires.
void AppendJsonString(std::string& out, std::string_view text);

/// A name for an error message: at most 200 bytes, without control characters.
std::string Printable(std::string_view name);

}  // namespace tessera::checkpoint
