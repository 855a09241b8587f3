// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `help`, and the texts of `--help`.
#include "app/commands/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/commands/suggest.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

constexpr std::size_t kHelpWidth = 80;
constexpr std::size_t kMostTermWidth = 26;

/// Breaks `text` into lines that end before column kHelpWidth. All lines begin at `indent`; the
/// caller has printed the first line up to there.
std::string wrapAt(std::size_t indent, std::string_view text) {
  std::string lines;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    const std::size_t width = displayWidth(word);
    if (column > indent && column + 1 + width > kHelpWidth) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      lines += " ";
      ++column;
    }
    lines += word;
    column += width;
  }
  return lines + "\n";
}

using Rows = std::vector<std::pair<std::string, std::string>>;

/// "  TERM  what it means", aligned; a long term has its meaning on the next line.
std::string describeRows(const Rows& rows) {
  std::size_t width = 0;
  for (const auto& [term, meaning] : rows)
    if (displayWidth(term) <= kMostTermWidth) width = std::max(width, displayWidth(term));
  std::string text;
  for (const auto& [term, meaning] : rows) {
    text += "  " + term;
    const std::size_t indent = width + 4;
    if (displayWidth(term) > width)
      text += "\n" + std::string(indent, ' ');
    else
      text += std::string(indent - 2 - displayWidth(term), ' ');
    text += wrapAt(indent, meaning);
  }
  return text;
}

std::string titled(std::string_view title, const std::string& body) {
  return fmt::format("\n{}\n{}", paint(Paint::kBold, fmt::format("{}:", title)), body);
}

Rows optionRows(const std::vector<OptionSpec>& options) {
  Rows rows;
  for (const OptionSpec& option : options)
    rows.emplace_back(flagsOf(option), describeOption(option));
  return rows;
}

Rows globalRows(const Syntax& syntax) {
  std::vector<OptionSpec> globals;
  for (const OptionSpec& option : allOptions(syntax))
    if (std::ranges::count(syntax.options, option.name, &OptionSpec::name) == 0)
      globals.push_back(option);
  return optionRows(globals);
}

int runHelp(const Invocation& call) {
  if (call.arguments.numWords() == 0) {
    fmt::print("{}", generalHelp());
    return kDone;
  }
  const std::string verb = fmt::format("{}", fmt::join(call.arguments.words(), " "));
  if (const Command* command = findCommand(verb)) {
    fmt::print("{}", helpOf("tesseractl", command->syntax));
    return kDone;
  }
  const std::string text = helpOfPrefix(verb);
  if (text.empty()) return wrongUsage(unknownVerb(verb));
  fmt::print("{}", text);
  return kDone;
}

}  // namespace

std::string usageOf(std::string_view program, const Syntax& syntax) {
  std::string text = program.empty() ? syntax.verb : fmt::format("{} {}", program, syntax.verb);
  for (const WordSpec& word : syntax.words) {
    const std::string name = word.name + (word.repeats ? "..." : "");
    text += word.required ? " " + name : " [" + name + "]";
  }
  return text + (syntax.options.empty() ? "" : " [options]");
}

std::string flagsOf(const OptionSpec& option) {
  const std::string letter = option.letter == 0 ? "    " : fmt::format("-{}, ", option.letter);
  return fmt::format("{}--{}{}{}", letter, option.name, option.takesValue() ? " " : "",
                     option.placeholder());
}

std::string describeOption(const OptionSpec& option) {
  return fmt::format("{}{}{}", option.help, option.repeats ? "; may be repeated" : "",
                     option.fallback.empty() ? "" : fmt::format(" (default: {})", option.fallback));
}

std::string helpOf(std::string_view program, const Syntax& syntax) {
  std::string text =
      fmt::format("{} {}\n\n", paint(Paint::kBold, "Usage:"), usageOf(program, syntax));
  text += wrapAt(0, syntax.summary + ".");
  if (!syntax.words.empty()) {
    Rows rows;
    for (const WordSpec& word : syntax.words)
      rows.emplace_back(word.name,
                        word.choices.empty()
                            ? word.help
                            : fmt::format("{}: {}", word.help, fmt::join(word.choices, ", ")));
    text += titled("Arguments", describeRows(rows));
  }
  if (!syntax.options.empty()) text += titled("Options", describeRows(optionRows(syntax.options)));
  if (syntax.isVerb) text += titled("Global options", describeRows(globalRows(syntax)));
  for (const HelpSection& section : syntax.sections)
    text += titled(section.title, describeRows(section.rows));
  for (const std::string& note : syntax.notes) text += "\n" + wrapAt(0, note);
  if (!syntax.examples.empty()) {
    std::string lines;
    for (const std::string& example : syntax.examples) lines += "  " + example + "\n";
    text += titled("Examples", lines);
  }
  return text;
}

std::string generalHelp() {
  std::string text = fmt::format("{} tesseractl [global options] VERB [arguments]\n\n",
                                 paint(Paint::kBold, "Usage:"));
  text += wrapAt(0, "Move the state of a training job to other GPUs while the job runs.");
  for (const VerbGroup& group : verbGroups()) {
    Rows rows;
    for (const Command& command : group.commands)
      rows.emplace_back(command.syntax.verb, command.syntax.summary);
    text += titled(group.title, describeRows(rows));
  }
  text += titled("Global options", describeRows(optionRows(globalOptions())));
  text += titled("Environment", describeRows(environmentRows()));
  text += titled("Exit codes", describeRows(exitCodeRows()));
  text += "\n" + wrapAt(0, "`tesseractl help VERB` describes a verb with examples.");
  return text;
}

std::string helpOfPrefix(std::string_view prefix) {
  Rows rows;
  for (const Command& command : commands())
    if (command.syntax.verb.starts_with(fmt::format("{} ", prefix)))
      rows.emplace_back(command.syntax.verb, command.syntax.summary);
  if (rows.empty()) return {};
  return fmt::format("{} tesseractl {} VERB [arguments]\n", paint(Paint::kBold, "Usage:"), prefix) +
         titled("Verbs", describeRows(rows)) + "\n" +
         wrapAt(0,
                fmt::format("`tesseractl help {} VERB` describes a verb with examples.", prefix));
}

Command helpCommand() {
  return {{.verb = "help",
           .summary = "Describe a verb, or list all verbs",
           .words = {{"VERB", "verb, or its first word", false, true}},
           .examples = {"tesseractl help", "tesseractl help job", "tesseractl help job start"},
           .json = JsonForm::kErrorsOnly},
          runHelp};
}

}  // namespace tessera::app
