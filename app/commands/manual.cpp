// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `manual`: writes the man pages.
#include "app/commands/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/commands/command.h"
#include "app/commands/help.h"
#include "app/commands/json.h"
#include "app/commands/panel_syntax.h"
#include "app/version.h"
#include "engine/files/whole_file.h"

namespace tessera::app {
namespace {

/// `text` for roff: a backslash or a leading dot would begin a request, a bare minus is a hyphen.
std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string pageName(std::string_view verb) {
  std::string name = verb.empty() ? "tesseractl" : fmt::format("tesseractl-{}", verb);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string head(const std::string& name, std::string_view summary) {
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string what(summary);
  what.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(what.front())));
  return fmt::format(".TH {} 1 \"\" \"Tessera {}\" \"Tessera Manual\"\n.SH NAME\n{} \\- {}\n",
                     roff(upper), roff(kVersion), roff(name), roff(what));
}

/// Tagged paragraphs: a term in bold, then its meaning, indented.
template <typename Rows>
std::string tagged(const Rows& rows) {
  std::string text;
  for (const auto& [term, meaning] : rows)
    text += fmt::format(".TP\n.B {}\n{}\n", roff(term), roff(meaning));
  return text;
}

std::vector<std::pair<std::string, std::string>> taggedOptions(
    const std::vector<OptionSpec>& options) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const OptionSpec& option : options) {
    std::string flags = flagsOf(option);
    flags.erase(0, flags.find_first_not_of(' '));
    rows.emplace_back(std::move(flags), describeOption(option));
  }
  return rows;
}

std::string section(std::string title, const std::string& body) {
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".SH {}\n{}", roff(title), body);
}

std::string pageOf(const Syntax& syntax) {
  const char* const program = syntax.isVerb ? "tesseractl" : "";
  std::string text = head(syntax.isVerb ? pageName(syntax.verb) : syntax.verb, syntax.summary);
  text += section("synopsis", fmt::format(".B {}\n", roff(usageOf(program, syntax))));
  std::string description = roff(syntax.summary) + ".\n";
  for (const std::string& note : syntax.notes) description += ".PP\n" + roff(note) + "\n";
  text += section("description", description);
  if (!syntax.words.empty()) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const WordSpec& word : syntax.words) rows.emplace_back(word.name, word.help);
    text += section("arguments", tagged(rows));
  }
  text += section("options",
                  tagged(taggedOptions(syntax.isVerb ? allOptions(syntax) : syntax.options)));
  for (const HelpSection& part : syntax.sections) text += section(part.title, tagged(part.rows));
  if (!syntax.examples.empty()) {
    std::string lines = ".nf\n";
    for (const std::string& example : syntax.examples) lines += roff(example) + "\n";
    text += section("examples", lines + ".fi\n");
  }
  return text + section("see also", ".BR tesseractl (1)\n");
}

std::string mainPage() {
  std::string text = head("tesseractl", "Move the state of a training job while the job runs");
  text += section("synopsis", ".B tesseractl\n[global options]\n.I verb\n[arguments]\n");
  text +=
      section("description",
              "Tessera keeps the state of a training job outside the job and moves it to other "
              "GPUs and another parallel configuration while the job runs. Each verb has a page "
              "of its own and an entry in\n.BR \"tesseractl help VERB\" .\n");
  for (const VerbGroup& group : verbGroups()) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const Command& command : group.commands)
      rows.emplace_back(command.syntax.verb, command.syntax.summary);
    text += section(group.title, tagged(rows));
  }
  text += section("global options", tagged(taggedOptions(globalOptions())));
  text += section("environment", tagged(environmentRows()));
  text += section("exit status", tagged(exitCodeRows()));
  std::vector<std::string> others;
  for (const Command& command : commands())
    others.push_back(fmt::format(".BR {} (1)", roff(pageName(command.syntax.verb))));
  return text + section("see also", fmt::format("{}\n", fmt::join(others, ",\n")));
}

/// The programs that users rarely start themselves. Their --help is their own.
std::vector<Syntax> startedPrograms() {
  const std::vector<OptionSpec> both = {
      {.name = "help", .value = "", .help = "print the options"},
      {.name = "version", .value = "", .help = "print the version"}};
  Syntax agent{
      .verb = "tessera-agent",
      .summary = "Run one node of a cluster",
      .options = both,
      .notes = {"Owns the memory of the node's GPUs (the keeper) and does the work on it (the "
                "agent, which is started again whenever it dies). `tesseractl up` starts one "
                "for each node, and the service tessera-agent.service one on its machine."},
      .examples = {"tessera-agent --config /etc/tessera/agent.json"},
      .isVerb = false};
  agent.options.insert(
      agent.options.begin(),
      {.name = "config",
       .value = "FILE",
       .help = "JSON: node, endpoints, lanes, GPUs and their memory, keys, registrar"});
  std::vector<Syntax> programs = {std::move(agent)};
#ifdef TESSERA_WITH_TRAINER
  programs.push_back(
      {.verb = "tessera-train",
       .summary = "Train the built-in model as one rank of a job",
       .options = both,
       .notes = {"An agent starts it: `tesseractl job start MODEL`. Without an agent "
                 "it trains as one process: tessera-train --solo MODEL --steps N."},
       .examples = {"tessera-train --solo gpt-nano --steps 20"},
       .isVerb = false});
#endif
#ifdef TESSERA_WITH_UI
  programs.push_back(panelSyntax());
#endif
  return programs;
}

int runManual(const Invocation& call) {
  const std::filesystem::path folder = call.arguments.word(0);
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    return failed(
        Unavailable(fmt::format("cannot make {}: {}", folder.string(), failure.message())));
  const auto pages = manualPages();
  for (const ManualPage& page : pages)
    if (const auto written = engine::WriteWholeFile(folder / page.file, page.text, 0644); !written)
      return failed(written.error());
  if (call.json)
    printLine({{"folder", folder.string()}, {"pages", pages.size()}});
  else
    fmt::print("{} pages in {}; `man -l {}/tesseractl.1` shows the first\n", pages.size(),
               folder.string(), folder.string());
  return kDone;
}

}  // namespace

std::vector<ManualPage> manualPages() {
  std::vector<ManualPage> pages = {{"tesseractl.1", mainPage()}};
  for (const Command& command : commands())
    pages.push_back({pageName(command.syntax.verb) + ".1", pageOf(command.syntax)});
  for (const Syntax& program : startedPrograms())
    pages.push_back({program.verb + ".1", pageOf(program)});
  return pages;
}

Command manualCommand() {
  return {{.verb = "manual",
           .summary = "Write the man pages of all verbs and programs",
           .words = {{"DIR", "folder for the pages; made if it is missing"}},
           .options = {quietOption()},
           .examples = {"tesseractl manual ~/.local/share/man/man1"}},
          runManual};
}

}  // namespace tessera::app
