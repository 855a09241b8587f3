// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The option table: the words and options of a verb, as data. The parser, the help texts, the
/// shell completions, the man pages and the suggestions for misspelt words are all made from it.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::app {

/// An option: `--name VALUE` with a value, `--name` without one.
struct OptionSpec {
  std::string name;                       // without dashes
  std::string value;                      // placeholder, such as "N"; see `takesValue`
  std::string help;                       // a phrase without the default and without a full stop
  std::string fallback = {};              // the default, in words or as it would be typed
  char letter = 0;                        // 'o' for -o; 0: the option has no short form
  std::vector<std::string> choices = {};  // the only values that the parser accepts; empty: any
  bool repeats = false;                   // every value counts, not only the last one

  bool takesValue() const { return !value.empty() || !choices.empty(); }
  /// "N", "on|off"; empty for an option without a value.
  std::string placeholder() const;
};

/// A word of the command line that is not an option. Only the last one may be optional or repeat.
struct WordSpec {
  std::string name;  // "JOB"
  std::string help;  // a phrase
  bool required = true;
  bool repeats = false;
  std::vector<std::string> choices = {};  // as of OptionSpec
};

/// A table in the help of a verb: a term and its meaning in each row.
struct HelpSection {
  std::string title;
  std::vector<std::pair<std::string, std::string>> rows;
};

/// What a verb prints with --json.
enum class JsonForm : std::uint8_t {
  kDocument,   // one document
  kLines,      // a document per line, as they come
  kErrorsOnly  // text or a file for other programs; only errors are documents
};

/// What a verb accepts.
struct Syntax {
  std::string verb;     // "job start"
  std::string summary;  // "Start a model …": imperative, without a full stop
  std::vector<WordSpec> words = {};
  std::vector<OptionSpec> options = {};
  std::vector<std::string> notes = {};     // paragraphs after the options
  std::vector<std::string> examples = {};  // command lines, with the program's name
  std::vector<HelpSection> sections = {};
  bool isVerb = true;  // takes globalOptions() as well; false for a whole program
  JsonForm json = JsonForm::kDocument;
};

/// Options of every verb, before or after it.
const std::vector<OptionSpec>& globalOptions();
/// The options of `syntax` and the global ones that it does not describe itself. The help of --json
/// says what the verb prints.
std::vector<OptionSpec> allOptions(const Syntax& syntax);

// Options that several verbs have, with the same name and letter everywhere.
OptionSpec yesOption(std::string help = "do not ask");
OptionSpec quietOption();
OptionSpec forceOption(std::string help);
OptionSpec limitOption(std::string help, std::string fallback);
OptionSpec lanesOption();
OptionSpec outputOption(std::string help, std::string fallback);
OptionSpec followOption(std::string help);
/// `--earlier`, next to the name of a job.
OptionSpec earlierOption(std::string help);
/// `--names` of a list, for shell completion.
OptionSpec namesOption();

/// A command line after parsing.
class Arguments {
 public:
  bool has(std::string_view option) const;
  /// The value given last, or nullopt.
  std::optional<std::string> value(std::string_view option) const;
  std::string valueOr(std::string_view option, std::string fallback) const;
  /// Every value of an option that repeats, in order.
  std::vector<std::string> values(std::string_view option) const;
  /// \error kInvalidArgument naming option, text and range.
  Result<std::int64_t> integer(std::string_view option, std::int64_t fallback, std::int64_t least,
                               std::int64_t most) const;
  /// \error kInvalidArgument naming option, text and range.
  Result<double> number(std::string_view option, double fallback, double least, double most) const;
  /// The word at `index`, or an empty string.
  std::string word(std::size_t index) const;
  std::span<const std::string> words() const { return m_words; }
  std::size_t numWords() const { return m_words.size(); }

 private:
  friend class ArgumentParser;
  std::map<std::string, std::vector<std::string>, std::less<>> m_options;
  std::vector<std::string> m_words;
};

/// Parses what follows the verb. `--name=value`, `-nvalue` and `-n value` equal `--name value`;
/// `-yq` equals `-y -q`; `--` ends the options.
/// \error kInvalidArgument in one line naming the wrong word, the verb, and a similar option or
///     value if there is one.
Result<Arguments> parseArguments(const Syntax& syntax, std::span<const std::string> words);

/// Counts the words of the options before the first word that is not one.
/// \error as parseArguments.
Result<std::size_t> countLeadingOptions(const Syntax& syntax, std::span<const std::string> words);

}  // namespace tessera::app
