// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "app/version.h"

namespace tessera::app {
namespace {

std::size_t numWordsOf(const std::string& verb) {
  return static_cast<std::size_t>(std::ranges::count(verb, ' ')) + 1;
}

std::string verbAt(const std::vector<std::string>& words, std::size_t first, std::size_t count) {
  std::string verb;
  for (std::size_t i = first; i < std::min(words.size(), first + count); ++i)
    verb += (verb.empty() ? "" : " ") + words[i];
  return verb;
}

std::string generalHelp() {
  std::string text =
      "tesseractl [--cluster NAME|FILE] [--json] VERB ...\n"
      "Moves the state of a training job to other devices while the job lives.\n\nverbs\n";
  std::size_t width = 0;
  const auto lineOf = [](const Syntax& syntax) {
    std::string line = syntax.verb;
    for (const WordSpec& word : syntax.words)
      line += word.required ? " " + word.name : " [" + word.name + "]";
    return line;
  };
  for (const Command& command : commands()) width = std::max(width, lineOf(command.syntax).size());
  for (const Command& command : commands())
    text += fmt::format("  {:<{}}  {}\n", lineOf(command.syntax), width, command.syntax.summary);
  text += "\noptions of every verb\n" + describeOptions(globalOptions());
  text +=
      "\nexit codes: 0 done; 1 failed or rolled back, nothing changed; 2 wrong usage; 3 needs a "
      "decision\n"
      "TESSERA_HOME holds profiles, keys, history and logs (default $XDG_DATA_HOME/tessera)\n";
  return text;
}

/// Splits options that stand before the verb from the rest.
/// \error kInvalidArgument for an option that is not one of globalOptions().
Result<std::size_t> verbStart(const std::vector<std::string>& words) {
  std::size_t i = 0;
  while (i < words.size() && words[i].starts_with("-")) {
    const std::string& word = words[i];
    const std::string name = word.substr(0, word.find('='));
    const auto option = std::ranges::find_if(globalOptions(), [&](const OptionSpec& o) {
      return name == "--" + o.name || (name == "-h" && o.name == "help");
    });
    if (option == globalOptions().end())
      return InvalidArgument(fmt::format("unknown option '{}'", name));
    const bool takesNext = !option->value.empty() && name.size() == word.size();
    if (takesNext && i + 1 == words.size())
      return InvalidArgument(fmt::format("option '{}' needs a value {}", name, option->value));
    i += takesNext ? 2 : 1;
  }
  return i;
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      upCommand(),          downCommand(),          statusCommand(),
      logsCommand(),        doctorCommand(),        explainCommand(),
      probeCommand(),       keysNewCommand(),       keysListCommand(),
      keysRevokeCommand(),  nodeSetupCommand(),     profileAddCommand(),
      profileListCommand(), profileRemoveCommand(), jobStartCommand(),
      jobStopCommand(),     jobPauseCommand(),      jobResumeCommand(),
      jobMetricsCommand(),  jobTuneCommand(),       proposeCommand(),
      rulesCheckCommand(),  rulesListCommand(),     rulesShowCommand(),
      modelsListCommand(),  modelsShowCommand(),    topologyCommand(),
      planCommand(),        applyCommand(),         txnShowCommand(),
      txnCancelCommand(),   deviceFailCommand(),    nodeKillCommand(),
      digestCommand(),      historyCommand(),       eventsCommand(),
      exportCommand(),      reshardCommand(),       inspectCommand(),
      compareCommand(),     dataShowCommand(),      experimentConsistencyCommand(),
#ifdef TESSERA_WITH_FUSE
      mountCommand(),       unmountCommand(),
#endif
  };
  return all;
}

int failed(const Error& error) {
  fmt::print(stderr, "tesseractl: {}\n", error.ToString());
  return kFailed;
}

int wrongUsage(const Error& error) {
  failed(error);
  return kUsage;
}

int runCommandLine(const std::vector<std::string>& words) {
  const auto start = verbStart(words);
  if (!start) return wrongUsage(start.error());
  const std::vector<std::string> before(words.begin(),
                                        words.begin() + static_cast<std::ptrdiff_t>(*start));
  const auto global = parseArguments(Syntax{"tesseractl", "", {}, {}, {}}, before);
  if (!global) return wrongUsage(global.error());
  if (global->has("version")) {
    fmt::print("tesseractl {}\n", kVersion);
    return kDone;
  }
  if (*start == words.size()) {
    if (global->has("help")) {
      fmt::print("{}", generalHelp());
      return kDone;
    }
    return wrongUsage(InvalidArgument("no verb given; `tesseractl --help` lists them"));
  }

  const auto command = std::ranges::find_if(commands(), [&](const Command& c) {
    return verbAt(words, *start, numWordsOf(c.syntax.verb)) == c.syntax.verb;
  });
  if (command == commands().end()) {
    std::string known;
    for (const Command& c : commands())
      if (c.syntax.verb.starts_with(words[*start] + " "))
        known += (known.empty() ? "" : ", ") + c.syntax.verb.substr(words[*start].size() + 1);
    if (known.empty())
      return wrongUsage(InvalidArgument(
          fmt::format("unknown verb '{}'; `tesseractl --help` lists them", words[*start])));
    const std::string what =
        *start + 1 < words.size()
            ? fmt::format("unknown verb '{} {}'", words[*start], words[*start + 1])
            : fmt::format("`{}` needs one more word", words[*start]);
    return wrongUsage(InvalidArgument(fmt::format("{}; there are: {}", what, known)));
  }

  std::vector<std::string> rest = before;  // options before the verb count as well
  rest.insert(
      rest.end(),
      words.begin() + static_cast<std::ptrdiff_t>(*start + numWordsOf(command->syntax.verb)),
      words.end());
  auto arguments = parseArguments(command->syntax, rest);
  if (!arguments) return wrongUsage(arguments.error());
  if (arguments->has("help")) {
    fmt::print("{}", helpOf("tesseractl", command->syntax));
    return kDone;
  }
  if (arguments->has("version")) {
    fmt::print("tesseractl {}\n", kVersion);
    return kDone;
  }
  Invocation call;
  call.json = arguments->has("json");
  call.cluster = arguments->valueOr("cluster", "");
  call.arguments = std::move(*arguments);
  return command->run(call);
}

}  // namespace tessera::app
