// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `completion`: a script that completes command lines in bash, zsh or fish.
#include "app/commands/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "app/commands/command.h"
#include "app/commands/help.h"
#include "app/commands/shell_words.h"
#include "engine/model/gpt.h"
#include "engine/model/large_models.h"

namespace tessera::app {
namespace {

/// The meaning of a placeholder of the table, as far as a shell can complete it.
enum class Completes {
  kNothing,
  kFiles,
  kFolders,
  kNames,     // of a list
  kNameList,  // of the same, several between commas
  kModels     // that a job can run, or a program's file
};

struct PlaceholderKind {
  std::string_view placeholder;
  Completes completes;
  std::string_view verb = {};  // kNames, kNameList: the verb whose --names prints them
};

constexpr std::array kPlaceholderKinds = {
    PlaceholderKind{"FILE", Completes::kFiles},
    PlaceholderKind{"PATH", Completes::kFiles},
    PlaceholderKind{"KEY|FILE", Completes::kFiles},
    PlaceholderKind{"FILE|NxM", Completes::kFiles},
    PlaceholderKind{"SRC", Completes::kFiles},
    PlaceholderKind{"DST", Completes::kFiles},
    PlaceholderKind{"A", Completes::kFiles},
    PlaceholderKind{"B", Completes::kFiles},
    PlaceholderKind{"DIR", Completes::kFolders},
    PlaceholderKind{"JOB", Completes::kNames, "job list"},
    PlaceholderKind{"NODE", Completes::kNames, "status"},
    PlaceholderKind{"DEVICE", Completes::kNames, "topology"},
    PlaceholderKind{"LIST", Completes::kNameList, "topology"},
    PlaceholderKind{"ID", Completes::kNames, "history"},
    PlaceholderKind{"MODEL|SCRIPT", Completes::kModels},
    PlaceholderKind{"CLUSTER", Completes::kNames, "profile list"},
    PlaceholderKind{"PROFILE", Completes::kNames, "profile list"},
    PlaceholderKind{"NAME|FILE", Completes::kNames, "profile list"},
    PlaceholderKind{"LESSON", Completes::kNames, "lesson list"},
    PlaceholderKind{"MODEL", Completes::kNames, "models list"},
    PlaceholderKind{"RULES", Completes::kNames, "rules list"},
};

PlaceholderKind kindOf(std::string_view placeholder) {
  const auto it = std::ranges::find(kPlaceholderKinds, placeholder, &PlaceholderKind::placeholder);
  return it == kPlaceholderKinds.end() ? PlaceholderKind{placeholder, Completes::kNothing} : *it;
}

/// Options of a verb as a shell types them: "--output", "-o".
std::vector<std::string> spellings(const OptionSpec& option) {
  std::vector<std::string> names = {"--" + option.name};
  if (option.letter != 0) names.push_back(fmt::format("-{}", option.letter));
  return names;
}

/// The words that may come first, or second behind `first`.
std::set<std::string> verbWords(const std::string& first = {}) {
  std::set<std::string> words;
  for (const Command& command : commands()) {
    const std::string& verb = command.syntax.verb;
    const auto space = verb.find(' ');
    if (first.empty())
      words.insert(verb.substr(0, space));
    else if (space != std::string::npos && verb.substr(0, space) == first)
      words.insert(verb.substr(space + 1));
  }
  return words;
}

/// The models of `job start`, between blanks.
std::string jobModels() {
  std::vector<std::string> names = engine::ModelNames();
  std::ranges::copy(engine::LargeModelNames(), std::back_inserter(names));
  return fmt::format("{}", fmt::join(names, " "));
}

/// "job_list", of which names of functions are made.
std::string underscored(std::string_view verb) {
  std::string name(verb);
  std::ranges::replace(name, ' ', '_');
  return name;
}

/// The bash command that fills COMPREPLY for a value.
std::string bashValue(const std::string& placeholder, const std::vector<std::string>& choices) {
  if (!choices.empty())
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", fmt::join(choices, " "));
  const PlaceholderKind kind = kindOf(placeholder);
  switch (kind.completes) {
    case Completes::kFiles:
      return "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\"))";
    case Completes::kFolders:
      return "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$cur\"))";
    case Completes::kNames:
      return fmt::format("_tesseractl_names {}", kind.verb);
    case Completes::kNameList:
      return fmt::format("_tesseractl_name_list {}", kind.verb);
    case Completes::kModels:
      return fmt::format(
          "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -W '{}' -- \"$cur\") $(compgen "
          "-f "
          "-- \"$cur\"))",
          jobModels());
    case Completes::kNothing:
      return ":";
  }
  return ":";
}

std::string zshValue(const std::string& placeholder, const std::vector<std::string>& choices) {
  if (!choices.empty()) return fmt::format("({})", fmt::join(choices, " "));
  const PlaceholderKind kind = kindOf(placeholder);
  switch (kind.completes) {
    case Completes::kFiles:
      return "_files";
    case Completes::kFolders:
      return "_files -/";
    case Completes::kNames:
      return "_tesseractl_" + underscored(kind.verb);
    case Completes::kNameList:
      return "_tesseractl_list_of_" + underscored(kind.verb);
    case Completes::kModels:
      return "_tesseractl_models";
    case Completes::kNothing:
      return " ";
  }
  return " ";
}

/// Text inside a zsh specification: brackets and colons separate its parts.
std::string zshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string functionOf(const std::string& verb) { return "_tesseractl_verb_" + underscored(verb); }

std::string fishValue(const std::string& placeholder, const std::vector<std::string>& choices) {
  if (!choices.empty())
    return fmt::format(" -x -a {}", shellQuoted(fmt::format("{}", fmt::join(choices, " "))));
  const PlaceholderKind kind = kindOf(placeholder);
  switch (kind.completes) {
    case Completes::kFiles:
      return " -r -F";
    case Completes::kFolders:
      return " -x -a '(__fish_complete_directories)'";
    case Completes::kNames:
      return fmt::format(" -x -a '(__tesseractl_names {})'", kind.verb);
    case Completes::kNameList:
      return fmt::format(" -x -a '(__fish_complete_list , \"__tesseractl_names {}\")'", kind.verb);
    case Completes::kModels:
      return fmt::format(" -F -a {}", shellQuoted(jobModels()));
    case Completes::kNothing:
      return " -x";
  }
  return " -x";
}

int runCompletion(const Invocation& call) {
  const std::string shell = call.arguments.word(0);
  fmt::print("{}", shell == "bash"  ? bashCompletion()
                   : shell == "zsh" ? zshCompletion()
                                    : fishCompletion());
  return kDone;
}

}  // namespace

std::string bashCompletion() {
  std::string text = R"sh(# bash completion for tesseractl; made by `tesseractl completion bash`

# Asks the cluster of this line, or those that it lists by itself; silent without an answer.
_tesseractl_ask() {
  timeout 2 tesseractl ${cluster:+"--cluster=$cluster"} "$@" --names 2>/dev/null
}

_tesseractl_names() {
  COMPREPLY=($(compgen -W "$(_tesseractl_ask "$@")" -- "$cur"))
}

# The last name of several between commas.
_tesseractl_name_list() {
  local before=""
  [[ $cur == *,* ]] && before=${cur%,*},
  COMPREPLY=($(compgen -P "$before" -W "$(_tesseractl_ask "$@")" -- "${cur##*,}"))
  compopt -o nospace 2>/dev/null
}

_tesseractl() {
  local cur prev word verb="" cluster="" i
  local -a words=()
  COMPREPLY=()
  cur=${COMP_WORDS[COMP_CWORD]}
  prev=${COMP_WORDS[COMP_CWORD - 1]}
  # bash splits --option=value into three words.
  if [[ $cur == = ]]; then
    cur=""
  elif [[ $prev == = ]] && ((COMP_CWORD > 1)); then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    case $word in
      --cluster | --color | --timeout)
        [[ ${COMP_WORDS[i + 1]-} == = ]] && ((++i))
        ((++i))
        if [[ $word == --cluster ]] && ((i < COMP_CWORD)); then cluster=${COMP_WORDS[i]-}; fi
        ;;
      -*) ;;
      *) words+=("$word") ;;
    esac
  done
)sh";
  std::vector<std::string> two, one;
  for (const Command& command : commands())
    (command.syntax.verb.find(' ') == std::string::npos ? one : two)
        .push_back(shellQuoted(command.syntax.verb));
  text +=
      fmt::format("  case \"${{words[0]-}} ${{words[1]-}}\" in\n    {})\n", fmt::join(two, " | "));
  text += "      verb=\"${words[0]} ${words[1]}\" ;;\n    *)\n";
  text +=
      fmt::format("      case \"${{words[0]-}}\" in {}) verb=${{words[0]}} ;; esac ;;\n  esac\n",
                  fmt::join(one, " | "));

  text += "\n  case \"$verb:$prev\" in\n";
  const auto optionCase = [&text](const std::string& verb, const OptionSpec& option) {
    if (!option.takesValue()) return;
    std::vector<std::string> cases;
    for (const std::string& name : spellings(option))
      cases.push_back(verb == "*" ? "*:" + name : shellQuoted(verb + ":" + name));
    text += fmt::format("    {}) {}; return ;;\n", fmt::join(cases, " | "),
                        bashValue(option.value, option.choices));
  };
  for (const Command& command : commands())
    for (const OptionSpec& option : command.syntax.options) optionCase(command.syntax.verb, option);
  for (const OptionSpec& option : globalOptions()) optionCase("*", option);
  text += "  esac\n\n  case $verb in\n";

  for (const Command& command : commands()) {
    const Syntax& syntax = command.syntax;
    std::vector<std::string> options;
    for (const OptionSpec& option : allOptions(syntax))
      std::ranges::copy(spellings(option), back_inserter(options));
    text += fmt::format("    {})\n      if [[ $cur == -* ]]; then\n", shellQuoted(syntax.verb));
    text += fmt::format(
        "        COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n        return\n      fi\n",
        fmt::join(options, " "));
    if (!syntax.words.empty()) {
      const auto before = 1 + std::ranges::count(syntax.verb, ' ');
      text += fmt::format("      case $((${{#words[@]}} - {})) in\n", before);
      for (std::size_t i = 0; i < syntax.words.size(); ++i)
        text += fmt::format("        {}) {} ;;\n", i,
                            bashValue(syntax.words[i].name, syntax.words[i].choices));
      text += "      esac\n";
    }
    text += "      ;;\n";
  }
  std::vector<std::string> global;
  for (const OptionSpec& option : globalOptions())
    std::ranges::copy(spellings(option), back_inserter(global));
  text += "    *)\n      if [[ $cur == -* ]]; then\n";
  text +=
      fmt::format("        COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n        return\n      fi\n",
                  fmt::join(global, " "));
  text += "      case \"${words[0]-}\" in\n";
  text += fmt::format("        '') COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n",
                      fmt::join(verbWords(), " "));
  for (const std::string& first : verbWords())
    if (const auto second = verbWords(first); !second.empty())
      text += fmt::format(
          "        {}) ((${{#words[@]}} == 1)) && COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n",
          first, fmt::join(second, " "));
  text += R"sh(      esac
      ;;
  esac
}

complete -F _tesseractl tesseractl
)sh";
  return text;
}

std::string zshCompletion() {
  std::string text =
      "#compdef tesseractl\n# zsh completion for tesseractl; made by `tesseractl completion "
      "zsh`\n\n";
  text +=
      R"sh(# Asks the cluster of this line, or those that it lists by itself; silent without an answer.
_tesseractl_ask() {
  timeout 2 tesseractl ${_tesseractl_cluster:+--cluster=$_tesseractl_cluster} "$@" --names 2>/dev/null
}

)sh";
  text += fmt::format("_tesseractl_models() {{\n  compadd {}\n  _files\n}}\n\n", jobModels());
  std::set<std::string_view> lists, severals;
  for (const PlaceholderKind& kind : kPlaceholderKinds) {
    if (kind.completes == Completes::kNames) lists.insert(kind.verb);
    if (kind.completes == Completes::kNameList) severals.insert(kind.verb);
  }
  for (const std::string_view verb : lists)
    text += fmt::format(
        "_tesseractl_{}() {{\n  local -a names\n  names=(${{(f)\"$(_tesseractl_ask {})\"}})\n"
        "  compadd -a names\n}}\n\n",
        underscored(verb), verb);
  for (const std::string_view verb : severals)
    text += fmt::format(
        "_tesseractl_list_of_{}() {{\n  local -a names\n"
        "  names=(${{(f)\"$(_tesseractl_ask {})\"}})\n"
        "  compset -P '*,'\n  compadd -q -S , -a names\n}}\n\n",
        underscored(verb), verb);
  const auto optionLine = [](const OptionSpec& option) {
    const std::string value = option.takesValue()
                                  ? fmt::format(":{}:{}", zshText(option.placeholder()),
                                                zshValue(option.value, option.choices))
                                  : "";
    std::string lines;
    for (const std::string& name : spellings(option)) {
      const bool isLong = name.starts_with("--");
      lines += fmt::format("    {} \\\n",
                           shellQuoted(fmt::format("{}{}{}[{}]{}", option.repeats ? "*" : "", name,
                                                   !option.takesValue() ? ""
                                                   : isLong             ? "="
                                                                        : "+",
                                                   zshText(option.help), value)));
    }
    return lines;
  };
  for (const Command& command : commands()) {
    const Syntax& syntax = command.syntax;
    text += functionOf(syntax.verb) + "() {\n  _arguments -s \\\n";
    for (const OptionSpec& option : allOptions(syntax)) text += optionLine(option);
    for (const WordSpec& word : syntax.words)
      text += fmt::format(
          "    {} \\\n",
          shellQuoted(fmt::format("{}:{}:{}",
                                  word.repeats    ? "*"
                                  : word.required ? ""
                                                  : ":",
                                  zshText(word.name), zshValue(word.name, word.choices))));
    text += "    && return\n}\n\n";
  }
  for (const std::string& first : verbWords()) {
    const auto second = verbWords(first);
    if (second.empty()) continue;
    text += functionOf(first) + "() {\n  local -a verbs\n  verbs=(\n";
    for (const std::string& word : second)
      text += fmt::format(
          "    {}\n",
          shellQuoted(fmt::format("{}:{}", word,
                                  zshText(findCommand(first + " " + word)->syntax.summary))));
    text += fmt::format(
        "  )\n  if ((CURRENT == 2)); then\n    _describe verb verbs\n  else\n"
        "    shift words\n    ((--CURRENT))\n    local name=\"{}_${{words[1]}}\"\n"
        "    (($+functions[$name])) && $name\n  fi\n}}\n\n",
        functionOf(first));
  }
  text += R"sh(_tesseractl() {
  # The functions that ask for names see it.
  local _tesseractl_cluster="" i
  for ((i = 2; i < CURRENT; ++i)); do
    case $words[i] in
      --cluster=*) _tesseractl_cluster=${words[i]#--cluster=} ;;
      --cluster) ((i + 1 < CURRENT)) && _tesseractl_cluster=$words[i+1] ;;
    esac
  done
  local -a verbs
  verbs=(
)sh";
  for (const std::string& first : verbWords()) {
    const Command* command = findCommand(first);
    text += fmt::format(
        "    {}\n",
        shellQuoted(fmt::format("{}:{}", first,
                                command ? zshText(command->syntax.summary)
                                        : fmt::format("{}", fmt::join(verbWords(first), ", ")))));
  }
  text += "  )\n  local curcontext=$curcontext state line\n  _arguments -C -s \\\n";
  for (const OptionSpec& option : globalOptions()) text += optionLine(option);
  text += R"sh(    '1: :->verb' '*:: :->rest'
  case $state in
    verb) _describe verb verbs ;;
    rest)
      local name="_tesseractl_verb_${words[1]}"
      (($+functions[$name])) && $name
      ;;
  esac
}

_tesseractl "$@"
)sh";
  return text;
}

std::string fishCompletion() {
  std::string text = R"sh(# fish completion for tesseractl; made by `tesseractl completion fish`

# Asks the cluster of this line, or those that it lists by itself; silent without an answer.
function __tesseractl_names
    set -l cluster
    set -l words (commandline -opc)
    for i in (seq (count $words))
        switch $words[$i]
            case '--cluster=*'
                set cluster $words[$i]
            case --cluster
                set -l next (math $i + 1)
                test $next -le (count $words); and set cluster --cluster=$words[$next]
        end
    end
    timeout 2 tesseractl $cluster $argv --names 2>/dev/null
end

# The words before the cursor that are not options.
function __tesseractl_words
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word --cluster --color --timeout
            set skip 1
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end

function __tesseractl_at
    set -l words (__tesseractl_words)
    test "$words" = "$argv"
end

function __tesseractl_verb
    set -l words (__tesseractl_words)
    set -l count (count $argv)
    test (count $words) -ge $count; and test "$words[1..$count]" = "$argv"
end

complete -c tesseractl -f
)sh";
  for (const std::string& first : verbWords()) {
    const Command* command = findCommand(first);
    const std::string summary =
        command ? command->syntax.summary : fmt::format("{}", fmt::join(verbWords(first), ", "));
    text += fmt::format("complete -c tesseractl -n '__tesseractl_at' -a {} -d {}\n", first,
                        shellQuoted(summary));
    for (const std::string& second : verbWords(first))
      text += fmt::format("complete -c tesseractl -n '__tesseractl_at {}' -a {} -d {}\n", first,
                          second, shellQuoted(findCommand(first + " " + second)->syntax.summary));
  }
  const auto optionLine = [&text](const std::string& condition, const OptionSpec& option) {
    text += fmt::format("complete -c tesseractl{} -l {}{}{} -d {}\n", condition, option.name,
                        option.letter == 0 ? "" : fmt::format(" -s {}", option.letter),
                        option.takesValue() ? fishValue(option.value, option.choices) : "",
                        shellQuoted(option.help));
  };
  for (const OptionSpec& option : globalOptions()) optionLine("", option);
  for (const Command& command : commands()) {
    const std::string condition = fmt::format(" -n '__tesseractl_verb {}'", command.syntax.verb);
    for (const OptionSpec& option : command.syntax.options) optionLine(condition, option);
    for (const WordSpec& word : command.syntax.words)
      if (!word.choices.empty() || kindOf(word.name).completes != Completes::kNothing)
        text += fmt::format("complete -c tesseractl{}{}\n", condition,
                            fishValue(word.name, word.choices));
  }
  return text;
}

Command completionCommand() {
  return {{.verb = "completion",
           .summary = "Print a script that completes command lines in a shell",
           .words = {{"SHELL", "the shell", true, false, {"bash", "zsh", "fish"}}},
           .notes = {"The script completes verbs, options, files, and the names of clusters, jobs, "
                     "GPUs, nodes, transactions, models and rule sets. It asks the cluster that "
                     "the line means for at most 2 s, and completes nothing if that does not "
                     "answer. The Debian package installs it for all three shells."},
           .examples = {"tesseractl completion bash > ~/.local/share/bash-completion/completions/"
                        "tesseractl",
                        "tesseractl completion zsh > ~/.zfunc/_tesseractl",
                        "tesseractl completion fish > ~/.config/fish/completions/tesseractl.fish"},
           .json = JsonForm::kErrorsOnly},
          runCompletion};
}

}  // namespace tessera::app
