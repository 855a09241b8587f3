// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/transaction_numbers.h"
#include "engine/history/unreadable_rows.h"

#include <algorithm>
#include <optional>
#include <string>

#include "engine/store/arena_format.h"

namespace tessera::agents {

Result<std::int64_t> TransactionNumbers::Upcoming() const {
  TESSERA_TRY(const std::optional<std::string> row, journal_.Get(kKey));
  const auto first = static_cast<std::int64_t>(engine::kFirstTransaction);
  if (!row) return first;
  TESSERA_TRY(const std::int64_t number, engine::ParseNumberRow(kKey, *row));
  return std::max(first, number);
}

Result<std::int64_t> TransactionNumbers::Next() {
  TESSERA_TRY(const std::int64_t number, Upcoming());
  TESSERA_RETURN_IF_ERROR(journal_.Put(kKey, std::to_string(number + 1)));
  return number;
}

Status TransactionNumbers::SkipTo(std::int64_t number) {
  TESSERA_TRY(const std::int64_t upcoming, Upcoming());
  return upcoming > number ? OkStatus() : journal_.Put(kKey, std::to_string(number + 1));
}

}  // namespace tessera::agents
