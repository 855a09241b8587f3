// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/transaction_numbers.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "engine/store/arena_format.h"

namespace tessera::agents {

Result<std::int64_t> TransactionNumbers::Upcoming() const {
  TESSERA_TRY(const std::optional<std::string> row, journal_.Get("next_number"));
  const auto first = static_cast<std::int64_t>(engine::kFirstTransaction);
  return row ? std::max<std::int64_t>(first, std::strtoll(row->c_str(), nullptr, 10)) : first;
}

Result<std::int64_t> TransactionNumbers::Next() {
  TESSERA_TRY(const std::int64_t number, Upcoming());
  TESSERA_RETURN_IF_ERROR(journal_.Put("next_number", std::to_string(number + 1)));
  return number;
}

Status TransactionNumbers::SkipTo(std::int64_t number) {
  TESSERA_TRY(const std::int64_t upcoming, Upcoming());
  return upcoming > number ? OkStatus() : journal_.Put("next_number", std::to_string(number + 1));
}

}  // namespace tessera::agents
