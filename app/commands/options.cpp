// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tessera::app {
namespace {

const OptionSpec* find(const Syntax& syntax, std::string_view name) {
  for (const OptionSpec& option : syntax.options)
    if (option.name == name) return &option;
  if (syntax.isVerb)
    for (const OptionSpec& option : globalOptions())
      if (option.name == name) return &option;
  return nullptr;
}

std::string flagOf(const OptionSpec& option) {
  return option.value.empty() ? "--" + option.name : "--" + option.name + " " + option.value;
}

}  // namespace

const std::vector<OptionSpec>& globalOptions() {
  static const std::vector<OptionSpec> options = {
      {"cluster", "NAME|FILE", "profile to use (default: the only one there is, else `local`)"},
      {"json", "", "print JSON instead of text"},
      {"help", "", "print this help"},
      {"version", "", "print the version"},
  };
  return options;
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
  if (!text) return fallback;
  std::int64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, failure] = std::from_chars(text->data(), end, number);
  if (failure != std::errc() || stop != end || number < least || number > most)
    return InvalidArgument(
        fmt::format("--{} '{}' is not a whole number from {} to {}", option, *text, least, most));
  return number;
}

Result<double> Arguments::number(std::string_view option, double fallback, double least,
                                 double most) const {
  const auto text = value(option);
  if (!text) return fallback;
  double number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, failure] = std::from_chars(text->data(), end, number);
  if (failure != std::errc() || stop != end || !(number >= least && number <= most))
    return InvalidArgument(
        fmt::format("--{} '{}' is not a number from {} to {}", option, *text, least, most));
  return number;
}

std::string Arguments::word(std::size_t index) const {
  return index < m_words.size() ? m_words[index] : std::string();
}

Result<Arguments> parseArguments(const Syntax& syntax, std::span<const std::string> words) {
  Arguments parsed;
  bool optionsEnded = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (optionsEnded || word.size() < 2 || word[0] != '-') {
      parsed.m_words.push_back(word);
      continue;
    }
    if (word == "--") {
      optionsEnded = true;
      continue;
    }
    const auto equals = word.find('=');
    const std::string name =
        word == "-h" ? "help" : word.substr(word.starts_with("--") ? 2 : 1, equals - 2);
    const OptionSpec* option =
        word.starts_with("--") || word == "-h" ? find(syntax, name) : nullptr;
    if (!option)
      return InvalidArgument(
          fmt::format("unknown option '{}' of `{}`", word.substr(0, equals), syntax.verb));
    std::string text;
    if (option->value.empty()) {
      if (equals != std::string::npos)
        return InvalidArgument(fmt::format("option '--{}' takes no value", name));
    } else if (equals != std::string::npos) {
      text = word.substr(equals + 1);
    } else {
      if (i + 1 == words.size())
        return InvalidArgument(fmt::format("option '--{}' needs a value {}", name, option->value));
      text = words[++i];
    }
    parsed.m_options[name].push_back(text);
  }
  if (parsed.has("help") || parsed.has("version")) return parsed;
  const auto required = static_cast<std::size_t>(
      std::ranges::count_if(syntax.words, [](const WordSpec& w) { return w.required; }));
  if (parsed.m_words.size() < required)
    return InvalidArgument(
        fmt::format("`{}` needs {}", syntax.verb, syntax.words[parsed.m_words.size()].name));
  if (parsed.m_words.size() > syntax.words.size())
    return InvalidArgument(fmt::format("unexpected word '{}' after `{}`",
                                       parsed.m_words[syntax.words.size()], syntax.verb));
  return parsed;
}

std::string describeOptions(const std::vector<OptionSpec>& options) {
  std::size_t width = 0;
  for (const OptionSpec& option : options) width = std::max(width, flagOf(option).size());
  std::string text;
  for (const OptionSpec& option : options)
    text += fmt::format("  {:<{}}  {}\n", flagOf(option), width, option.help);
  return text;
}

std::string helpOf(std::string_view program, const Syntax& syntax) {
  std::string text = program.empty() ? syntax.verb : fmt::format("{} {}", program, syntax.verb);
  for (const WordSpec& word : syntax.words)
    text += word.required ? " " + word.name : " [" + word.name + "]";
  if (!syntax.options.empty()) text += " [options]";
  text += "\n" + syntax.summary + "\n";
  if (!syntax.words.empty()) {
    text += "\n";
    for (const WordSpec& word : syntax.words)
      text += fmt::format("  {}  {}\n", word.name, word.help);
  }
  if (!syntax.options.empty()) text += "\noptions\n" + describeOptions(syntax.options);
  if (syntax.isVerb) text += "\noptions of every verb\n" + describeOptions(globalOptions());
  if (!syntax.notes.empty()) text += "\n";
  for (const std::string& note : syntax.notes) text += note + "\n";
  return text;
}

}  // namespace tessera::app
