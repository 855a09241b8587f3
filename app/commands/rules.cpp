// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `rules list`, `rules show` and `rules check`.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/cut_text.h"
#include "app/commands/json.h"
#include "app/commands/model_source.h"
#include "app/commands/script.h"
#include "app/commands/session.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "engine/catalogue/catalogue.h"
#include "ptc/layout.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kMostRuleRanks = 65536;

/// Tensors with one name in the file and the same cut.
struct Row {
  const ptc::RulesReport::Tensor* first = nullptr;
  std::string cut;
  std::int64_t tensors = 0;
  std::int64_t problems = 0;
  std::int64_t pieceBytes = 0;  // the largest on a rank; only with a mesh
};

std::vector<Row> ruleRows(const ptc::RulesReport& report) {
  std::vector<Row> rows;
  std::map<std::tuple<std::string, std::optional<std::size_t>, std::string>, std::size_t> known;
  for (const auto& tensor : report.tensors) {
    std::string cut = tensor.problem.empty() ? describeCut(tensor.spec) : "";
    const auto [at, fresh] = known.try_emplace(
        {tensor.pattern, tensor.rule, tensor.problem.empty() ? cut : "?"}, rows.size());
    if (fresh) rows.push_back({&tensor, std::move(cut)});
    Row& row = rows[at->second];
    ++row.tensors;
    if (!tensor.problem.empty()) ++row.problems;
  }
  return rows;
}

/// A layout on a mesh of made-up devices, for the sizes of pieces.
Result<ptc::Layout> layoutOn(const ptc::MeshShape& shape, const ModelSource& source) {
  TESSERA_TRY(auto ruled,
              ptc::ApplyRules(source.tensors, source.rules, source.zero, source.optimizer));
  std::vector<ptc::DeviceId> devices;
  for (std::int32_t rank = 0; rank < shape.num_ranks(); ++rank) devices.push_back({0, rank});
  TESSERA_TRY(auto mesh, ptc::DeviceMesh::Make(shape, std::move(devices)));
  return ptc::Layout::Make(std::move(mesh), std::move(ruled.tensors), std::move(ruled.stages));
}

std::int64_t largestPiece(const ptc::Layout& layout, const std::string& tensor) {
  const auto index = layout.collection().Find(tensor);
  if (!index) return 0;
  std::int64_t most = 0;
  for (const auto& boxes : layout.PartsOf(*index).boxes) {
    std::int64_t elements = 0;
    for (const ptc::Box& box : boxes) elements += box.num_elements();
    most = std::max(most, elements);
  }
  const auto& spec = layout.collection().tensors()[static_cast<std::size_t>(*index)];
  return most * ptc::SizeBytes(spec.dtype);
}

/// One line for each kind of problem: the first one and the number of others.
std::vector<std::string> problemsOf(const ptc::RulesReport& report, const std::vector<Row>& rows) {
  std::vector<std::string> problems;
  for (const Row& row : rows) {
    if (row.problems == 0) continue;
    problems.push_back(row.problems == 1
                           ? row.first->problem
                           : fmt::format("{} (and {} more of '{}')", row.first->problem,
                                         row.problems - 1, row.first->pattern));
  }
  for (const auto& rule : report.rules)
    if (!rule.problem.empty()) problems.push_back(rule.problem);
  return problems;
}

Json ruleOf(const ptc::RulesReport& report, const Row& row) {
  if (!row.first->rule) return nullptr;
  const auto& rule = report.rules[*row.first->rule];
  return {{"match", rule.match}, {"line", rule.line}};
}

void printJson(const ModelSource& source, const ptc::RulesReport& report,
               const std::vector<Row>& rows, const std::vector<std::string>& problems,
               bool onMesh) {
  Json tensors = Json::array();
  for (const Row& row : rows) {
    Json json = {
        {"name", row.first->pattern},
        {"tensors", row.tensors},
        {"dtype", ptc::ToString(row.first->spec.dtype)},
        {"shape", row.first->spec.shape},
        {"line", row.first->line},
        {"rule", ruleOf(report, row)},
        {"cut", row.cut},
        {"stage", row.first->rule ? Json(ToString(row.first->spec.place)) : Json(nullptr)},
        {"problem", row.first->problem.empty() ? Json(nullptr) : Json(row.first->problem)}};
    if (onMesh) json["piece_bytes"] = row.pieceBytes;
    tensors.push_back(std::move(json));
  }
  Json rules = Json::array();
  for (const auto& rule : report.rules)
    rules.push_back({{"match", rule.match},
                     {"line", rule.line},
                     {"tensors", rule.tensors},
                     {"optional", rule.optional}});
  printLine({{"model", source.name},
             {"rules_file", source.rules.name},
             {"stages", ToString(report.stages)},
             {"ok", problems.empty()},
             {"tensors", std::move(tensors)},
             {"rules", std::move(rules)},
             {"problems", problems}});
}

void printText(const ModelSource& source, const ptc::RulesReport& report,
               const std::vector<Row>& rows, const std::vector<std::string>& problems,
               bool onMesh) {
  std::vector<std::vector<std::string>> table = {
      {"tensor", "how many", "form", "rule", "cut", "stage"}};
  if (onMesh) table.front().insert(table.front().begin() + 5, "largest piece");
  for (const Row& row : rows) {
    const auto& spec = row.first->spec;
    std::vector<std::string> cells = {
        row.first->pattern,
        fmt::format("{}", row.tensors),
        fmt::format("{} {}", ptc::ToString(spec.dtype), ptc::ToString(spec.shape)),
        row.first->rule ? fmt::format("line {}", report.rules[*row.first->rule].line) : "none",
        row.cut.empty() ? "see below" : row.cut,
        row.first->rule ? describeStage(spec) : ""};
    if (onMesh) cells.insert(cells.begin() + 5, formatBytes(row.pieceBytes));
    table.push_back(std::move(cells));
  }
  fmt::print("{}", onMesh ? formatTable(table, {1, 5}) : formatTable(table, {1}));
  flushOutput();
  if (problems.empty()) {
    std::size_t unused = 0;
    for (const auto& rule : report.rules) unused += rule.tensors == 0 ? 1 : 0;
    fmt::print("\nall {} tensors of {} have a rule of {}; stages: {}{}\n", report.tensors.size(),
               source.name, source.rules.name, ToString(report.stages),
               unused == 0 ? "" : fmt::format("; {} optional rules match nothing", unused));
  } else {
    for (const std::string& problem : problems) failed(InvalidArgument(problem));
  }
}

int runCheck(const Invocation& call) {
  const auto source =
      readModelSource(call.arguments, call.arguments.word(0), ptc::OptimizerState::kAsFile);
  if (!source)
    return source.error().code == ErrorCode::kInvalidArgument ? wrongUsage(source.error())
                                                              : failed(source.error());
  std::optional<ptc::MeshShape> shape;
  if (const auto text = call.arguments.value("mesh")) {
    TESSERA_OR_USAGE(auto parsed, ptc::ParseMeshShape(*text).Context("--mesh"));
    if (parsed.num_ranks() > kMostRuleRanks)
      return wrongUsage(InvalidArgument(fmt::format("--mesh '{}' has {} ranks, at most {}", *text,
                                                    parsed.num_ranks(), kMostRuleRanks)));
    shape = parsed;
  }
  const auto report =
      ptc::CheckRules(source->tensors, source->rules, source->zero, source->optimizer);
  if (!report) return failed(report.error());
  std::vector<Row> rows = ruleRows(*report);
  std::vector<std::string> problems = problemsOf(*report, rows);
  if (shape && problems.empty()) {
    const auto layout = layoutOn(*shape, *source);
    if (layout) {
      for (Row& row : rows) row.pieceBytes = largestPiece(*layout, row.first->spec.name);
    } else {
      problems.push_back(layout.error().ToString());
    }
  }
  (call.json ? printJson : printText)(*source, *report, rows, problems,
                                      shape.has_value() && problems.empty());
  return problems.empty() ? kDone : kFailed;
}

int listRules(const Invocation& call) {
  const std::vector<std::string> names = engine::RuleSetNames();
  if (call.arguments.has("names")) return printNames(names);
  std::map<std::string, std::vector<std::string>> modelsOf;  // by rule set
  for (const std::string& model : engine::CatalogueNames()) {
    TESSERA_OR_FAILED(const std::string rules, engine::RuleSetOfModel(model));
    modelsOf[rules].push_back(model);
  }
  Json json = Json::array();
  std::vector<std::vector<std::string>> table = {{"rule set", "models of the catalogue"}};
  for (const std::string& name : names) {
    const std::vector<std::string>& models = modelsOf[name];
    json.push_back({{"name", name}, {"models", models}});
    table.push_back({name, fmt::format("{}", fmt::join(models, ", "))});
  }
  if (call.json) {
    printLine({{"rule_sets", std::move(json)}});
  } else {
    fmt::print("{}", formatTable(table));
  }
  return kDone;
}

int showRules(const Invocation& call) {
  if (isScript(call.arguments.word(0))) {
    TESSERA_OR_USAGE(const Script script, readScriptCall(call.arguments));
    TESSERA_OR_FAILED(const auto described, describeScript(script));
    fmt::print("{}", call.arguments.has("tensors") ? described.tensors : described.rules);
    return kDone;
  }
  const std::string name = call.arguments.word(0);
  for (const char* option : {"python", "env"})
    if (call.arguments.has(option))
      return wrongUsage(
          InvalidArgument(fmt::format("--{} is for a script such as train.py", option)));
  if (call.arguments.numWords() > 1)
    return wrongUsage(InvalidArgument(
        fmt::format("'{}': only a script such as train.py has arguments", call.arguments.word(1))));
  const auto rules = engine::FindRuleSet(name);
  if (rules) {
    if (call.arguments.has("tensors"))
      return wrongUsage(InvalidArgument(
          fmt::format("--tensors is for a script or a job; '{}' is a rule set", name)));
    fmt::print("{}", rules->text);
    return kDone;
  }
  // Not a rule set: a job, if there is a cluster.
  auto session = openSession(call);
  if (!session) return failed(rules.error());
  wire::Request request;
  request.mutable_program()->set_job(name);
  const auto reply = session->ask(std::move(request));
  if (!reply && reply.error().code == ErrorCode::kNotFound)
    return failed(NotFound(fmt::format("{}; no job has this name either", rules.error().message)));
  if (!reply) return failed(reply.error());
  fmt::print("{}",
             call.arguments.has("tensors") ? reply->program().tensors() : reply->program().rules());
  return kDone;
}

}  // namespace

Command rulesCheckCommand() {
  std::vector<OptionSpec> options = modelOptions("as in the table");
  options.push_back({.name = "mesh",
                     .value = "MESH",
                     .help = "tp=8,pp=4: also show the largest piece that a rank holds"});
  return {{.verb = "rules check",
           .summary = "Show which rule cuts which tensor, and which tensors have no rule",
           .words = {{"RULES", "a rule set or a file; the model's rules if it is missing", false}},
           .options = std::move(options),
           .notes = {"The exit code is 1 if a tensor has no rule, a rule matches no tensor, or a "
                     "rule does not fit its tensor."},
           .examples = {"tesseractl rules check --model llama-3-8b --mesh tp=16",
                        "tesseractl rules check mine.json --tensors table.json"}},
          runCheck};
}

Command rulesListCommand() {
  return {{.verb = "rules list",
           .summary = "List the built-in rule sets",
           .options = {namesOption()},
           .examples = {"tesseractl rules list"}},
          listRules};
}

Command rulesShowCommand() {
  return {
      {.verb = "rules show",
       .summary = "Print a rule set, that of a job, or what is derived from a script, as a start "
                  "for your own",
       .words = {{.name = "RULES|JOB|SCRIPT",
                  .help = "name of a rule set or of a job with a program of its own, or a "
                          "program in Python with its arguments after `--`",
                  .repeats = true}},
       .options = {{.name = "job",
                    .value = "",
                    .help = "the name is that of a job, also if a rule set has it"},
                   {.name = "tensors",
                    .value = "",
                    .help = "with JOB or SCRIPT: its tensors file instead of its rules"},
                   pythonOption(),
                   environmentOption()},
       .examples = {"tesseractl rules show llama > mine.json",
                    "tesseractl rules show train --tensors",
                    "tesseractl rules show train.py > train.rules.json"},
       .json = JsonForm::kErrorsOnly},
      showRules};
}

}  // namespace tessera::app
