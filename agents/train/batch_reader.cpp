// SPDX-License-Identifier: Apache-2.0
#include "agents/train/batch_reader.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <span>
#include <utility>

#include "ptc/base/check.h"

namespace tessera::agents::train {
namespace {

/// A thread that takes no signals: those of the process end it on the main thread.
std::jthread QuietThread(auto body) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::jthread thread(std::move(body));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

Result<Batch> ReadBatch(const engine::DataMix& data, const engine::GptConfig& model,
                        const BatchRequest& request) {
  TESSERA_TRY(const auto samples,
              data.SamplesAt(request.cursor, request.share.begin, request.share.end));
  const auto window = static_cast<std::size_t>(data.sequence() + 1);
  Batch batch{request, std::vector<std::int32_t>(samples.size() * window)};
  std::span<std::int32_t> rest = batch.tokens;
  for (const engine::SampleId& sample : samples) {
    const auto tokens = rest.first(window);
    TESSERA_RETURN_IF_ERROR(data.ReadTokens(sample, tokens));
    const auto outside = std::find_if(tokens.begin(), tokens.end(), [&](std::int32_t token) {
      return token < 0 || token >= model.vocab;
    });
    if (outside != tokens.end()) {
      const auto& part = data.parts()[static_cast<std::size_t>(sample.part)];
      return InvalidArgument(
          fmt::format("token {} of sample {} ({}) is outside the vocabulary of {} of {}", *outside,
                      sample.sample, part.data->Describe(sample.sample), model.vocab, model.name));
    }
    rest = rest.subspan(window);
  }
  return batch;
}

BatchReader::BatchReader(std::shared_ptr<const engine::DataMix> data, engine::GptConfig model)
    : data_(std::move(data)),
      model_(std::move(model)),
      thread_(QuietThread([this](const std::stop_token& stop) { Run(stop); })) {}

void BatchReader::Start(const BatchRequest& request) {
  const std::lock_guard lock(mutex_);
  wanted_ = request;
  ++started_;
  changed_.notify_all();
}

Result<Batch> BatchReader::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return result_ && finished_ == started_; });
  return *std::exchange(result_, std::nullopt);
}

void BatchReader::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return wanted_.has_value(); })) {
    const BatchRequest request = *std::exchange(wanted_, std::nullopt);
    const std::uint64_t number = started_;
    lock.unlock();
    auto batch = ReadBatch(*data_, model_, request);
    lock.lock();
    finished_ = number;
    result_ = std::move(batch);
    changed_.notify_all();
  }
}

}  // namespace tessera::agents::train
