// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Takes state that is handed in, and judges it element by element.

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
  /// What Take answers from now on; nullopt: it takes.
  void Fail(std::optional<Error> error);
  /// Runs in the next Take, without a lock.
  void InNextTake(std::function<void()> action);
  /// What is wrong with the states that were taken, in the words of the judge; "" for one that is
  /// what FakeSource shows of its step.
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
