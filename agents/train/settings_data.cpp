// SPDX-License-Identifier: Apache-2.0
#include "agents/train/settings_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "engine/data/text_dataset.h"

namespace tessera::agents::train {
namespace {

/// Text, a byte a token.
class TextTokens final : public engine::Dataset {
 public:
  explicit TextTokens(engine::TextDataset text) : text_(std::move(text)) {}

  engine::DataFormat format() const override { return engine::DataFormat::kText; }
  std::int64_t sequence() const override { return text_.sequence(); }
  std::int64_t num_samples() const override { return text_.num_samples(); }
  std::uint64_t fingerprint() const override { return text_.fingerprint(); }
  Status ReadTokens(std::int64_t sample, std::span<std::int32_t> out) const override {
    std::vector<std::uint8_t> bytes(out.size());
    TESSERA_RETURN_IF_ERROR(text_.Read(sample, bytes));
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return OkStatus();
  }
  Result<std::vector<std::byte>> ReadRecord(std::int64_t sample) const override {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(sequence() + 1));
    TESSERA_RETURN_IF_ERROR(text_.Read(sample, bytes));
    const auto raw = std::as_bytes(std::span(bytes));
    return std::vector<std::byte>(raw.begin(), raw.end());
  }
  std::string Describe(std::int64_t sample) const override {
    return fmt::format("text at byte {}", sample * sequence());
  }

 private:
  const engine::TextDataset text_;
};

}  // namespace

Result<std::vector<engine::SampleId>> TrainingData::SamplesAt(const engine::Cursor& cursor,
                                                              std::int64_t begin,
                                                              std::int64_t end) const {
  TESSERA_TRY(const auto samples, engine::SamplesAt(cursor, begin, end, num_samples()));
  std::vector<engine::SampleId> ids;
  ids.reserve(samples.size());
  for (const std::int64_t sample : samples) ids.push_back({0, sample});
  return ids;
}

Result<TrainingData> OpenData(const engine::JobSettings& settings) {
  const auto paths = settings.data.empty() ? engine::DefaultTextPaths() : settings.data;
  if (paths.empty()) {
    return NotFound(
        "no text to train on: neither /usr/share/common-licenses nor a Python library is here, and "
        "no data path is given");
  }
  TESSERA_TRY(auto text, engine::TextDataset::Open(paths, settings.model.sequence));
  return TrainingData(std::make_shared<TextTokens>(std::move(text)));
}

}  // namespace tessera::agents::train
