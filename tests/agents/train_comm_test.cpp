// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTest>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "agents/train/comm/gloo_group.h"
#include "agents/train/comm/groups.h"
#include "agents/train/comm/shm_group.h"
#include "tests/agents/local_rendezvous.h"

using namespace tessera;
using namespace tessera::agents::train;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

/// Element i of rank r in round k: sums of these round, so that the order of addition shows.
float ValueOf(int rank, std::size_t i, int round) {
  return std::sin(static_cast<float>(rank + 1) * 1.7F + static_cast<float>(i) * 0.013F +
                  static_cast<float>(round)) *
         std::pow(10.0F, static_cast<float>((rank + static_cast<int>(i)) % 4));
}

std::vector<float> ValuesOf(int rank, std::size_t size, int round) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = ValueOf(rank, i, round);
  return values;
}

constexpr std::size_t kSizes[] = {1, 7, 16384, 16385, 300001, 1};

/// What is wrong with the collectives of this rank, or an empty string.
std::string CheckCollectives(Collective& group, bool is_rank_order_sum) {
  const int ranks = group.size();
  int round = 0;
  for (const std::size_t size : kSizes) {
    std::vector<float> sum = ValuesOf(group.rank(), size, ++round);
    if (const auto status = group.AllReduceSum(sum); !status) return status.error().ToString();
    std::vector<float> max = ValuesOf(group.rank(), size, round);
    if (const auto status = group.AllReduceMax(max); !status) return status.error().ToString();
    for (std::size_t i = 0; i < size; ++i) {
      float expected_sum = ValueOf(0, i, round), expected_max = expected_sum, magnitude = 0;
      for (int r = 1; r < ranks; ++r) {
        expected_sum += ValueOf(r, i, round);
        expected_max = std::max(expected_max, ValueOf(r, i, round));
      }
      for (int r = 0; r < ranks; ++r) magnitude += std::abs(ValueOf(r, i, round));
      const bool sum_is_right = is_rank_order_sum
                                    ? std::memcmp(&sum[i], &expected_sum, sizeof(float)) == 0
                                    : std::abs(sum[i] - expected_sum) <= 1e-6F * magnitude;
      if (!sum_is_right) return "sum of element " + std::to_string(i);
      if (max[i] != expected_max) return "maximum of element " + std::to_string(i);
    }
    // All ranks have the same bits.
    const std::vector<float> mine = sum;
    std::vector<float> all(size * static_cast<std::size_t>(ranks));
    if (const auto status =
            group.AllGather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
        !status) {
      return status.error().ToString();
    }
    for (int r = 0; r < ranks; ++r) {
      if (std::memcmp(all.data() + static_cast<std::size_t>(r) * size, mine.data(), size * 4) !=
          0) {
        return "gathered sums differ";
      }
    }
    const std::vector<float> own = ValuesOf(group.rank(), size, round);
    if (const auto status =
            group.AllGather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
        !status) {
      return status.error().ToString();
    }
    for (int r = 0; r < ranks; ++r) {
      const auto expected = ValuesOf(r, size, round);
      if (std::memcmp(all.data() + static_cast<std::size_t>(r) * size, expected.data(), size * 4) !=
          0) {
        return "gathered values of rank " + std::to_string(r);
      }
    }
    if (const auto status = group.Barrier(); !status) return status.error().ToString();
  }
  return {};
}

int Memory(int ranks) {
  const int fd = ::memfd_create("group", MFD_CLOEXEC);
  if (::ftruncate(fd, static_cast<off_t>(ShmGroupBytes(ranks))) != 0) ::abort();
  return fd;
}

GroupOptions Options(int rank, int size) {
  GroupOptions options;
  options.name = "g";
  options.rank = rank;
  options.size = size;
  return options;
}

/// Runs `body(rank)` on a thread each and returns what they returned.
std::vector<std::string> OnThreads(int ranks, const std::function<std::string(int)>& body) {
  std::vector<std::string> results(static_cast<std::size_t>(ranks));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { results[static_cast<std::size_t>(rank)] = body(rank); });
  }
  threads.clear();
  return results;
}

}  // namespace

class TrainCommTest : public QObject {
  Q_OBJECT

  static void compareWithNothing(const std::vector<std::string>& results) {
    for (const std::string& result : results) QCOMPARE(result, std::string());
  }

 private slots:
  void sharedMemoryBetweenProcesses_data() {
    QTest::addColumn<int>("ranks");
    for (const int ranks : {2, 3, 4, 8}) QTest::addRow("%d ranks", ranks) << ranks;
  }
  void sharedMemoryBetweenProcesses() {
    QFETCH(int, ranks);
    const int fd = Memory(ranks);
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        auto group = MakeShmGroup(Options(rank, ranks), ::dup(fd));
        const std::string wrong = group ? CheckCollectives(**group, true) : "no group";
        if (!wrong.empty()) std::fprintf(stderr, "rank %d: %s\n", rank, wrong.c_str());
        ::_exit(wrong.empty() ? 0 : 1);
      }
      children.push_back(pid);
    }
    ::close(fd);
    for (const pid_t pid : children) {
      int status = -1;
      QCOMPARE(::waitpid(pid, &status, 0), pid);
      QCOMPARE(status, 0);
    }
  }

  // A rank that is killed never comes; the others get out once somebody says that it is over.
  void killedRankIsWaitedForUntilAbandoned() {
    const int fd = Memory(3);
    const pid_t pid = ::fork();
    if (pid == 0) {
      auto group = MakeShmGroup(Options(2, 3), ::dup(fd));
      std::vector<float> values(100000, 1);
      while ((*group)->AllReduceSum(values)) {
      }
      ::_exit(0);
    }
    std::atomic<bool> abandoned = false;
    std::atomic<int> waiting = 0;
    std::vector<ErrorCode> codes(2, ErrorCode::kInternal);
    steady_clock::time_point abandoned_at;
    {
      std::vector<std::jthread> threads;
      for (int rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
          GroupOptions options = Options(rank, 3);
          options.abandoned = [&] {
            ++waiting;  // is asked only by a rank that waits
            return abandoned.load();
          };
          auto group = MakeShmGroup(options, ::dup(fd));
          std::vector<float> values(100000, 1);
          while (true) {
            const Status status = (*group)->AllReduceSum(values);
            if (status) continue;
            codes[static_cast<std::size_t>(rank)] = status.error().code;
            return;
          }
        });
      }
      std::this_thread::sleep_for(milliseconds(50));
      ::kill(pid, SIGKILL);
      int status = 0;
      ::waitpid(pid, &status, 0);
      waiting = 0;
      QTRY_VERIFY(waiting > 4);  // both look again and again: nobody else is coming
      abandoned_at = steady_clock::now();
      abandoned = true;
    }
    ::close(fd);
    QVERIFY(steady_clock::now() - abandoned_at < milliseconds(1000));
    QVERIFY(codes[0] == ErrorCode::kCancelled && codes[1] == ErrorCode::kCancelled);
  }

  void abortReachesEveryRank() {
    const int fd = Memory(3);
    auto first = MakeShmGroup(Options(0, 3), ::dup(fd));
    std::vector<std::jthread> threads;
    std::atomic<int> cancelled = 0;
    for (int rank = 1; rank < 3; ++rank) {
      threads.emplace_back([&, rank] {
        auto group = MakeShmGroup(Options(rank, 3), ::dup(fd));
        const Status status = (*group)->Barrier();
        if (!status && status.error().code == ErrorCode::kCancelled) ++cancelled;
        if (!(*group)->Barrier()) ++cancelled;  // stays broken
      });
    }
    std::this_thread::sleep_for(milliseconds(30));
    (*first)->Abort();
    threads.clear();
    ::close(fd);
    QCOMPARE(cancelled.load(), 4);
    QVERIFY(!(*first)->Barrier());
  }

  void rankThatDoesNotComeIsATimeout() {
    const int fd = Memory(2);
    GroupOptions options = Options(0, 2);
    options.timeout = milliseconds(100);
    auto group = MakeShmGroup(options, fd);
    const auto start = steady_clock::now();
    const Status status = (*group)->Barrier();
    QVERIFY(!status);
    QCOMPARE(status.error().code, ErrorCode::kTimeout);
    QCOMPARE(status.error().message, std::string("a rank of group g did not come within 100 ms"));
    QVERIFY(steady_clock::now() - start >= milliseconds(100));
  }

  void fileThatIsTooSmallIsRefused() {
    const int fd = ::memfd_create("small", MFD_CLOEXEC);
    const auto group = MakeShmGroup(Options(0, 2), fd);
    QVERIFY(!group);
    QCOMPARE(group.error().code, ErrorCode::kInvalidArgument);
  }

  void glooBetweenThreads() {
    const auto rendezvous = std::make_shared<test::LocalRendezvous>();
    compareWithNothing(OnThreads(4, [&](int rank) -> std::string {
      auto group = MakeGlooGroup(Options(rank, 4), "127.0.0.1", rendezvous);
      return group ? CheckCollectives(**group, false) : group.error().ToString();
    }));
  }

  void glooCollectiveIsAbandoned() {
    const auto rendezvous = std::make_shared<test::LocalRendezvous>();
    std::atomic<bool> is_out = false;
    steady_clock::time_point abandoned_at, out_at;
    compareWithNothing(OnThreads(2, [&](int rank) -> std::string {
      GroupOptions options = Options(rank, 2);
      options.abandoned = [&] { return rendezvous->Abandoned(); };
      options.timeout = std::chrono::seconds(20);
      auto group = MakeGlooGroup(options, "127.0.0.1", rendezvous);
      if (!group) return group.error().ToString();
      if (rank == 1) {  // never joins the collective
        std::this_thread::sleep_for(milliseconds(100));
        abandoned_at = steady_clock::now();
        rendezvous->Abandon();
        while (!is_out) std::this_thread::yield();
        return {};
      }
      std::vector<float> values(100000, 1);
      const Status status = (*group)->AllReduceSum(values);
      out_at = steady_clock::now();
      is_out = true;
      if (status || status.error().code != ErrorCode::kCancelled) return "not cancelled";
      return (*group)->Barrier() ? "still usable" : "";
    }));
    QVERIFY(out_at - abandoned_at < milliseconds(1000));
  }

  void glooRankThatNeverConnectsIsAbandoned() {
    const auto rendezvous = std::make_shared<test::LocalRendezvous>();
    steady_clock::time_point abandoned_at;
    std::jthread abandon([&] {
      std::this_thread::sleep_for(milliseconds(100));
      abandoned_at = steady_clock::now();
      rendezvous->Abandon();
    });
    const auto group = MakeGlooGroup(Options(0, 2), "127.0.0.1", rendezvous);
    const auto out_at = steady_clock::now();
    abandon.join();
    QVERIFY(!group);
    QCOMPARE(group.error().code, ErrorCode::kCancelled);
    QVERIFY(out_at - abandoned_at < milliseconds(1000));
  }

  // Rank r of dp = 2, tp = 2 on two hosts: tp inside a host, the rest across.
  void transportFollowsTheHosts_data() {
    QTest::addColumn<int>("hosts");
    QTest::addColumn<QStringList>("shared");
    QTest::newRow("one host") << 1 << QStringList{"dp-t0", "dp-t1", "tp-d0", "tp-d1", "world"};
    QTest::newRow("two hosts") << 2 << QStringList{"tp-d0", "tp-d1"};
    QTest::newRow("four hosts") << 4 << QStringList{};
  }
  void transportFollowsTheHosts() {
    QFETCH(int, hosts);
    QFETCH(QStringList, shared);
    const auto rendezvous = std::make_shared<test::LocalRendezvous>();
    const test::LocalMesh mesh(2, 2, hosts);
    compareWithNothing(OnThreads(4, [&](int rank) -> std::string {
      const auto groups = ConnectGroups(mesh.View(rank), rendezvous, 7, std::chrono::seconds(20));
      if (!groups) return groups.error().ToString();
      if (groups->world->size() != 4 || groups->world->rank() != rank) return "world";
      std::vector<float> value{static_cast<float>(1 << rank)};
      if (!groups->tp->AllReduceSum(value)) return "tp";
      if (value[0] != (rank < 2 ? 3.0F : 12.0F)) return "members of tp";
      value = {static_cast<float>(1 << rank)};
      if (!groups->dp->AllReduceSum(value)) return "dp";
      return value[0] == (rank % 2 == 0 ? 5.0F : 10.0F) ? "" : "members of dp";
    }));
    QStringList names;
    for (const std::string& name : rendezvous->shared()) names << QString::fromStdString(name);
    QCOMPARE(names, shared);
    QCOMPARE(rendezvous->has_keys(), hosts > 1);
  }

  void ranksWithOtherDataAreFound() {
    const auto rendezvous = std::make_shared<test::LocalRendezvous>();
    const test::LocalMesh mesh(2, 1, 1);
    const auto errors = OnThreads(2, [&](int rank) -> std::string {
      const auto groups = ConnectGroups(mesh.View(rank), rendezvous,
                                        static_cast<std::uint64_t>(rank), std::chrono::seconds(20));
      return groups ? "" : groups.error().message;
    });
    for (const std::string& error : errors) {
      QCOMPARE(error, std::string("the data set of rank 1 differs from that of rank 0"));
    }
  }
};
QTEST_GUILESS_MAIN(TrainCommTest)
#include "train_comm_test.moc"
