// SPDX-License-Identifier: Apache-2.0
#include "agents/node/kept_rows.h"

#include <utility>

#include "engine/history/unreadable_rows.h"

namespace tessera::agents {
namespace {
constexpr const char* kKey = "kept-rows";
}  // namespace

Status KeptRows::Recover(std::vector<std::string>* set_aside) {
  TESSERA_TRY(const auto text, journal_.Get(kKey));
  if (!text || all_.ParseFromString(*text)) return OkStatus();
  all_.Clear();
  const Error why = DataLoss("it is no list of rows");
  TESSERA_TRY(std::string note, engine::SetAside(journal_, "journal.db", kKey, *text, why));
  set_aside->push_back(std::move(note));
  return OkStatus();
}

Result<bool> KeptRows::Keep(const wire::KeptRow& row) {
  if (row.revision() <= all_.revision()) return true;
  if (row.revision() != all_.revision() + 1) return false;
  wire::KeptRows next;
  next.set_revision(row.revision());
  *next.mutable_nodes() = all_.nodes();
  next.set_registrar(all_.registrar());
  for (const wire::KeptRow& other : all_.rows()) {
    if (other.key() != row.key()) *next.add_rows() = other;
  }
  if (!row.erased()) *next.add_rows() = row;
  TESSERA_RETURN_IF_ERROR(Journal(std::move(next)));
  return true;
}

Status KeptRows::Replace(const wire::KeptRows& rows) {
  if (rows.revision() < all_.revision()) return OkStatus();
  return Journal(rows);
}

Status KeptRows::Journal(wire::KeptRows rows) {
  TESSERA_RETURN_IF_ERROR(journal_.Put(kKey, rows.SerializeAsString()));
  all_ = std::move(rows);
  return OkStatus();
}

}  // namespace tessera::agents
