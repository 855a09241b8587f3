// SPDX-License-Identifier: Apache-2.0
#include "agents/net/worker.h"

#include <QTest>
#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "agents/net/loop.h"
#include "tests/support/test_main.h"

using namespace tessera::agents;

class WorkerTest : public QObject {
  Q_OBJECT

 private slots:
  void resultsArriveOnTheLoopInOrder() {
    Loop loop;
    Worker worker(loop);
    std::vector<int> worked, arrived;
    std::thread::id at_work;
    for (int i = 0; i < 3; ++i) {
      worker.Run(
          [&, i] {
            worked.push_back(i);
            at_work = std::this_thread::get_id();
          },
          [&, i] {
            QVERIFY(loop.InLoop());
            arrived.push_back(i);
            if (i == 2) loop.Stop();
          });
    }
    loop.Run();
    QCOMPARE(worked, (std::vector<int>{0, 1, 2}));
    QCOMPARE(arrived, worked);
    QVERIFY(at_work != std::this_thread::get_id());
  }

  // The running task ends, the next one is dropped, and nothing arrives any more.
  void aWorkerThatEndsDropsWhatWaits() {
    Loop loop;
    std::optional<Worker> worker(std::in_place, loop);
    std::promise<void> begun, go_on;
    std::atomic<int> worked = 0, arrived = 0;
    worker->Run(
        [&] {
          begun.set_value();
          go_on.get_future().wait();
          ++worked;
        },
        [&] { ++arrived; });
    worker->Run([&] { ++worked; }, [&] { ++arrived; });
    begun.get_future().wait();
    std::thread ends([&] { worker.reset(); });
    go_on.set_value();
    ends.join();
    loop.Post([&] { loop.Stop(); });
    loop.Run();
    QVERIFY(worked >= 1);
    QCOMPARE(arrived.load(), 0);
  }
};

TESSERA_TEST_APPLESS(WorkerTest)
#include "worker_test.moc"
