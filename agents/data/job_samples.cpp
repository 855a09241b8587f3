// SPDX-License-Identifier: Apache-2.0
#include "agents/data/job_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "agents/data/job_data.h"
#include "engine/data/index_file.h"

namespace tessera::agents {
namespace {

using engine::vfs::JobData;
using engine::vfs::JobDataPtr;
using engine::vfs::JobInfo;
using Clock = std::chrono::steady_clock;

/// Open data.
constexpr std::size_t kMaxOpen = 16;

Result<JobDataPtr> OpenSettings(const std::string& json, const engine::IndexOptions& index) {
  TESSERA_TRY(const engine::JobSettings settings, engine::ParseJobSettings(json));
  if (settings.program) return NotFound("a user's program reads its own data");
  if (settings.global_batch < 1) {
    return InvalidArgument(fmt::format("a global batch of {} samples", settings.global_batch));
  }
  TESSERA_TRY(engine::DataMix mix, OpenJobData(settings, index));
  return std::make_shared<const JobData>(
      JobData{std::move(mix), settings.seed, settings.global_batch, settings.max_steps});
}

/// The data of some settings, while being opened and when open.
struct Slot {
  std::string settings;
  std::atomic<std::int64_t> done_bytes = 0, total_bytes = 0;
  std::optional<Result<JobDataPtr>> result = {};  // nullopt: being opened
  std::optional<Clock::time_point> failed = {};   // when opening or reading first failed
};
using SlotPtr = std::shared_ptr<Slot>;

class JobSamples final : public engine::vfs::SampleSource {
 public:
  explicit JobSamples(JobSamplesOptions options) : options_(std::move(options)) {}
  ~JobSamples() override { JobSamples::Stop(); }

  Result<JobDataPtr> Open(const JobInfo& job) override {
    std::list<SlotPtr> dropped;  // destroyed without the lock: closing data may take long
    SlotPtr slot;
    std::unique_lock lock(mutex_);
    slot = SlotOf(job.settings_json, dropped);
    opened_.wait_for(lock, options_.patience,
                     [&] { return slot->result.has_value() || stop_.stop_requested(); });
    if (slot->result) return *slot->result;
    if (stop_.stop_requested()) return Cancelled("the file tree ends");
    return Timeout(fmt::format("data of job '{}' are being opened: {} of {} bytes are read",
                               job.name, slot->done_bytes.load(), slot->total_bytes.load()));
  }

  void Failed(const JobDataPtr& data) override {
    const std::lock_guard lock(mutex_);
    for (const SlotPtr& slot : slots_) {
      const bool is_it = slot->result && *slot->result && **slot->result == data;
      if (is_it && !slot->failed) slot->failed = Clock::now();
    }
  }

  void Stop() override {
    stop_.request_stop();
    const std::lock_guard lock(mutex_);
    opened_.notify_all();
  }

 private:
  /// Returns the slot of the settings and marks it as used. If there is none, or it failed some
  /// time ago, starts to open a new one.
  /// \pre mutex_ is held
  /// \param dropped receives the slots that are removed
  SlotPtr SlotOf(const std::string& settings, std::list<SlotPtr>& dropped) {
    const auto found = std::ranges::find(
        slots_, settings, [](const SlotPtr& slot) -> const std::string& { return slot->settings; });
    if (found != slots_.end()) {
      const auto failed = (*found)->failed;
      const bool is_over = failed && Clock::now() - *failed > options_.pause;
      if (!is_over) {
        slots_.splice(slots_.begin(), slots_, found);
        return slots_.front();
      }
      dropped.splice(dropped.end(), slots_, found);
    }
    slots_.push_front(std::make_shared<Slot>());
    slots_.front()->settings = settings;
    if (slots_.size() > kMaxOpen) dropped.splice(dropped.end(), slots_, std::prev(slots_.end()));
    if (!stop_.stop_requested()) StartOpening(slots_.front());
    return slots_.front();
  }

  void StartOpening(const SlotPtr& slot) {
    std::erase_if(threads_, [](const auto& thread) { return thread->done.load(); });
    threads_.push_back(std::make_unique<Thread>());
    Thread& thread = *threads_.back();
    thread.thread = std::jthread([this, slot, &thread] {
      OpenSlot(*slot);
      thread.done = true;
    });
  }

  void OpenSlot(Slot& slot) {
    engine::IndexOptions index;
    index.cancel = stop_.get_token();
    index.warn = options_.warn;
    index.progress = [&slot](std::int64_t done, std::int64_t total) {
      slot.done_bytes = done;
      slot.total_bytes = total;
    };
    auto result = OpenSettings(slot.settings, index);
    const std::lock_guard lock(mutex_);
    slot.result = std::move(result);
    if (!*slot.result) slot.failed = Clock::now();
    opened_.notify_all();
  }

  struct Thread {
    std::atomic<bool> done = false;
    std::jthread thread;
  };
  const JobSamplesOptions options_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable opened_;
  std::list<SlotPtr> slots_;                    // guarded by mutex_; youngest first
  std::list<std::unique_ptr<Thread>> threads_;  // guarded by mutex_; last: they use the others
};

}  // namespace

std::shared_ptr<engine::vfs::SampleSource> MakeJobSamples(JobSamplesOptions options) {
  return std::make_shared<JobSamples>(std::move(options));
}

}  // namespace tessera::agents
