// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "agents/train/comm/groups.h"
#include "agents/train/comm/shm_group.h"
#include "agents/train/comm/tcp_group.h"
#include "agents/train/comm/thread_rendezvous.h"
#include "engine/files/whole_file.h"
#include "tests/agents/local_mesh.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents::train;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

/// Element i of rank r in round k. Sums of these are rounded, so the order of addition matters.
float ValueOf(int rank, std::size_t i, int round) {
  constexpr float kScales[] = {1, 10, 100, 1000};
  const auto r = static_cast<std::uint32_t>(rank), k = static_cast<std::uint32_t>(round);
  const std::uint32_t mixed = (static_cast<std::uint32_t>(i) + r * 40503 + k * 97) * 2654435761U;
  return (static_cast<float>(mixed >> 8) / 8388608.0F - 1) * kScales[(r + i) % 4];
}

std::vector<float> ValuesOf(int rank, std::size_t size, int round) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = ValueOf(rank, i, round);
  return values;
}

constexpr std::size_t kSizes[] = {1, 7, 16384, 16385, 300001, 1};

/// Describes what is wrong with the collectives of this rank; empty if nothing is.
std::string CheckCollectives(Collective& group) {
  const int ranks = group.size();
  int round = 0;
  for (const std::size_t size : kSizes) {
    std::vector<float> sum = ValuesOf(group.rank(), size, ++round);
    if (const auto status = group.AllReduceSum(sum); !status) return status.error().ToString();
    std::vector<float> max = ValuesOf(group.rank(), size, round);
    if (const auto status = group.AllReduceMax(max); !status) return status.error().ToString();
    for (std::size_t i = 0; i < size; ++i) {
      float expected_sum = ValueOf(0, i, round), expected_max = expected_sum;
      for (int r = 1; r < ranks; ++r) {
        expected_sum += ValueOf(r, i, round);
        expected_max = std::max(expected_max, ValueOf(r, i, round));
      }
      // Sums are made in rank order: the same bits.
      if (std::memcmp(&sum[i], &expected_sum, sizeof(float)) != 0) {
        return "sum of element " + std::to_string(i);
      }
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

/// One step of a 1F1B pipeline (Narayanan et al., SC 2021, section 2.2). Each message contains its
/// micro-batch and the stages that it has passed. Returns what is wrong, or an empty string.
std::string CheckPipeline(Collective& pp, int micro_batches, std::size_t size) {
  const int stage = pp.rank(), last = pp.size() - 1;
  const auto message = [&](int micro_batch, int from, bool is_forward) {
    return ValuesOf(from + (is_forward ? 0 : 100), size, micro_batch);
  };
  std::vector<float> values(size);
  std::string wrong;
  const auto pass = [&](int micro_batch, bool is_forward) {
    const int before = is_forward ? stage - 1 : stage + 1;
    const int after = is_forward ? stage + 1 : stage - 1;
    if (wrong.empty() && 0 <= before && before <= last) {
      const Status status = pp.Receive(before, values);
      if (!status) {
        wrong = status.error().ToString();
      } else if (values != message(micro_batch, before, is_forward)) {
        wrong = "stage " + std::to_string(stage) + (is_forward ? " forward" : " backward");
      }
    }
    if (wrong.empty() && 0 <= after && after <= last) {
      std::vector<float> mine = message(micro_batch, stage, is_forward);
      const Status status = pp.Send(after, mine);
      std::fill(mine.begin(), mine.end(), -1.0F);  // as a buffer that is used again
      if (!status) wrong = status.error().ToString();
    }
  };
  int forward = 0, backward = 0;
  while (forward < std::min(last - stage, micro_batches)) pass(forward++, true);
  while (forward < micro_batches) {
    pass(forward++, true);
    pass(backward++, false);
  }
  while (backward < micro_batches) pass(backward++, false);
  return wrong;
}

constexpr std::size_t kMessageFloats = 5000;

/// Describes what is wrong with the messages of this rank; empty if nothing is.
std::string CheckMessages(Collective& group) {
  const int first = 0, last = group.size() - 1, rank = group.rank();
  for (const std::size_t size : {std::size_t{1}, kMessageFloats, kMessageFloats - 1}) {
    if (auto wrong = CheckPipeline(group, 9, size); !wrong.empty()) return wrong;
    if (auto wrong = CheckPipeline(group, 1, size); !wrong.empty()) return wrong;
  }
  // The largest number of messages in flight is sent without waiting: the receiver reads them only
  // after the barrier. They keep their order.
  const auto in_order = [](int i) {
    return ValuesOf(i, kMessageFloats - static_cast<std::size_t>(i), 1);
  };
  for (int i = 0; rank == first && i < Collective::kMaxInFlight; ++i) {
    if (!group.Send(last, in_order(i))) return "send";
  }
  if (!group.Barrier()) return "barrier";
  for (int i = 0; rank == last && i < Collective::kMaxInFlight; ++i) {
    std::vector<float> values(in_order(i).size());
    if (!group.Receive(first, values) || values != in_order(i)) return "order";
  }
  // 16 MiB in both directions, far more than the group was made for, and a small message.
  constexpr std::size_t kLarge = 4 << 20;
  const auto large = [](int from) {
    std::vector<float> values(kLarge);
    for (std::size_t i = 0; i < kLarge; ++i) {
      values[i] = static_cast<float>(i % 65537) + static_cast<float>(from);
    }
    return values;
  };
  std::vector<float> values(kLarge), one(1);
  if (rank == first) {
    if (!group.Send(last, large(rank)) || !group.Send(last, std::vector<float>{3})) return "large";
    if (!group.Receive(last, values) || values != large(last)) return "large back";
  } else if (rank == last) {
    if (!group.Receive(first, values) || values != large(first)) return "large there";
    if (!group.Receive(first, one) || one[0] != 3) return "one beside it";
    if (!group.Send(first, large(rank))) return "large";
  }
  return group.Barrier() ? "" : "barrier";
}

int Memory(int ranks, std::size_t message_floats = 0) {
  const int fd = ::memfd_create("group", MFD_CLOEXEC);
  if (::ftruncate(fd, static_cast<off_t>(ShmGroupBytes(ranks, message_floats))) != 0) ::abort();
  return fd;
}

GroupOptions Options(int rank, int size, std::size_t message_floats = 0) {
  GroupOptions options;
  options.name = "g";
  options.rank = rank;
  options.size = size;
  options.message_floats = message_floats;
  return options;
}

/// A rendezvous of processes: one file per key. It is abandoned once a file named "abandoned"
/// exists.
class FolderRendezvous final : public Rendezvous {
 public:
  explicit FolderRendezvous(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Status Set(const std::string& key, std::span<const std::byte> value) override {
    const std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
    return engine::WriteWholeFile(FileOf(key), text, 0600);
  }
  Result<std::vector<std::byte>> Get(const std::string& key, milliseconds timeout) override {
    const auto deadline = steady_clock::now() + timeout;
    while (!std::filesystem::exists(FileOf(key))) {
      if (steady_clock::now() >= deadline) return tessera::Timeout("no key '" + key + "'");
      std::this_thread::sleep_for(milliseconds(2));
    }
    TESSERA_TRY(const std::string text, engine::ReadWholeFile(FileOf(key)));
    const auto bytes = std::as_bytes(std::span(text));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  Result<int> SharedMemory(const std::string& key, std::size_t size_bytes) override {
    const int fd = ::open(FileOf(key).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(size_bytes)) != 0) {
      return ResourceExhausted("no memory '" + key + "'");
    }
    return fd;
  }
  bool Abandoned() const override { return std::filesystem::exists(folder_ / "abandoned"); }
  void Abandon() { std::ofstream(folder_ / "abandoned") << "x"; }

 private:
  std::filesystem::path FileOf(std::string key) const {
    std::replace(key.begin(), key.end(), '/', '_');
    return folder_ / key;
  }
  const std::filesystem::path folder_;
};

constexpr std::size_t kKilledFloats = 4 << 20;
constexpr const char* kPeer = "--peer";

/// A mesh of three stages of one replica, on one host or on three.
Result<Groups> ThreeStages(int rank, bool one_host, std::shared_ptr<Rendezvous> rendezvous) {
  const test::LocalMesh mesh(3, 1, 1, one_host ? 1 : 3);
  return ConnectGroups(mesh.View(rank), std::move(rendezvous), 1, std::chrono::seconds(30),
                       kMessageFloats);
}

/// The rank that is killed sends without end.
int RunPeer(const char* folder, bool one_host) {
  auto groups = ThreeStages(2, one_host, std::make_shared<FolderRendezvous>(folder));
  if (!groups) return 1;
  const std::vector<float> values(kKilledFloats, 1);
  while (groups->pp->Send(1, values)) {
  }
  return 0;
}

/// A waiting rank checks its flags every 20 ms; an operation that does not wait checks once.
constexpr int kLooksOfAWait = 5;

/// Returns when `condition` holds, or after 30 s; the checks that follow then fail.
void WaitFor(const std::function<bool()>& condition) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(30);
  while (!condition() && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(1));
  }
}

/// Runs `body(rank)` on one thread per rank and returns the results.
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
    for (const std::string& result : results) QCOMPARE(QString::fromStdString(result), QString());
  }
  /// Each rank is a process. The test fails if `check` returns a problem.
  static void InProcesses(int ranks, const std::function<std::string(int rank)>& check) {
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        const std::string wrong = check(rank);
        if (!wrong.empty()) std::fprintf(stderr, "rank %d: %s\n", rank, wrong.c_str());
        ::_exit(wrong.empty() ? 0 : 1);
      }
      children.push_back(pid);
    }
    for (const pid_t pid : children) {
      int status = -1;
      QCOMPARE(::waitpid(pid, &status, 0), pid);
      QCOMPARE(status, 0);
    }
  }

 private slots:
  void sharedMemoryBetweenProcesses_data() {
    QTest::addColumn<int>("ranks");
    for (const int ranks : {2, 3, 4, 8}) QTest::addRow("%d ranks", ranks) << ranks;
  }
  void sharedMemoryBetweenProcesses() {
    QFETCH(int, ranks);
    const int fd = Memory(ranks);
    InProcesses(ranks, [&](int rank) -> std::string {
      auto group = MakeShmGroup(Options(rank, ranks), ::dup(fd));
      return group ? CheckCollectives(**group) : group.error().ToString();
    });
    ::close(fd);
  }

  void messagesInSharedMemoryBetweenProcesses_data() {
    QTest::addColumn<int>("ranks");
    for (const int ranks : {2, 3, 4}) QTest::addRow("%d ranks", ranks) << ranks;
  }
  void messagesInSharedMemoryBetweenProcesses() {
    QFETCH(int, ranks);
    const int fd = Memory(ranks, kMessageFloats);
    InProcesses(ranks, [&](int rank) -> std::string {
      auto group = MakeShmGroup(Options(rank, ranks, kMessageFloats), ::dup(fd));
      return group ? CheckMessages(**group) : group.error().ToString();
    });
    ::close(fd);
  }

  void messagesInSharedMemoryBetweenThreads() {
    const int fd = Memory(3, kMessageFloats);
    compareWithNothing(OnThreads(3, [&](int rank) -> std::string {
      auto group = MakeShmGroup(Options(rank, 3, kMessageFloats), ::dup(fd));
      return group ? CheckMessages(**group) : group.error().ToString();
    }));
    ::close(fd);
  }

  void messagesOverTcp_data() {
    QTest::addColumn<int>("ranks");
    for (const int ranks : {2, 3, 4}) QTest::addRow("%d ranks", ranks) << ranks;
  }
  void messagesOverTcp() {
    QFETCH(int, ranks);
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
    compareWithNothing(OnThreads(ranks, [&](int rank) -> std::string {
      auto group = MakeTcpGroup(Options(rank, ranks, kMessageFloats),
                                rank % 2 == 0 ? "127.0.0.1" : "127.0.0.2", rendezvous);
      return group ? CheckMessages(**group) : group.error().ToString();
    }));
  }

  // As between stages, the sender of a message waits in another group for its receiver.
  void messageArrivesWhileItsSenderWaitsElsewhere_data() {
    QTest::addColumn<bool>("shared");
    QTest::newRow("shared memory") << true;
    QTest::newRow("tcp") << false;
  }
  void messageArrivesWhileItsSenderWaitsElsewhere() {
    QFETCH(bool, shared);
    constexpr std::size_t kFloats = 8 << 20;  // more than a connection buffers
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
    const int messages = Memory(2, kFloats), other = Memory(2);
    compareWithNothing(OnThreads(2, [&](int rank) -> std::string {
      auto pp = shared ? MakeShmGroup(Options(rank, 2, kFloats), ::dup(messages))
                       : MakeTcpGroup(Options(rank, 2, kFloats), "127.0.0.1", rendezvous);
      auto world = MakeShmGroup(Options(rank, 2), ::dup(other));
      if (!pp || !world) return "group";
      std::vector<float> values(kFloats, static_cast<float>(rank));
      for (int i = 0; i < Collective::kMaxInFlight; ++i) {
        if (!(rank == 0 ? (*pp)->Send(1, values) : (*pp)->Receive(0, values))) return "message";
      }
      if (values.back() != 0) return "value";
      return (*world)->Barrier() ? "" : "barrier";
    }));
    ::close(messages);
    ::close(other);
  }

  void aGroupOfOneHasNoPeer() {
    std::vector<float> values(1);
    QCOMPARE(MakeSelfGroup()->Send(1, values).error().message,
             std::string("rank 1 of a group of 1"));
    QVERIFY(!MakeSelfGroup()->Receive(0, values));
  }

  // One rank waits, and the other does not join. The wait ends by an abort from another thread of
  // the rank, by abandonment, or by the timeout.
  void waitForAMessageEnds_data() {
    QTest::addColumn<bool>("shared");
    QTest::addColumn<bool>("sends");
    QTest::addColumn<QString>("by");
    for (const bool shared : {true, false}) {
      for (const bool sends : {true, false}) {
        for (const char* by : {"abort", "abandonment", "timeout"}) {
          QTest::addRow("%s, %s, %s", shared ? "shared memory" : "tcp",
                        sends ? "sending" : "receiving", by)
              << shared << sends << by;
        }
      }
    }
  }
  void waitForAMessageEnds() {
    QFETCH(bool, shared);
    QFETCH(bool, sends);
    QFETCH(QString, by);
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
    const int fd = Memory(2, kMessageFloats);
    std::atomic<bool> is_out = false;
    const auto results = OnThreads(2, [&](int rank) -> std::string {
      GroupOptions options = Options(rank, 2, kMessageFloats);
      std::atomic<int> looks = 0;
      options.abandoned = [&, rank] {
        ++looks;
        return rank == 0 && rendezvous->Abandoned();
      };
      if (by == "timeout") options.timeout = milliseconds(300);
      auto group = shared ? MakeShmGroup(options, ::dup(fd))
                          : MakeTcpGroup(options, "127.0.0.1", rendezvous);
      if (!group) return group.error().ToString();
      if (rank == 1) {
        while (!is_out) std::this_thread::yield();
        return {};
      }
      looks = 0;
      std::jthread end([&] {
        WaitFor([&] { return looks > kLooksOfAWait; });
        if (by == "abort") (*group)->Abort();
        if (by == "abandonment") rendezvous->Abandon();
      });
      std::vector<float> values(kKilledFloats);  // more than can be sent without a receiver
      Status status = OkStatus();
      while (status) status = sends ? (*group)->Send(1, values) : (*group)->Receive(1, values);
      end.join();
      is_out = true;
      if ((*group)->Send(1, values) || (*group)->Barrier()) return "still usable";
      return status.error().code == (by == "timeout" ? ErrorCode::kTimeout : ErrorCode::kCancelled)
                 ? ""
                 : status.error().ToString();
    });
    ::close(fd);
    compareWithNothing(results);
  }

  // A stage is killed while it sends. The next stage waits for the rest of the message, and the
  // third stage waits for the second. Ranks on other hosts detect that its connections ended; in
  // shared memory both wait until the attempt is abandoned.
  void killedStage_data() {
    QTest::addColumn<bool>("one_host");
    QTest::newRow("shared memory") << true;
    QTest::newRow("tcp") << false;
  }
  void killedStage() {
    QFETCH(bool, one_host);
    QTemporaryDir folder;
    const auto rendezvous = std::make_shared<FolderRendezvous>(folder.path().toStdString());
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execl("/proc/self/exe", "peer", kPeer, folder.path().toStdString().c_str(),
              one_host ? "1" : "0", nullptr);
      ::_exit(127);
    }
    std::atomic<int> received = 0, out = 0;
    std::jthread kill([&] {
      WaitFor([&] { return received >= 2 || out > 0; });
      tessera::test::SendSignal(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      if (!one_host) WaitFor([&] { return out == 2; });  // the end of connections is detected
      rendezvous->Abandon();
    });
    const auto results = OnThreads(2, [&](int rank) -> std::string {
      const auto groups = ThreeStages(rank, one_host, rendezvous);
      if (!groups) return groups.error().ToString();
      std::vector<float> values(kKilledFloats);
      Status status = OkStatus();
      while (status) {
        status = groups->pp->Receive(rank + 1, values);
        if (rank == 1 && status) ++received;
      }
      ++out;
      return status.error().code == (one_host ? ErrorCode::kCancelled : ErrorCode::kUnavailable)
                 ? ""
                 : status.error().ToString();
    });
    kill.join();
    compareWithNothing(results);
    QVERIFY(received >= 2);
  }

  // A killed rank never joins. The others return once the group is abandoned.
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
    std::atomic<int> waiting = 0, rounds = 0;
    std::vector<ErrorCode> codes(2, ErrorCode::kInternal);
    {
      std::vector<std::jthread> threads;
      for (int rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
          GroupOptions options = Options(rank, 3);
          options.abandoned = [&] {
            ++waiting;  // only a waiting rank calls this
            return abandoned.load();
          };
          auto group = MakeShmGroup(options, ::dup(fd));
          std::vector<float> values(100000, 1);
          while (true) {
            const Status status = (*group)->AllReduceSum(values);
            if (status) {
              ++rounds;
              continue;
            }
            codes[static_cast<std::size_t>(rank)] = status.error().code;
            return;
          }
        });
      }
      WaitFor([&] { return rounds > 4; });
      tessera::test::SendSignal(pid, SIGKILL);
      int status = 0;
      ::waitpid(pid, &status, 0);
      waiting = 0;
      WaitFor([&] { return waiting > 4; });  // both wait for a rank that does not join
      abandoned = true;
    }
    ::close(fd);
    QVERIFY(codes[0] == ErrorCode::kCancelled && codes[1] == ErrorCode::kCancelled);
  }

  void abortReachesEveryRank() {
    const int fd = Memory(3);
    auto first = MakeShmGroup(Options(0, 3), ::dup(fd));
    std::vector<std::jthread> threads;
    std::atomic<int> cancelled = 0, waiting = 0;
    for (int rank = 1; rank < 3; ++rank) {
      threads.emplace_back([&, rank] {
        GroupOptions options = Options(rank, 3);
        options.abandoned = [&, counted = false]() mutable {  // only a waiting rank calls this
          if (!std::exchange(counted, true)) ++waiting;
          return false;
        };
        auto group = MakeShmGroup(options, ::dup(fd));
        const Status status = (*group)->Barrier();
        if (!status && status.error().code == ErrorCode::kCancelled) ++cancelled;
        if (!(*group)->Barrier()) ++cancelled;  // stays broken
      });
    }
    WaitFor([&] { return waiting == 2; });
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
    QCOMPARE(status.error().message, std::string("a rank of group g did not join within 100 ms"));
    QVERIFY(steady_clock::now() - start >= milliseconds(100));
  }

  // A rank that waits is stopped for longer than it may wait, and the other comes meanwhile.
  void aStoppedRankDoesNotBlameTheOthers_data() {
    QTest::addColumn<bool>("shared");
    QTest::newRow("shared memory") << true;
    QTest::newRow("tcp") << false;
  }
  void aStoppedRankDoesNotBlameTheOthers() {
    QFETCH(bool, shared);
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
    const int fd = Memory(2);
    std::atomic<bool> is_connected = false, is_stopped = false;
    compareWithNothing(OnThreads(2, [&](int rank) -> std::string {
      GroupOptions options = Options(rank, 2);
      int looks = 0;
      options.abandoned = [&, rank] {
        const bool waits = rank == 0 && is_connected && ++looks > 2;  // it has sent its part
        if (waits && !is_stopped.exchange(true)) std::this_thread::sleep_for(milliseconds(500));
        return false;
      };
      options.timeout = milliseconds(300);
      auto group = shared ? MakeShmGroup(options, ::dup(fd))
                          : MakeTcpGroup(options, "127.0.0.1", rendezvous);
      if (!group) return group.error().ToString();
      if (rank == 0) is_connected = true;
      if (rank == 1) WaitFor([&] { return is_stopped.load(); });
      const Status status = (*group)->Barrier();
      return status ? "" : status.error().ToString();
    }));
    ::close(fd);
    QVERIFY(is_stopped);
  }

  void fileThatIsTooSmallIsRefused() {
    const int fd = ::memfd_create("small", MFD_CLOEXEC);
    const auto group = MakeShmGroup(Options(0, 2), fd);
    QVERIFY(!group);
    QCOMPARE(group.error().code, ErrorCode::kInvalidArgument);
  }

  void tcpRankThatNeverConnectsIsAbandoned() {
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
    std::jthread abandon([&] {
      const auto is_listening = rendezvous->Get("g/tcp/0", std::chrono::seconds(20));
      if (is_listening) rendezvous->Abandon();
    });
    GroupOptions options = Options(0, 2);
    options.abandoned = [&] { return rendezvous->Abandoned(); };
    const auto group = MakeTcpGroup(options, "127.0.0.1", rendezvous);
    QVERIFY(!group);
    QCOMPARE(group.error().code, ErrorCode::kCancelled);
  }

  void tcpBetweenThreads_data() {
    QTest::addColumn<int>("ranks");
    for (const int ranks : {2, 3, 5}) QTest::addRow("%d ranks", ranks) << ranks;
  }
  void tcpBetweenThreads() {
    QFETCH(int, ranks);
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
    compareWithNothing(OnThreads(ranks, [&](int rank) -> std::string {
      auto group =
          MakeTcpGroup(Options(rank, ranks), rank % 2 == 0 ? "127.0.0.1" : "127.0.0.2", rendezvous);
      return group ? CheckCollectives(**group) : group.error().ToString();
    }));
  }

  // No attempt is abandoned here. Every rank detects the loss of another rank, even while it waits
  // for a rank that has already detected it.
  void tcpRankThatIsGoneIsNoticedByAll() {
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
    compareWithNothing(OnThreads(3, [&](int rank) -> std::string {
      auto group = MakeTcpGroup(Options(rank, 3), "127.0.0.1", rendezvous);
      if (!group) return group.error().ToString();
      std::vector<float> values(1 << 20, 1);
      if (!(*group)->AllReduceSum(values)) return "first";
      if (rank == 2) return {};
      const Status status = (*group)->AllReduceSum(values);
      if (status || status.error().code != ErrorCode::kUnavailable) return "not noticed";
      return (*group)->Barrier() ? "still usable" : "";
    }));
  }

  void tcpWaitEnds_data() {
    QTest::addColumn<QString>("by");
    for (const char* by : {"abort", "abandonment", "timeout"}) QTest::addRow("%s", by) << by;
  }
  void tcpWaitEnds() {
    QFETCH(QString, by);
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
    std::atomic<bool> is_out = false;
    compareWithNothing(OnThreads(2, [&](int rank) -> std::string {
      GroupOptions options = Options(rank, 2);
      std::atomic<int> looks = 0;
      options.abandoned = [&, rank] {
        ++looks;
        return rank == 0 && rendezvous->Abandoned();
      };
      if (by == "timeout") options.timeout = milliseconds(300);
      auto group = MakeTcpGroup(options, "127.0.0.1", rendezvous);
      if (!group) return group.error().ToString();
      if (rank == 1) {
        while (!is_out) std::this_thread::yield();
        return {};
      }
      looks = 0;
      std::jthread end([&] {
        WaitFor([&] { return looks > kLooksOfAWait; });
        if (by == "abort") (*group)->Abort();
        if (by == "abandonment") rendezvous->Abandon();
      });
      const Status status = (*group)->Barrier();
      is_out = true;
      if (status) return "done";
      return status.error().code == (by == "timeout" ? ErrorCode::kTimeout : ErrorCode::kCancelled)
                 ? ""
                 : status.error().ToString();
    }));
  }

  void tcpRanksThatDoNotComeAreATimeout() {
    GroupOptions options = Options(0, 2);
    options.timeout = milliseconds(100);
    const auto group = MakeTcpGroup(options, "127.0.0.1", std::make_shared<ThreadRendezvous>());
    QVERIFY(!group);
    QCOMPARE(group.error().message, std::string("a rank of group g did not join within 100 ms"));
    const auto bad = MakeTcpGroup(options, "nowhere", std::make_shared<ThreadRendezvous>());
    QCOMPARE(bad.error().message, std::string("group g: 'nowhere' is not a network address"));
  }

  // A connection without the secret of the group is refused, and the ranks still connect.
  void tcpStrangersAreTurnedAway() {
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
    compareWithNothing(OnThreads(2, [&](int rank) -> std::string {
      if (rank == 1) {
        const auto endpoint = rendezvous->Get("g/tcp/0", std::chrono::seconds(10));
        if (!endpoint) return "no endpoint";
        sockaddr_in address{};
        std::memcpy(&address, endpoint->data(), sizeof address);
        for (const bool talks : {true, false}) {
          const int stranger = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
          if (::connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
            return "connect";
          }
          const std::string noise(16, 'x');
          if (talks && ::send(stranger, noise.data(), noise.size(), 0) != 16) return "send";
          ::close(stranger);
        }
      }
      auto group = MakeTcpGroup(Options(rank, 2), "127.0.0.1", rendezvous);
      return group ? CheckCollectives(**group) : group.error().ToString();
    }));
  }

  // Rank r of dp = 2, tp = 2 on two hosts: tp inside a host, the rest across.
  void transportFollowsTheHosts_data() {
    QTest::addColumn<int>("hosts");
    QTest::addColumn<QStringList>("shared");
    QTest::newRow("one host") << 1
                              << QStringList{"dp-p0-t0", "dp-p0-t1", "tp-p0-d0", "tp-p0-d1",
                                             "world"};
    QTest::newRow("two hosts") << 2 << QStringList{"tp-p0-d0", "tp-p0-d1"};
    QTest::newRow("four hosts") << 4 << QStringList{};
  }
  void transportFollowsTheHosts() {
    QFETCH(int, hosts);
    QFETCH(QStringList, shared);
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
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

  // Every rank adds its bit in each of its groups; stages send theirs to the next stage.
  void groupsFollowTheMesh_data() {
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("hosts");
    QTest::newRow("pp 2, dp 2, tp 2") << 2 << 2 << 2 << 1;
    QTest::newRow("pp 2, dp 2, tp 2 on two hosts") << 2 << 2 << 2 << 2;
    QTest::newRow("pp 2, dp 3, tp 1") << 2 << 3 << 1 << 1;
    QTest::newRow("pp 3, dp 1, tp 2") << 3 << 1 << 2 << 1;
    QTest::newRow("stages only") << 4 << 1 << 1 << 1;
    QTest::newRow("stages only, on two hosts") << 4 << 1 << 1 << 2;
    QTest::newRow("one rank") << 1 << 1 << 1 << 1;
  }
  void groupsFollowTheMesh() {
    QFETCH(int, pp);
    QFETCH(int, dp);
    QFETCH(int, tp);
    QFETCH(int, hosts);
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
    const test::LocalMesh mesh(pp, dp, tp, hosts);
    compareWithNothing(OnThreads(mesh.world(), [&](int rank) -> std::string {
      const tessera_view view = mesh.View(rank);
      const auto groups =
          ConnectGroups(view, rendezvous, 7, std::chrono::seconds(20), kMessageFloats);
      if (!groups) return groups.error().ToString();
      // Rank of the mesh from coordinates, and the bits of those that differ in one of them.
      const auto at = [&](std::int64_t p, std::int64_t d, std::int64_t t) {
        return static_cast<int>((p * dp + d) * tp + t);
      };
      const std::int64_t p = view.axis_coord[0], d = view.axis_coord[1], t = view.axis_coord[4];
      int along_dp = 0, along_tp = 0, along_pp = 0;
      for (int i = 0; i < dp; ++i) along_dp |= 1 << at(p, i, t);
      for (int i = 0; i < tp; ++i) along_tp |= 1 << at(p, d, i);
      for (int i = 0; i < pp; ++i) along_pp |= 1 << at(i, d, t);
      for (const auto& [group, members, coordinate] :
           {std::tuple(groups->world, (1 << mesh.world()) - 1, std::int64_t{rank}),
            std::tuple(groups->dp, along_dp, d), std::tuple(groups->tp, along_tp, t),
            std::tuple(groups->pp, along_pp, p)}) {
        std::vector<float> value{static_cast<float>(1 << rank)};
        if (!group->AllReduceSum(value)) return "sum";
        if (value[0] != static_cast<float>(members)) return "members";
        if (group->rank() != coordinate) return "place";
      }
      const std::string wrong = pp > 1 ? CheckPipeline(*groups->pp, 5, kMessageFloats) : "";
      // As after the step decision, no group is destroyed before all messages are received.
      return wrong.empty() && !groups->world->Barrier() ? "barrier" : wrong;
    }));
  }

  void stagesNeedTheSizeOfTheirMessages() {
    const test::LocalMesh mesh(2, 1, 1, 1);
    const auto groups = ConnectGroups(mesh.View(0), std::make_shared<ThreadRendezvous>(), 7,
                                      std::chrono::seconds(1));
    QVERIFY(!groups);
    QCOMPARE(groups.error().message,
             std::string("2 pipeline stages need the size of their messages"));
  }

  void ranksWithOtherDataAreFound() {
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
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

TESSERA_TEST_MAIN(argc, argv) {
  if (argc == 4 && std::strcmp(argv[1], kPeer) == 0) {
    return RunPeer(argv[2], std::strcmp(argv[3], "1") == 0);
  }
  const QCoreApplication application(argc, argv);
  TrainCommTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "train_comm_test.moc"
