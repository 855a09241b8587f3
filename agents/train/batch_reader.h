// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Batches read on a thread of their own, while the step before is computed.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/data/cursor.h"
#include "engine/data/data_mix.h"
#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// Which samples: places of the global batch that begins at the cursor.
struct BatchRequest {
  engine::Cursor cursor;
  engine::BatchShare share;
  friend bool operator==(const BatchRequest&, const BatchRequest&) = default;
};

struct Batch {
  BatchRequest request;
  std::vector<std::int32_t> tokens;  // sequence + 1 a sample, one sample after the other
};

/// The tokens of a request, each inside the vocabulary.
/// \error what the data set returns; kInvalidArgument `token 300 of sample 12 (web.bin at byte 96)
///     is outside the vocabulary of 256 of gpt-mini`; as engine::SamplesAt for a damaged cursor
Result<Batch> ReadBatch(const engine::DataMix& data, const engine::GptConfig& model,
                        const BatchRequest& request);

/// Reads one request at a time.
/// \threadsafety One thread calls.
class BatchReader {
 public:
  BatchReader(std::shared_ptr<const engine::DataMix> data, engine::GptConfig model);
  /// Waits for a read that is under way.
  ~BatchReader() = default;
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  /// Begins to read; what was asked for before is forgotten.
  void Start(const BatchRequest& request);
  /// The batch of the last Start. \pre Start since the last Wait. \error as ReadBatch
  Result<Batch> Wait();

 private:
  void Run(const std::stop_token& stop);

  const std::shared_ptr<const engine::DataMix> data_;
  const engine::GptConfig model_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<BatchRequest> wanted_;  // not yet begun
  std::uint64_t started_ = 0;           // counts requests
  std::uint64_t finished_ = 0;          // the request that result_ answers
  std::optional<Result<Batch>> result_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace tessera::agents::train
