// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The table-driven parser of the command line: what a verb takes is data, from which both the
/// parser and `--help` are made.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::app {

/// `--name VALUE`, or a switch where `value` is empty.
struct OptionSpec {
  std::string name;   // without dashes
  std::string value;  // "N", "dp=2,tp=2"; empty: a switch
  std::string help;   // one line, with the default
};

/// A word that is not an option. Only the last one may be optional.
struct WordSpec {
  std::string name;  // "JOB"
  std::string help;
  bool required = true;
};

/// What a verb accepts.
struct Syntax {
  std::string verb;     // "job start"
  std::string summary;  // one line
  std::vector<WordSpec> words;
  std::vector<OptionSpec> options;
  std::vector<std::string> notes;  // further lines of --help
  bool isVerb = true;              // takes globalOptions() as well
};

/// Options that every verb takes, before or after it.
const std::vector<OptionSpec>& globalOptions();

/// A command line after parsing.
class Arguments {
 public:
  bool has(std::string_view option) const;
  /// The value given last, or nullopt.
  std::optional<std::string> value(std::string_view option) const;
  std::string valueOr(std::string_view option, std::string fallback) const;
  /// Every value of an option that may be repeated, in order.
  std::vector<std::string> values(std::string_view option) const;
  /// \error kInvalidArgument naming option, text and range.
  Result<std::int64_t> integer(std::string_view option, std::int64_t fallback, std::int64_t least,
                               std::int64_t most) const;
  /// \error the same.
  Result<double> number(std::string_view option, double fallback, double least, double most) const;
  /// The word at `index`, or an empty string.
  std::string word(std::size_t index) const;
  std::size_t numWords() const { return m_words.size(); }

 private:
  friend Result<Arguments> parseArguments(const Syntax&, std::span<const std::string>);
  std::map<std::string, std::vector<std::string>, std::less<>> m_options;
  std::vector<std::string> m_words;
};

/// Parses what follows the verb. `--name=value` equals `--name value`; `--` ends the options.
/// \error kInvalidArgument in one line naming the word that is wrong, and the verb.
Result<Arguments> parseArguments(const Syntax& syntax, std::span<const std::string> words);

/// The text of `PROGRAM VERB --help`; `program` is empty where the verb is the program.
std::string helpOf(std::string_view program, const Syntax& syntax);
/// Aligned lines `  --name VALUE  help`.
std::string describeOptions(const std::vector<OptionSpec>& options);

}  // namespace tessera::app
