// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state of a cluster in memory. The test changes steps and layouts of the jobs. The value of an
/// element is a function of tensor, global index and step, so that every byte of a file can be checked
/// by itself.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/vfs/state_source.h"

namespace tessera::test {

/// The bits of an element. A tensor stores as many of the low ones as its type has.
std::uint64_t ElementBits(int tensor, std::int64_t index, std::int64_t step);

/// One read of a view.
struct SeenRead {
  int tensor = 0;
  ptc::Box box = ptc::Box::Scalar();
};

/// \threadsafety Any thread.
class FakeSource final : public engine::vfs::StateSource {
 public:
  void Put(engine::vfs::JobInfo job);
  void Remove(const std::string& name);
  void Step(const std::string& name, std::int64_t by = 1);
  /// Changes layout and epoch; the step stays.
  void Reconfigure(const std::string& name, ptc::Layout layout);

  /// Whether views show their memory.
  void SetDirect(bool direct);
  /// Make later calls of Jobs, Pin and Read fail; nullopt: they succeed.
  void FailJobs(std::optional<Error> error);
  void FailPins(std::optional<Error> error);
  void FailReads(std::optional<Error> error);
  /// Runs `action` at the start of the next Pin, without a lock.
  void BeforeNextPin(std::function<void()> action);

  int num_jobs_calls() const;
  int num_pins() const;
  int num_views() const;  // held now
  std::vector<SeenRead> TakeReads();

  Result<std::vector<engine::vfs::JobInfo>> Jobs() override;
  Result<engine::vfs::StateViewPtr> Pin(const std::string& job) override;
  void Cancel() override { cancelled = true; }
  std::atomic<bool> cancelled = false;

 private:
  class View;
  struct Shared {  // outlives the source in views
    mutable std::mutex mutex;
    bool direct = false;
    std::optional<Error> read_error = {};
    std::vector<SeenRead> reads = {};
    int views = 0;
  };
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  mutable std::mutex mutex_;
  std::map<std::string, engine::vfs::JobInfo> jobs_;
  std::map<std::string, std::weak_ptr<const View>> held_;
  std::optional<Error> jobs_error_;
  std::optional<Error> pin_error_;
  std::function<void()> before_pin_;
  int jobs_calls_ = 0;
  int pins_ = 0;
};

/// A job of `layout` at epoch 1, step 10.
engine::vfs::JobInfo AnyJobInfo(std::string name, ptc::Layout layout);

/// A parameter "w" of f32, cut along its rows by tp, its moment, a small bf16 one, and a scalar.
/// \pre tp divides rows
ptc::Layout MatrixLayout(const std::string& mesh, std::int64_t rows, std::int64_t columns);

/// Checks a whole file of a job at the step of `job`: reads its header with another parser than the
/// tree's, and compares every element.
/// \param rank nullopt: a file of full/
/// \param model the model's file; false: the optimizer's
/// \return the first fault, or an empty string
std::string Judge(const std::string& bytes, const engine::vfs::JobInfo& job,
                  std::optional<int> rank, bool model);

}  // namespace tessera::test
