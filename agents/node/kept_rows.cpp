// SPDX-License-Identifier: Apache-2.0
#include "agents/node/kept_rows.h"

#include <fmt/format.h>

#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {
namespace {

constexpr const char* kPrefix = "kept/";

Result<wire::KeptRow> Parse(const std::string& key, const std::string& text) {
  wire::KeptRow row;
  if (row.ParseFromString(text)) return row;
  return DataLoss(fmt::format("journal row '{}' is damaged", key));
}

}  // namespace

Status KeptRows::Recover() {
  TESSERA_TRY(const auto rows, journal_.List(kPrefix));
  for (const auto& [key, text] : rows) {
    TESSERA_TRY(const wire::KeptRow row, Parse(key, text));
    revisions_[row.key()] = row.revision();
  }
  return OkStatus();
}

Status KeptRows::Keep(const wire::KeptRow& row) {
  const auto known = revisions_.find(row.key());
  if (known != revisions_.end() && known->second >= row.revision()) return OkStatus();
  TESSERA_RETURN_IF_ERROR(journal_.Put(kPrefix + row.key(), row.SerializeAsString()));
  revisions_[row.key()] = row.revision();
  return OkStatus();
}

Result<wire::KeptRows> KeptRows::All() const {
  TESSERA_TRY(const auto rows, journal_.List(kPrefix));
  wire::KeptRows all;
  for (const auto& [key, text] : rows) {
    TESSERA_TRY(*all.add_rows(), Parse(key, text));
  }
  return all;
}

}  // namespace tessera::agents
