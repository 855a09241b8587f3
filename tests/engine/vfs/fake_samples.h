// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data of jobs in memory, with switches for faults.

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/vfs/sample_source.h"

namespace tessera::test {

/// The same data for all jobs.
/// \threadsafety Any thread.
class FakeSamples final : public engine::vfs::SampleSource {
 public:
  /// Sets the data of later calls of Open. Open data stay as they are.
  void Put(engine::vfs::JobData data) {
    const std::lock_guard lock(mutex_);
    data_ = std::make_shared<const engine::vfs::JobData>(std::move(data));
  }
  /// Makes later calls of Open fail; nullopt: they return the data.
  void Fail(std::optional<Error> error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
  }
  /// Runs `action` at the start of each Open, without a lock.
  void BeforeOpen(std::function<void()> action) {
    const std::lock_guard lock(mutex_);
    before_ = std::move(action);
  }
  int num_failed() const {
    const std::lock_guard lock(mutex_);
    return failed_;
  }
  int num_opens() const {
    const std::lock_guard lock(mutex_);
    return opens_;
  }
  bool is_stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

  Result<engine::vfs::JobDataPtr> Open(const engine::vfs::JobInfo& /*job*/) override {
    std::function<void()> before;
    {
      const std::lock_guard lock(mutex_);
      before = before_;
    }
    if (before) before();
    const std::lock_guard lock(mutex_);
    ++opens_;
    if (error_) return *error_;
    return data_;
  }
  void Failed(const engine::vfs::JobDataPtr& data) override {
    const std::lock_guard lock(mutex_);
    if (data == data_) ++failed_;
  }
  void Stop() override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }

 private:
  mutable std::mutex mutex_;
  engine::vfs::JobDataPtr data_;
  std::optional<Error> error_;
  std::function<void()> before_;
  int opens_ = 0;
  int failed_ = 0;
  bool stopped_ = false;
};

}  // namespace tessera::test
