// SPDX-License-Identifier: Apache-2.0
// Ending a meeting of devices does not wait for its thread, because a driver may block.
#include "agents/node/exchange_join.h"

#include <QTest>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <semaphore>

#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

/// Whoever posts something waits until the test lets it go on, as in a driver that blocks.
class BlockingTimers final : public Timers {
 public:
  Clock::time_point now() const override { return Clock::now(); }
  TimerId After(std::chrono::milliseconds, std::function<void()>) override { return 0; }
  TimerId Every(std::chrono::milliseconds, std::function<void()>) override { return 0; }
  void Cancel(TimerId) override {}
  void Post(std::function<void()>) override {
    arrived_.release();
    goes_on_.acquire();
    ++posted_;
  }
  void WaitForPost() { arrived_.acquire(); }
  void GoOn() { goes_on_.release(1000); }
  int posted() const { return posted_; }

 private:
  std::counting_semaphore<> arrived_{0}, goes_on_{0};
  std::atomic<int> posted_ = 0;
};

}  // namespace

class ExchangeJoinTest : public QObject {
  Q_OBJECT
 private slots:
  void itsEndDoesNotWaitForItsThread() {
    BlockingTimers timers;
    // Ends the wait if there is one, so that the test fails and does not hang.
    std::jthread late([&](const std::stop_token& stop) {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any().wait_for(lock, stop, std::chrono::seconds(40),
                                             [] { return false; });
      timers.GoOn();
    });
    Disposal left;
    auto join = std::make_unique<ExchangeJoin>(timers, left, std::nullopt, ExchangeMembers{},
                                               [](const std::string&) {},
                                               [](const ExchangeJoin::Met&) {});
    timers.WaitForPost();
    join.reset();
    QCOMPARE(timers.posted(), 0);
    late.request_stop();
  }
};

TESSERA_TEST_APPLESS(ExchangeJoinTest)
#include "exchange_join_test.moc"
