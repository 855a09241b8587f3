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

/// Starts a thread that blocks all signals: those of the process end it on the main thread.
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
                        const BatchRequest& request,
                        const std::function<void(const engine::SampleId&)>& before) {
  TESSERA_TRY(const auto samples,
              data.SamplesAt(request.cursor, request.share.begin, request.share.end));
  const auto window = static_cast<std::size_t>(data.sequence() + 1);
  Batch batch{request, std::vector<std::int32_t>(samples.size() * window)};
  std::span<std::int32_t> rest = batch.tokens;
  for (const engine::SampleId& sample : samples) {
    const auto tokens = rest.first(window);
    if (before) before(sample);
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

BatchReader::BatchReader(std::shared_ptr<const engine::DataMix> data, engine::GptConfig model,
                         DataAccess access)
    : model_(std::move(model)),
      access_(std::move(access)),
      fingerprint_(data->fingerprint()),
      num_samples_(data->num_samples()),
      data_(std::move(data)),
      cancel_(access_.cancel),
      thread_(QuietThread([this](const std::stop_token& stop) { Run(stop); })) {}

BatchReader::~BatchReader() {
  const std::lock_guard lock(mutex_);
  cancel_.request_stop();
}

void BatchReader::Begin(const Work& work) {
  const std::lock_guard lock(mutex_);
  wanted_ = work;
  ++started_;
  changed_.notify_all();
}

Result<Batch> BatchReader::Wait() {
  std::unique_lock lock(mutex_);
  const bool is_there =
      changed_.wait_for(lock, access_.patience, [&] { return result_ && finished_ == started_; });
  if (is_there) return *std::exchange(result_, std::nullopt);
  Error late{ErrorCode::kUnavailable,
             fmt::format("no batch after {} s: {}",
                         std::chrono::duration<double>(access_.patience).count(), WhatIsRead()),
             {}};
  cancel_.request_stop();
  return late;
}

std::string BatchReader::WhatIsRead() const {
  if (!data_) return "the data set is not open yet";
  if (!reading_) return "an earlier read has not ended";
  const auto& part = data_->parts()[static_cast<std::size_t>(reading_->part)];
  return fmt::format("reading sample {} ({})", reading_->sample,
                     part.data->Describe(reading_->sample));
}

Status BatchReader::OpenAnew() {
  std::stop_token cancel;
  std::shared_ptr<const engine::DataMix> old;  // destroyed without the lock: it may join threads
  {
    const std::lock_guard lock(mutex_);
    cancel_.request_stop();
    cancel_ = {};
    cancel = cancel_.get_token();
    old = std::exchange(data_, nullptr);
  }
  old.reset();
  TESSERA_TRY(engine::DataMix data, access_.open(cancel));
  if (data.fingerprint() != fingerprint_) {
    return DataLoss(
        fmt::format("the data set changed while the job ran: it has {} samples, it had {}",
                    data.num_samples(), num_samples_));
  }
  const std::lock_guard lock(mutex_);
  data_ = std::make_shared<const engine::DataMix>(std::move(data));
  return OkStatus();
}

Result<Batch> BatchReader::Read(const Work& work) {
  // After an opening that failed there is no data set.
  if (work.is_anew || !data_) TESSERA_RETURN_IF_ERROR(OpenAnew());
  return ReadBatch(*data_, model_, work.request, [this](const engine::SampleId& sample) {
    const std::lock_guard lock(mutex_);
    reading_ = sample;
  });
}

void BatchReader::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return wanted_.has_value(); })) {
    const Work work = *std::exchange(wanted_, std::nullopt);
    const std::uint64_t number = started_;
    lock.unlock();
    auto batch = Read(work);
    lock.lock();
    reading_.reset();
    finished_ = number;
    result_ = std::move(batch);
    changed_.notify_all();
  }
}

}  // namespace tessera::agents::train
