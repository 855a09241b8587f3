// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "app/commands/suggest.h"

namespace tessera::app {
namespace {

/// "`job start`", or "`tesseractl`" where no verb is known yet.
std::string quotedVerb(const Syntax& syntax) { return fmt::format("`{}`", syntax.verb); }

Status checkChoice(std::string_view what, const std::vector<std::string>& choices,
                   const std::string& text) {
  if (choices.empty() || std::ranges::count(choices, text) > 0) return OkStatus();
  return InvalidArgument(fmt::format("{} '{}' is not one of {}{}", what, text,
                                     fmt::join(choices, ", "), didYouMean(text, choices)));
}

template <typename Number>
Result<Number> parseWithin(std::string_view option, const std::string& text, const char* kind,
                           Number least, Number most) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stop != end || !(number >= least && number <= most))
    return InvalidArgument(
        fmt::format("--{} '{}' is not a {} from {} to {}", option, text, kind, least, most));
  return number;
}

}  // namespace

/// One pass over a command line.
class ArgumentParser {
 public:
  explicit ArgumentParser(const Syntax& syntax) : m_syntax(syntax), m_options(allOptions(syntax)) {}

  static bool isOption(const std::string& word) { return word.size() >= 2 && word[0] == '-'; }

  /// Reads the option at `words[at]` with its value.
  /// \return how many words it has
  Result<std::size_t> readOption(std::span<const std::string> words, std::size_t at) {
    return words[at].starts_with("--") ? readLong(words, at) : readLetters(words, at);
  }

  Result<Arguments> readAll(std::span<const std::string> words) {
    bool optionsEnded = false;
    for (std::size_t i = 0; i < words.size();) {
      if (optionsEnded || !isOption(words[i])) {
        m_parsed.m_words.push_back(words[i++]);
      } else if (words[i] == "--") {
        optionsEnded = true;
        ++i;
      } else {
        TESSERA_TRY(const std::size_t count, readOption(words, i));
        i += count;
      }
    }
    if (!m_parsed.has("help") && !m_parsed.has("version")) TESSERA_RETURN_IF_ERROR(checkWords());
    return m_parsed;
  }

 private:
  const OptionSpec* find(std::string_view name) const {
    const auto it = std::ranges::find(m_options, name, &OptionSpec::name);
    return it == m_options.end() ? nullptr : &*it;
  }

  Error unknown(const std::string& word) const {
    std::vector<std::string> known;
    for (const OptionSpec& option : m_options) known.push_back("--" + option.name);
    // `up` takes a number of GPUs, verbs of jobs take their names.
    const std::string_view other = word == "--devices" ? "--gpus"
                                   : word == "--gpus"  ? "--devices"
                                                       : "";
    const bool isOther = std::ranges::find(known, other) != known.end();
    return InvalidArgument(
        fmt::format("unknown option '{}' of {}{}", word, quotedVerb(m_syntax),
                    isOther ? fmt::format("; did you mean {}?", other) : didYouMean(word, known)));
  }

  Status take(const OptionSpec& option, std::string text) {
    if (option.takesValue())
      TESSERA_RETURN_IF_ERROR(checkChoice("--" + option.name, option.choices, text));
    m_parsed.m_options[option.name].push_back(std::move(text));
    return OkStatus();
  }

  static Error noValue(const std::string& word, const OptionSpec& option) {
    return InvalidArgument(fmt::format("option '{}' needs a value {}", word, option.placeholder()));
  }

  Result<std::size_t> readLong(std::span<const std::string> words, std::size_t at) {
    const std::string& word = words[at];
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const OptionSpec* option = find(std::string_view(name).substr(2));
    if (option == nullptr) return unknown(name);
    const bool inside = equals != std::string::npos;
    if (!option->takesValue()) {
      if (inside) return InvalidArgument(fmt::format("option '{}' takes no value", name));
      TESSERA_RETURN_IF_ERROR(take(*option, ""));
      return std::size_t{1};
    }
    if (!inside && at + 1 == words.size()) return noValue(name, *option);
    TESSERA_RETURN_IF_ERROR(take(*option, inside ? word.substr(equals + 1) : words[at + 1]));
    return std::size_t{inside ? 1U : 2U};
  }

  Result<std::size_t> readLetters(std::span<const std::string> words, std::size_t at) {
    const std::string& word = words[at];
    for (std::size_t i = 1; i < word.size(); ++i) {
      const auto option = std::ranges::find(m_options, word[i], &OptionSpec::letter);
      if (option == m_options.end()) return unknown(word);
      if (!option->takesValue()) {
        TESSERA_RETURN_IF_ERROR(take(*option, ""));
        continue;
      }
      const bool inside = i + 1 < word.size();
      if (!inside && at + 1 == words.size())
        return noValue(fmt::format("-{}", option->letter), *option);
      TESSERA_RETURN_IF_ERROR(take(*option, inside ? word.substr(i + 1) : words[at + 1]));
      return std::size_t{inside ? 1U : 2U};
    }
    return std::size_t{1};
  }

  Status checkWords() const {
    const auto& words = m_parsed.m_words;
    const auto required =
        static_cast<std::size_t>(std::ranges::count(m_syntax.words, true, &WordSpec::required));
    if (words.size() < required)
      return InvalidArgument(
          fmt::format("{} needs {}", quotedVerb(m_syntax), m_syntax.words[words.size()].name));
    const bool repeats = !m_syntax.words.empty() && m_syntax.words.back().repeats;
    if (words.size() > m_syntax.words.size() && !repeats)
      return InvalidArgument(fmt::format("unexpected word '{}' after {}",
                                         words[m_syntax.words.size()], quotedVerb(m_syntax)));
    for (std::size_t i = 0; i < words.size(); ++i) {
      const WordSpec& spec = m_syntax.words[std::min(i, m_syntax.words.size() - 1)];
      // As of a variable of a script that is not set. Those that repeat may be of a program.
      if (words[i].empty() && !spec.repeats)
        return InvalidArgument(
            fmt::format("{} needs {}, not an empty word", quotedVerb(m_syntax), spec.name));
      TESSERA_RETURN_IF_ERROR(checkChoice(spec.name, spec.choices, words[i]));
    }
    return OkStatus();
  }

  const Syntax& m_syntax;
  std::vector<OptionSpec> m_options;
  Arguments m_parsed;
};

std::string OptionSpec::placeholder() const {
  return value.empty() ? fmt::format("{}", fmt::join(choices, "|")) : value;
}

const std::vector<OptionSpec>& globalOptions() {
  static const std::vector<OptionSpec> options = {
      {.name = "cluster",
       .value = "NAME|FILE",
       .help = "cluster to use: a profile's name or file",
       .fallback = "$TESSERA_CLUSTER, then `profile use`, then the only profile, then local"},
      {.name = "timeout",
       .value = "SECONDS",
       .help = "how long to wait for an answer of the cluster",
       .fallback = "10, and longer for what waits for a job"},
      {.name = "color",
       .value = "",
       .help = "colour the output",
       .fallback = "auto: on a terminal, unless NO_COLOR is set",
       .choices = {"auto", "always", "never"}},
      {.name = "json", .value = "", .help = "print JSON instead of text, also for errors"},
      {.name = "help", .value = "", .help = "print this help", .letter = 'h'},
      {.name = "version", .value = "", .help = "print the version"},
  };
  return options;
}

namespace {

std::string helpOfJson(JsonForm form) {
  switch (form) {
    case JsonForm::kDocument:
      return "print one JSON document instead of text, also for errors";
    case JsonForm::kLines:
      return "print JSON instead of text, one document per line, also for errors";
    case JsonForm::kErrorsOnly:
      return "print errors as JSON";
  }
  return {};
}

}  // namespace

std::vector<OptionSpec> allOptions(const Syntax& syntax) {
  std::vector<OptionSpec> options = syntax.options;
  if (!syntax.isVerb) return options;
  for (const OptionSpec& global : globalOptions())
    if (std::ranges::count(syntax.options, global.name, &OptionSpec::name) == 0)
      options.push_back(global);
  for (OptionSpec& option : options)
    if (option.name == "json" && !syntax.verb.empty()) option.help = helpOfJson(syntax.json);
  return options;
}

OptionSpec yesOption(std::string help) {
  return {.name = "yes", .value = "", .help = std::move(help), .letter = 'y'};
}
OptionSpec quietOption() {
  return {.name = "quiet", .value = "", .help = "print errors only", .letter = 'q'};
}
OptionSpec forceOption(std::string help) {
  return {.name = "force", .value = "", .help = std::move(help), .letter = 'f'};
}
OptionSpec limitOption(std::string help, std::string fallback) {
  return {.name = "limit",
          .value = "N",
          .help = std::move(help),
          .fallback = std::move(fallback),
          .letter = 'n'};
}
OptionSpec outputOption(std::string help, std::string fallback) {
  return {.name = "output",
          .value = "FILE",
          .help = std::move(help),
          .fallback = std::move(fallback),
          .letter = 'o'};
}
OptionSpec lanesOption() {
  return {.name = "lanes",
          .value = "",
          .help =
              "encryption of bulk data between nodes; `plain` is faster, for a network that you "
              "trust",
          .fallback = "curve",
          .choices = {"curve", "plain"}};
}
OptionSpec followOption(std::string help) {
  return {.name = "follow", .value = "", .help = std::move(help), .letter = 'f'};
}

OptionSpec earlierOption(std::string help) {
  return {.name = "earlier", .value = "", .help = std::move(help)};
}

OptionSpec namesOption() {
  return {.name = "names", .value = "", .help = "print the names only, one per line"};
}

bool Arguments::has(std::string_view option) const {
  return m_options.find(option) != m_options.end();
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto it = m_options.find(option);
  if (it == m_options.end()) return std::nullopt;
  return it->second.back();
}

std::string Arguments::valueOr(std::string_view option, std::string fallback) const {
  return value(option).value_or(std::move(fallback));
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  const auto it = m_options.find(option);
  return it == m_options.end() ? std::vector<std::string>() : it->second;
}

Result<std::int64_t> Arguments::integer(std::string_view option, std::int64_t fallback,
                                        std::int64_t least, std::int64_t most) const {
  const auto text = value(option);
  return text ? parseWithin(option, *text, "whole number", least, most) : fallback;
}

Result<double> Arguments::number(std::string_view option, double fallback, double least,
                                 double most) const {
  const auto text = value(option);
  return text ? parseWithin(option, *text, "number", least, most) : fallback;
}

std::string Arguments::word(std::size_t index) const {
  return index < m_words.size() ? m_words[index] : std::string();
}

Result<Arguments> parseArguments(const Syntax& syntax, std::span<const std::string> words) {
  return ArgumentParser(syntax).readAll(words);
}

Result<std::size_t> countLeadingOptions(const Syntax& syntax, std::span<const std::string> words) {
  ArgumentParser parser(syntax);
  std::size_t i = 0;
  while (i < words.size() && ArgumentParser::isOption(words[i])) {
    TESSERA_TRY(const std::size_t count, parser.readOption(words, i));
    i += count;
  }
  return i;
}

}  // namespace tessera::app
