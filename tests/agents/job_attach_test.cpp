// SPDX-License-Identifier: Apache-2.0 How a rank attaches to its agent, what it then reads, and
// what an agent refuses.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <QTest>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "agents/job/tessera_job.h"
#include "agents/wire/tessera/wire/rank.pb.h"
#include "engine/data/cursor.h"
#include "tests/agents/job_node.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::test;

namespace {

int OpenDescriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& fd : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

UniqueFd RawConnection(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fd.Reset();
  return fd;
}

wire::RankToAgent AttachMessage(std::uint32_t protocol) {
  wire::RankToAgent message;
  message.mutable_attach()->set_protocol(protocol);
  message.mutable_attach()->set_job("fake");
  message.mutable_attach()->set_device(7);
  return message;
}

}  // namespace

class JobAttachTest : public QObject {
  Q_OBJECT
 private slots:
  // The C interface in this process.
  void attachShowsThePieces() {
    Node node(1);
    QVERIFY(node.agent.Start());
    node.MoveTo(0, 1, 1, 3);
    for (const std::string& entry : RankEnvironment(node.Environment(0, ViewOf(0, 1, 1), false))) {
      const auto at = entry.find('=');
      ::setenv(entry.substr(0, at).c_str(), entry.substr(at + 1).c_str(), 1);
    }
    QVERIFY(::getenv("TESSERA_LEFT_OUT") == nullptr);
    const auto attach = [&](tessera_job** job) {
      ::setenv("TESSERA_ARENA_FD", std::to_string(::dup(node.devices[0].fd.get())).c_str(), 1);
      return tessera_attach(job);
    };
    tessera_job* job = nullptr;
    QVERIFY2(attach(&job) == 0, tessera_last_error());
    QCOMPARE(tessera_settings(job), R"({"answer": 42})");
    QCOMPARE(tessera_must_initialise(job), 0);
    QCOMPARE(tessera_current_view(job)->world, 1);
    QCOMPARE(tessera_current_view(job)->address_of_rank[0], "127.0.0.1");
    const tessera_piece* pieces = nullptr;
    std::size_t count = 0;
    QCOMPARE(tessera_pieces(job, &pieces, &count), 0);
    QCOMPARE(count, 3U);
    QCOMPARE(pieces[0].name, "a.cut");
    QCOMPARE(pieces[0].dtype, "f32");
    QCOMPARE(pieces[0].role, "param");
    QCOMPARE(pieces[0].rank, 2);
    QCOMPARE(pieces[0].shape[0], 12);
    QCOMPARE(pieces[0].end[1], 5);
    QCOMPARE(pieces[0].num_elements, 60);
    QCOMPARE(static_cast<float*>(pieces[0].data)[59], 3.0F);
    QVERIFY(pieces[0].gradient != nullptr && pieces[0].gradient != pieces[0].data);
    static_cast<float*>(pieces[0].gradient)[0] = 8;
    const auto table = engine::PieceTable::ReadCurrent(*node.devices[0].arena);
    const auto* gradient = table->Find(engine::PieceEntry::kGradient, 0, table->entries()[0].box);
    QCOMPARE(*reinterpret_cast<float*>(node.devices[0].arena->AddressOf(gradient->offset_bytes)), 8.0F);
    QCOMPARE(tessera_checkpoint(job), 0);
    for (int i = 0; i < TESSERA_MAX_METRICS; ++i) {
      QCOMPARE(tessera_log(job, ("eval/n-" + std::to_string(i)).c_str(), std::nan("")), 0);
    }
    QCOMPARE(tessera_log(job, "eval/n-0", 2), 0);
    QVERIFY(tessera_log(job, "more", 1) < 0);
    QCOMPARE(tessera_last_error(), "metric 'more': a job has at most 16 metrics");
    for (const std::string& name : {std::string(), std::string("1a"), std::string("a b"),
                                    std::string("/a"), std::string(41, 'a')}) {
      QVERIFY2(tessera_log(job, name.c_str(), 1) < 0, name.c_str());
      QVERIFY(std::string(tessera_last_error()).starts_with("'" + name + "' is no name"));
    }
    const tessera_cursor cursor{.seed = 2, .pass = 1, .next = 7};
    std::vector<std::int64_t> samples(16);
    std::size_t taken = 0;
    std::int64_t place = -1;
    QCOMPARE(tessera_samples(job, &cursor, 9, 16, samples.data(), 16, &taken, &place), 0);
    QCOMPARE(taken,
             std::size_t{16});  // the only dp rank reads the whole batch; tp does not divide it
    QCOMPARE(place, 0);
    QVERIFY(samples == *engine::SamplesAt({2, 1, 7}, 0, 16, 9));
    QVERIFY(tessera_samples(job, &cursor, 9, 16, samples.data(), 15, &taken, nullptr) < 0);
    QCOMPARE(tessera_last_error(), "this rank takes 16 samples of 16, there is room for 15");
    QVERIFY(tessera_samples(job, &cursor, 0, 16, samples.data(), 16, &taken, nullptr) < 0);
    QCOMPARE(pieces[1].name, "b.whole");
    QVERIFY(pieces[1].gradient == nullptr);
    QCOMPARE(pieces[2].rank, 0);

    // Rendezvous: a get waits for a set, and ends by its timeout or with its attempt.
    QCOMPARE(tessera_store_set(job, 1, 0, "k", "value", 5), 0);
    void* value = nullptr;
    std::size_t size = 0;
    QVERIFY2(tessera_store_get(job, 1, 0, "k", &value, &size, kLimit) == 0, tessera_last_error());
    QCOMPARE(std::string(static_cast<char*>(value), size), std::string("value"));
    tessera_free(value);
    QVERIFY(tessera_store_get(job, 1, 0, "never", &value, &size, 20) < 0);
    QCOMPARE(tessera_last_error(), "rendezvous key 'never' was not set within 20 ms");
    auto blocked = std::async(std::launch::async, [&] {
      void* v = nullptr;
      std::size_t s = 0;
      const int code = tessera_store_get(job, 2, 1, "later", &v, &s, kLimit);
      return code < 0 ? std::string(tessera_last_error()) : std::string("got it");
    });
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.IsWanted(2, 1, "later"), kLimit);
    QCOMPARE(tessera_abandoned(job, 2, 1), 0);
    node.agent.Do([](RankPort& port) {
      port.Abandon(kJob, 2, 1);
      return 0;
    });
    QCOMPARE(blocked.get(), std::string("epoch 2 attempt 1 is abandoned"));
    QCOMPARE(tessera_abandoned(job, 2, 1), 1);
    QVERIFY(tessera_shared_memory(job, 2, 1, "k", 8) < 0);

    // A restarted agent receives the values that were set, and the pending gets.
    auto waiting = std::async(std::launch::async, [&] {
      void* v = nullptr;
      std::size_t s = 0;
      const int code = tessera_store_get(job, 1, 0, "after", &v, &s, kLimit);
      tessera_free(v);
      return code;
    });
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.IsWanted(1, 0, "after"), kLimit);
    QVERIFY(node.agent.Restart());
    QVERIFY(tessera_store_get(job, 1, 0, "k", &value, &size, kLimit) == 0);
    tessera_free(value);
    QCOMPARE(tessera_store_set(job, 1, 0, "after", "x", 1), 0);
    QCOMPARE(waiting.get(), 0);

    // Shared memory: the same zeroed file for the same key, with the size of the first request.
    const int first = tessera_shared_memory(job, 1, 0, "m", 8);
    const int second = tessera_shared_memory(job, 1, 0, "m", 8);
    QVERIFY2(first >= 0 && second >= 0, tessera_last_error());
    char byte = 7;
    QCOMPARE(::pread(second, &byte, 1, 0), 1);
    QCOMPARE(byte, '\0');
    byte = 9;
    QCOMPARE(::pwrite(first, &byte, 1, 0), 1);
    byte = 0;
    QCOMPARE(::pread(second, &byte, 1, 0), 1);
    QCOMPARE(byte, '\x09');
    ::close(first);
    ::close(second);
    QVERIFY(tessera_shared_memory(job, 1, 0, "m", 9) < 0);
    tessera_detach(job);

    // A process for a coming epoch has no pieces. The error names a broken variable.
    ::setenv("TESSERA_VIEW", ToJson(ViewOf(0, 1, 2)).c_str(), 1);
    QVERIFY2(attach(&job) == 0, tessera_last_error());
    QCOMPARE(tessera_pieces(job, &pieces, &count), 0);
    QCOMPARE(count, 0U);
    const tessera_view* view = nullptr;
    QVERIFY(tessera_adopt(job, &view) < 0);
    QCOMPARE(tessera_last_error(), "adopt: no layout was commanded");
    tessera_detach(job);

    // The device belonged to another job, which left an epoch of the same number.
    node.Place(0, 1, 2);
    engine::FlipTo(*node.devices[0].arena, 2);
    node.devices[0].header().job_hash.store(0);
    QVERIFY2(attach(&job) == 0, tessera_last_error());
    QCOMPARE(tessera_pieces(job, &pieces, &count), 0);
    QCOMPARE(count, 0U);
    tessera_detach(job);
    ::unsetenv("TESSERA_DEVICE");
    QVERIFY(attach(&job) < 0);
    QCOMPARE(tessera_last_error(), "TESSERA_DEVICE is not set: not started by an agent");
  }

  void malformedPacketsAreDropped() {
    Node node(0);
    QVERIFY(node.agent.Start());
    const int before = OpenDescriptors();
    {
      const UniqueFd noise = RawConnection(node.socket);
      SUCCEEDS(SendPacket(noise.get(), "this is not a message"));
      QTRY_COMPARE_WITH_TIMEOUT(node.agent.Problems().size(), 1U, kLimit);
      const UniqueFd early = RawConnection(node.socket);
      wire::RankToAgent first;
      first.mutable_adopted()->set_epoch(1);
      SUCCEEDS(SendPacket(early.get(), first.SerializeAsString()));
      QTRY_COMPARE_WITH_TIMEOUT(node.agent.Problems().size(), 2U, kLimit);
      const UniqueFd other = RawConnection(node.socket);
      SUCCEEDS(SendPacket(other.get(), AttachMessage(99).SerializeAsString()));
      QTRY_COMPARE_WITH_TIMEOUT(node.agent.Problems().size(), 3U, kLimit);
      const std::string last = node.agent.Problems().back();
      QVERIFY2(last.find("rank protocol 99, this agent speaks 2") != std::string::npos,
               last.c_str());
      for (const UniqueFd* refused : {&noise, &early, &other}) {
        const auto closed = [&] {
          const auto packet = ReceivePacket(refused->get());
          return !packet && packet.error().code == ErrorCode::kCancelled;
        };
        QTRY_VERIFY_WITH_TIMEOUT(closed(), kLimit);
      }

      const RankId fake{"fake", {0, 7}};
      const UniqueFd rank = RawConnection(node.socket);
      SUCCEEDS(SendPacket(rank.get(), AttachMessage(kRankProtocol).SerializeAsString()));
      QTRY_COMPARE_WITH_TIMEOUT(node.agent.Of(fake).attached, 1, kLimit);
      const int passed[] = {rank.get(), node.directory.isValid() ? 2 : 0};
      SUCCEEDS(SendPacket(rank.get(), std::string("\xff\xff\xff\xff", 4), passed));
      const std::string large(kMaxPacketBytes + 1, 'x');
      QCOMPARE(::send(rank.get(), large.data(), large.size(), 0),
               static_cast<ssize_t>(large.size()));
      wire::RankToAgent unasked;
      unasked.mutable_shared_memory_held()->set_key("no descriptor");
      SUCCEEDS(SendPacket(rank.get(), unasked.SerializeAsString()));
      unasked.mutable_shared_memory()->set_bytes(-1);
      SUCCEEDS(SendPacket(rank.get(), unasked.SerializeAsString()));
      unasked.mutable_adopted()->set_epoch(9);
      SUCCEEDS(SendPacket(rank.get(), unasked.SerializeAsString()));
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(fake).adopted == 9, kLimit);
      QCOMPARE(node.agent.Problems().size(), 6U);
      QVERIFY(node.agent.Do([&](RankPort& port) { return port.IsAttached(fake); }));
    }
    QTRY_COMPARE_WITH_TIMEOUT(OpenDescriptors(), before, kLimit);
  }

  void aSocketPathThatIsTooLongIsRefused() {
    Loop loop;
    const auto port = RankPort::Listen(loop, "/tmp/" + std::string(200, 'x'), {});
    QVERIFY(!port);
    QCOMPARE(port.error().code, ErrorCode::kInvalidArgument);
  }
};

TESSERA_TEST_APPLESS(JobAttachTest)
#include "job_attach_test.moc"
