// SPDX-License-Identifier: Apache-2.0
#include "agents/net/loop.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QTest>
#include <array>
#include <thread>
#include <vector>

#include "agents/net/socket.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

class LoopTest : public QObject {
  Q_OBJECT
 private slots:
  void tasksRunInOrderOfPostingOnTheLoopsThread() {
    Loop loop;
    std::vector<int> order;
    bool inside = true;
    std::thread poster([&] {
      for (int i = 0; i < 1000; ++i) {
        loop.Post([&, i] {
          order.push_back(i);
          inside = inside && loop.InLoop();
        });
      }
      loop.Post([&] { loop.Stop(); });
    });
    QVERIFY(!loop.InLoop());
    loop.Run();
    poster.join();
    QVERIFY(inside);
    QCOMPARE(order.size(), std::size_t{1000});
    for (int i = 0; i < 1000; ++i) QCOMPARE(order[static_cast<std::size_t>(i)], i);
  }

  void stopEndsAfterTheCurrentCallbackAndDropsTheRest() {
    Loop loop;
    int ran = 0;
    auto held = std::make_shared<int>(0);
    loop.Post([&] {
      ++ran;
      loop.Stop();
    });
    loop.Post([&, held] { ++ran; });
    loop.Run();
    QCOMPARE(ran, 1);
    loop.Post([&, held] { ++ran; });
    QCOMPARE(held.use_count(), 1L);  // dropped, with the objects that they held
  }

  void timersFireInOrderOfTime() {
    Loop loop;
    std::vector<int> order;
    const auto begin = Loop::Now();
    loop.After(30ms, [&] { order.push_back(3); });
    loop.After(10ms, [&] { order.push_back(1); });
    loop.After(20ms, [&] { order.push_back(2); });
    loop.After(40ms, [&] { loop.Stop(); });
    loop.Run();
    QCOMPARE(order, (std::vector<int>{1, 2, 3}));
    QVERIFY(Loop::Now() - begin >= 40ms);
  }

  void callbacksMayCancelAnythingIncludingThemselves() {
    Loop loop;
    int every = 0;
    int other = 0;
    Loop::TimerId self = 0;
    Loop::TimerId victim = 0;
    self = loop.Every(2ms, [&] {
      ++every;
      // It is due after the next call of this timer, and before the loop stops, however late both
      // are.
      if (every == 2) victim = loop.After(10ms, [&] { ++other; });
      if (every < 3) return;
      loop.Cancel(self);
      loop.Cancel(victim);
      loop.After(20ms, [&] { loop.Stop(); });
    });
    loop.Run();
    QCOMPARE(every, 3);
    QCOMPARE(other, 0);
  }

  void aHeldUpLoopDoesNotFireForEachMissedPeriod() {
    Loop loop;
    int fired = 0;
    loop.Every(5ms, [&] {
      if (++fired > 1) return;
      std::this_thread::sleep_for(60ms);  // twelve periods
      // All that was due in them comes before this.
      loop.After(0ms, [&] { loop.Stop(); });
    });
    loop.Run();
    QVERIFY2(fired <= 2, qPrintable(QString::number(fired)));
  }

  void descriptorsReportWhatPollReports() {
    std::array<int, 2> pair{};
    QCOMPARE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    Loop loop;
    std::vector<short> seen;
    loop.WatchFd(pair[0], POLLIN, [&](short events) {
      seen.push_back(events);
      if ((events & POLLHUP) != 0) {
        loop.UnwatchFd(pair[0]);
        loop.Stop();
        return;
      }
      char byte = 0;
      QCOMPARE(::read(pair[0], &byte, 1), ssize_t{1});
      ::close(pair[1]);
    });
    QCOMPARE(::write(pair[1], "x", 1), ssize_t{1});
    loop.Run();
    ::close(pair[0]);
    QCOMPARE(seen.size(), std::size_t{2});
    QVERIFY((seen[0] & POLLIN) != 0);
    QVERIFY((seen[0] & POLLHUP) == 0);
    QVERIFY((seen[1] & POLLHUP) != 0);
  }

  // One socket always has a message to read, and a round still serves every source.
  void aBusySourceDoesNotStarveOthers() {
    std::array<int, 2> busy{};
    std::array<int, 2> quiet{};
    QCOMPARE(::socketpair(AF_UNIX, SOCK_STREAM, 0, busy.data()), 0);
    QCOMPARE(::socketpair(AF_UNIX, SOCK_STREAM, 0, quiet.data()), 0);
    QCOMPARE(::write(busy[1], "x", 1), ssize_t{1});  // never read
    Loop loop;
    int calls = 0;
    int after = -1;
    loop.WatchFd(busy[0], POLLIN, [&](short) {
      if (++calls == 10) {
        QCOMPARE(::write(quiet[1], "y", 1), ssize_t{1});
      }
      if (calls > 1000) loop.Stop();
    });
    loop.WatchFd(quiet[0], POLLIN, [&](short) {
      after = calls;
      loop.Stop();
    });
    loop.Run();
    for (const int fd : {busy[0], busy[1], quiet[0], quiet[1]}) ::close(fd);
    QVERIFY2(after >= 10 && after <= 12, qPrintable(QString::number(after)));
  }

  // Every message causes a call, also those that `ready` leaves unread.
  void socketsAreCalledUntilTheyAreEmpty() {
    NetContext context;
    auto pull = *Socket::Server(context, SocketKind::kPull, {});
    auto push = *Socket::Client(context, SocketKind::kPush, {}, {});
    const std::string endpoint = *pull.Bind("tcp://127.0.0.1:*");
    QVERIFY(push.Connect(endpoint));
    for (int i = 0; i < 100; ++i) {
      std::vector<Frame> frames;
      frames.push_back(Frame::Of(std::to_string(i)));
      QVERIFY(push.Send(std::move(frames)));
    }
    Loop loop;
    int next = 0;
    bool ordered = true;
    loop.Watch(pull, [&] {
      const auto message = pull.Receive();
      ordered = ordered && message && *message && (*message)->Text(0) == std::to_string(next);
      if (++next == 100) {
        loop.Unwatch(pull);
        loop.Stop();
      }
    });
    loop.Run();
    QVERIFY(ordered);
    QCOMPARE(next, 100);
  }

  void aCallbackMayUnwatchAnotherReadySource() {
    std::array<int, 2> a{};
    std::array<int, 2> b{};
    QCOMPARE(::socketpair(AF_UNIX, SOCK_STREAM, 0, a.data()), 0);
    QCOMPARE(::socketpair(AF_UNIX, SOCK_STREAM, 0, b.data()), 0);
    QCOMPARE(::write(a[1], "x", 1), ssize_t{1});
    QCOMPARE(::write(b[1], "x", 1), ssize_t{1});
    Loop loop;
    int calls = 0;
    const auto first = [&](short) {
      ++calls;
      loop.UnwatchFd(a[0]);
      loop.UnwatchFd(b[0]);
      loop.After(10ms, [&] { loop.Stop(); });
    };
    loop.WatchFd(a[0], POLLIN, first);
    loop.WatchFd(b[0], POLLIN, first);
    loop.Run();
    for (const int fd : {a[0], a[1], b[0], b[1]}) ::close(fd);
    QCOMPARE(calls, 1);
  }
};
TESSERA_TEST_APPLESS(LoopTest)
#include "loop_test.moc"
