// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What must hold for every data format and any bytes: no crash, no read outside the file (the
/// sources of tests/engine/data then end the process), errors that name file and byte, and records
/// with a length.

#include <vector>

#include "engine/data/dataset.h"
#include "tests/fuzz/fuzz_target.h"

namespace tessera::fuzz {

inline void CheckDataError(const Error& error) {
  // The file is not damaged but too small. The message then names sizes.
  if (error.code == ErrorCode::kInvalidArgument) return CheckError(error);
  CheckError(error, {"data file 'a.", "the index of 'a."});
}

inline void TryDataset(const Result<engine::DatasetPtr>& data) {
  if (!data) return CheckDataError(data.error());
  std::vector<std::int32_t> tokens(static_cast<std::size_t>((*data)->sequence() + 1));
  for (std::int64_t i = 0; i < (*data)->num_samples() && i < 100; ++i) {
    if (const Status status = (*data)->ReadTokens(i, tokens); !status) {
      CheckDataError(status.error());
    }
    const auto record = (*data)->ReadRecord(i);
    if (!record) CheckDataError(record.error());
    if (record && record->empty()) std::abort();
    if ((*data)->Describe(i).empty()) std::abort();
  }
}

}  // namespace tessera::fuzz
