// SPDX-License-Identifier: Apache-2.0
#include "engine/catalogue/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "engine/catalogue/texts.h"
#include "ptc/rules/rules_files.h"

namespace tessera::engine {
namespace {

std::vector<std::string> NamesOf(std::span<const NamedResource> texts) {
  std::vector<std::string> names;
  for (const NamedResource& text : texts) names.emplace_back(text.name);
  return names;
}

std::optional<ptc::NamedText> Find(std::span<const NamedResource> texts, std::string_view name) {
  const auto found = std::ranges::find(texts, name, &NamedResource::name);
  if (found == texts.end()) return std::nullopt;
  return ptc::NamedText{std::string(name), std::string(found->text)};
}

}  // namespace

std::vector<std::string> CatalogueNames() { return NamesOf(ModelTexts()); }
std::vector<std::string> RuleSetNames() { return NamesOf(RuleTexts()); }

Result<ptc::NamedText> FindCatalogueTensors(std::string_view model) {
  if (auto text = Find(ModelTexts(), model)) return *std::move(text);
  return NotFound(
      fmt::format("no model '{}'; there are {}", model, fmt::join(CatalogueNames(), ", ")));
}

Result<ptc::NamedText> FindRuleSet(std::string_view name) {
  if (auto text = Find(RuleTexts(), name)) return *std::move(text);
  return NotFound(
      fmt::format("no rule set '{}'; there are {}", name, fmt::join(RuleSetNames(), ", ")));
}

Result<ModelFacts> FactsOf(const ptc::NamedText& tensors) {
  TESSERA_TRY(ptc::TensorsFile file, ptc::ReadTensors(tensors, ptc::OptimizerState::kNone));
  ModelFacts facts{std::move(file.title), std::move(file.source), std::move(file.rules),
                   file.num_layers};
  for (const ptc::ListedTensor& tensor : file.tensors) {
    TESSERA_TRY(const std::int64_t elements, ptc::NumElements(tensor.spec.shape));
    const std::int64_t size = ptc::SizeBytes(tensor.spec.dtype);
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(elements, size, &bytes) ||
        __builtin_add_overflow(facts.bytes, bytes, &facts.bytes)) {
      return ResourceExhausted(fmt::format("{}:{}: tensors up to here have more than 2^63-1 bytes",
                                           tensors.name, tensor.line));
    }
    if (tensor.spec.role == ptc::TensorRole::kParam) facts.parameters += elements;
    ++facts.tensors;
  }
  return facts;
}

Result<std::string> RuleSetOfModel(std::string_view model) {
  TESSERA_TRY(const ptc::NamedText tensors, FindCatalogueTensors(model));
  return ptc::ReadRuleSetName(tensors);
}

Result<ModelFacts> FactsOfModel(std::string_view model) {
  TESSERA_TRY(const ptc::NamedText tensors, FindCatalogueTensors(model));
  return FactsOf(tensors);
}

}  // namespace tessera::engine
