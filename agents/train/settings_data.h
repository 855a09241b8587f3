// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data set that a job's settings name.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/data/data_mix.h"
#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// The one data set of a job, with the calls of engine::DataMix.
/// \threadsafety Immutable.
class TrainingData {
 public:
  explicit TrainingData(engine::DatasetPtr data) { parts_.push_back({std::move(data), 0}); }

  const std::vector<engine::DataMix::Part>& parts() const { return parts_; }
  std::int64_t sequence() const { return parts_.front().data->sequence(); }
  std::int64_t num_samples() const { return parts_.front().data->num_samples(); }
  std::uint64_t fingerprint() const { return parts_.front().data->fingerprint(); }
  /// As engine::DataMix::SamplesAt.
  Result<std::vector<engine::SampleId>> SamplesAt(const engine::Cursor& cursor, std::int64_t begin,
                                                  std::int64_t end) const;
  /// As engine::Dataset::ReadTokens.
  Status ReadTokens(const engine::SampleId& id, std::span<std::int32_t> out) const {
    return parts_.front().data->ReadTokens(id.sample, out);
  }

 private:
  std::vector<engine::DataMix::Part> parts_;  // one
};

/// The settings' paths; where they name none, the text that is found on the machine.
/// \error kNotFound where nothing is named and nothing is found; else as TextDataset::Open
Result<TrainingData> OpenData(const engine::JobSettings& settings);

}  // namespace tessera::agents::train
