// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Batches read on a thread of their own, while the step before is computed.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
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

/// How a reader comes by its data set, and how long it is waited for.
struct DataAccess {
  /// Opens what the job reads; a request to stop ends that, and all reads of it. Called on the
  /// reader's thread, which this must outlive. \error as OpenJobData
  std::function<Result<engine::DataMix>(std::stop_token)> open = {};
  /// Ends the reads of the data set that the reader begins with.
  std::stop_source cancel = {};
  /// Well below what ranks wait for each other in a collective: a job without data pauses, and does
  /// not fail.
  std::chrono::milliseconds patience = std::chrono::seconds(20);
};

/// The tokens of a request, each inside the vocabulary. `before` is told of each sample.
/// \error what the data set returns; kInvalidArgument `token 300 of sample 12 (web.bin at byte 96)
///     is outside the vocabulary of 256 of gpt-mini`; as engine::SamplesAt for a damaged cursor
Result<Batch> ReadBatch(const engine::DataMix& data, const engine::GptConfig& model,
                        const BatchRequest& request,
                        const std::function<void(const engine::SampleId&)>& before = {});

/// Reads one request at a time.
/// \threadsafety One thread calls.
class BatchReader {
 public:
  BatchReader(std::shared_ptr<const engine::DataMix> data, engine::GptConfig model,
              DataAccess access = {});
  /// Ends a read that is under way, as far as its place lets it, and waits for it.
  ~BatchReader();
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  /// Begins to read; what was asked for before is forgotten.
  void Start(const BatchRequest& request) { Begin({request, false}); }
  /// The same after the data set was opened anew: files of before may be others. \pre access.open
  void StartAnew(const BatchRequest& request) { Begin({request, true}); }
  /// The batch of the last start. \pre started since the last Wait
  /// \error as ReadBatch and access.open; kDataLoss where the data set is now another one;
  ///     kUnavailable `no batch after 20 s: reading sample 12 (web.bin at byte 96)`, and what is
  ///     under way is given up
  Result<Batch> Wait();

 private:
  struct Work {
    BatchRequest request;
    bool is_anew = false;
  };
  void Begin(const Work& work);
  void Run(const std::stop_token& stop);
  /// On the reader's thread, without the lock.
  Result<Batch> Read(const Work& work);
  Status OpenAnew();
  std::string WhatIsRead() const;  // with the lock

  const engine::GptConfig model_;
  const DataAccess access_;
  const std::uint64_t fingerprint_;  // of the data set, whenever it is opened
  const std::int64_t num_samples_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<const engine::DataMix> data_;  // set by the thread; none while it is opened anew
  std::stop_source cancel_;                      // of data_
  std::optional<engine::SampleId> reading_;
  std::optional<Work> wanted_;  // not yet begun
  std::uint64_t started_ = 0;   // counts requests
  std::uint64_t finished_ = 0;  // the request that result_ answers
  std::optional<Result<Batch>> result_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace tessera::agents::train
