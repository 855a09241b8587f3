// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `models list` and `models show`: the catalogue of published models.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/units.h"
#include "engine/catalogue/catalogue.h"

namespace tessera::app {
namespace {

Json factsToJson(const std::string& name, const engine::ModelFacts& facts) {
  return {{"name", name},
          {"title", facts.title},
          {"source", facts.source},
          {"rules", facts.rules},
          {"layers", facts.layers},
          {"parameters", facts.parameters},
          {"tensors", facts.tensors},
          {"bytes", facts.bytes}};
}

int listModels(const Invocation& call) {
  if (call.arguments.has("names")) return printNames(engine::CatalogueNames());
  Json json = Json::array();
  std::vector<std::vector<std::string>> table = {
      {"model", "parameters", "layers", "bytes", "rules", "description"}};
  for (const std::string& name : engine::CatalogueNames()) {
    TESSERA_OR_FAILED(const auto facts, engine::FactsOfModel(name));
    json.push_back(factsToJson(name, facts));
    table.push_back({name, formatCount(facts.parameters), fmt::format("{}", facts.layers),
                     formatBytes(facts.bytes), facts.rules, facts.title});
  }
  if (call.json) {
    printLine({{"models", std::move(json)}});
  } else {
    fmt::print("{}", formatTable(table, {1, 2, 3}));
  }
  return kDone;
}

int showModel(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  TESSERA_OR_FAILED(const auto tensors, engine::FindCatalogueTensors(name));
  if (call.arguments.has("table")) {
    fmt::print("{}", tensors.text);
    return kDone;
  }
  TESSERA_OR_FAILED(const auto facts, engine::FactsOf(tensors));
  if (call.json) {
    printLine(factsToJson(name, facts));
    return kDone;
  }
  fmt::print("{}: {}\n", name, facts.title);
  fmt::print(
      "{}", formatTable({{"  parameters",
                          fmt::format("{} ({})", facts.parameters, formatCount(facts.parameters))},
                         {"  tensors", fmt::format("{} in {} layers", facts.tensors, facts.layers)},
                         {"  bytes", formatBytes(facts.bytes)},
                         {"  figures of", facts.source},
                         {"  rules", fmt::format("{}: `tesseractl rules check --model {}` "
                                                 "shows how it is cut",
                                                 facts.rules, name)}}));
  return kDone;
}

}  // namespace

Command modelsListCommand() {
  return {{.verb = "models list",
           .summary = "List the models that can be planned for without a cluster",
           .options = {namesOption()},
           .examples = {"tesseractl models list"}},
          listModels};
}

Command modelsShowCommand() {
  return {{.verb = "models show",
           .summary = "Show the size of a model and the source of its figures",
           .words = {{"MODEL", "name of a model"}},
           .options = {{.name = "table",
                        .value = "",
                        .help = "print its table of tensors, as a start for your own"}},
           .examples = {"tesseractl models show llama-3-8b",
                        "tesseractl models show gpt2 --table > table.json"}},
          showModel};
}

}  // namespace tessera::app
