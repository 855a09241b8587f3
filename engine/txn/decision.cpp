// SPDX-License-Identifier: Apache-2.0
#include "engine/txn/decision.h"

#include <fmt/format.h>

#include <sstream>

namespace tessera::engine {

Decision AbortOf(std::int64_t transaction) {
  Decision decision;
  decision.transaction = transaction;
  return decision;
}

std::string ToText(const Decision& d) {
  if (!d.commit) return fmt::format("abort {}", d.transaction);
  return fmt::format("commit {} {} {} {}", d.transaction, d.epoch, d.layout_hash, d.step);
}

Result<Decision> ParseDecision(const std::string& text) {
  std::istringstream in(text);
  std::string word, rest;
  Decision d;
  in >> word >> d.transaction;
  d.commit = word == "commit";
  if (d.commit) in >> d.epoch >> d.layout_hash >> d.step;
  if (!in || (word != "commit" && word != "abort") || (in >> rest)) {
    return DataLoss(fmt::format("decision '{}' is neither commit nor abort", text));
  }
  return d;
}

}  // namespace tessera::engine
