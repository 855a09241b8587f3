// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Takes handed-in state and checks it element by element.

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/vfs/state_sink.h"

namespace tessera::test {

/// \threadsafety Any thread.
class FakeSink final : public engine::vfs::StateSink {
 public:
  /// Makes later calls of Take fail; nullopt: they succeed.
  void Fail(std::optional<Error> error);
  /// Runs `action` in the next Take, without a lock.
  void InNextTake(std::function<void()> action);
  /// The first fault of each state that was taken; "" for a state that equals FakeSource's of the same
  /// step.
  std::vector<std::string> verdicts() const;
  std::vector<engine::vfs::HandedStatePtr> taken() const;
  std::vector<std::string> refusals() const;

  Status Take(engine::vfs::HandedStatePtr state) override;
  void NoteRefused(const std::string& job, const std::string& why) override;
  void Cancel() override {}

 private:
  mutable std::mutex mutex_;
  std::optional<Error> error_;
  std::function<void()> in_take_;
  std::vector<std::string> verdicts_;
  std::vector<engine::vfs::HandedStatePtr> taken_;
  std::vector<std::string> refusals_;
};

}  // namespace tessera::test
