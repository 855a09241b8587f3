// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads each batch on a thread of its own, while the step before it is computed.

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

/// A range of the global batch that begins at the cursor.
struct BatchRequest {
  engine::Cursor cursor;
  engine::BatchShare share;
  friend bool operator==(const BatchRequest&, const BatchRequest&) = default;
};

struct Batch {
  BatchRequest request;
  std::vector<std::int32_t> tokens;  // sequence + 1 of each sample, one sample after the other
};

/// How a reader opens its data set, and how long a rank waits for a batch.
struct DataAccess {
  /// Opens the data of the job. A request to stop ends the opening and all reads of the data set.
  /// Called on the thread of the reader, so everything that it refers to must outlive the reader.
  /// \error as OpenJobData
  std::function<Result<engine::DataMix>(std::stop_token)> open = {};
  /// Ends the reads of the first data set, which the reader is made with.
  std::stop_source cancel = {};
  /// How long Wait waits. Well below the timeout of collectives, so that a job without data pauses
  /// and does not fail.
  std::chrono::milliseconds patience = std::chrono::seconds(20);
};

/// Reads the tokens of a request and checks that each is inside the vocabulary. Calls `before` with
/// each sample before it is read.
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
  /// Cancels a read that is under way and waits for its end.
  ~BatchReader();
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  /// Starts to read. Any earlier request is dropped.
  void Start(const BatchRequest& request) { Begin({request, false}); }
  /// Opens the data set again and starts to read. Files may have been replaced since it was opened.
  /// \pre access.open
  void StartAnew(const BatchRequest& request) { Begin({request, true}); }
  /// Returns the batch of the last start.
  /// \pre started since the last Wait
  /// \error as ReadBatch and access.open; kDataLoss if the data set has another fingerprint now;
  ///     kUnavailable `no batch after 20 s: reading sample 12 (web.bin at byte 96)`, and the read
  ///     is cancelled
  Result<Batch> Wait();

 private:
  struct Work {
    BatchRequest request;
    bool is_anew = false;
  };
  void Begin(const Work& work);
  void Run(const std::stop_token& stop);
  /// Runs on the thread of the reader, without mutex_.
  Result<Batch> Read(const Work& work);
  Status OpenAnew();
  std::string WhatIsRead() const;  // the caller holds mutex_

  const engine::GptConfig model_;
  const DataAccess access_;
  const std::uint64_t fingerprint_;  // of the data set, whenever it is opened
  const std::int64_t num_samples_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<const engine::DataMix> data_;  // set by the thread; null while it is opened again
  std::stop_source cancel_;                      // of data_
  std::optional<engine::SampleId> reading_;
  std::optional<Work> wanted_;  // not yet begun
  std::uint64_t started_ = 0;   // counts requests
  std::uint64_t finished_ = 0;  // the request that result_ answers
  std::optional<Result<Batch>> result_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace tessera::agents::train
