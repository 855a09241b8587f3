// SPDX-License-Identifier: Apache-2.0
#include "agents/net/peer_memory.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTest>
#include <csignal>
#include <cstring>

using namespace tessera;
using namespace tessera::agents;

class PeerMemoryTest : public QObject {
  Q_OBJECT
 private slots:
  // What the peer writes later is seen too: one memory, not a copy.
  void aPeersMemoryIsSeenAsItChangesAndOutlivesIt() {
    const int fd = ::memfd_create("arena", MFD_CLOEXEC);
    QVERIFY(fd >= 0);
    QCOMPARE(::ftruncate(fd, 1 << 20), 0);
    int ready[2];
    int go[2];
    QCOMPARE(::pipe(ready), 0);
    QCOMPARE(::pipe(go), 0);
    const pid_t child = ::fork();
    QVERIFY(child >= 0);
    if (child == 0) {
      auto* memory =
          static_cast<char*>(::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
      char byte = 0;
      memory[12345] = 1;
      bool good = ::write(ready[1], "r", 1) == 1 && ::read(go[0], &byte, 1) == 1;
      memory[12345] = 2;
      good = good && ::write(ready[1], "r", 1) == 1 && ::read(go[0], &byte, 1) == 1;
      ::_exit(good ? 0 : 1);
    }
    ::close(fd);  // only the child holds it now
    char byte = 0;
    QCOMPARE(::read(ready[0], &byte, 1), ssize_t{1});
    auto memory = PeerMemory::Map(child, fd);
    QVERIFY(memory);
    QCOMPARE(memory->bytes().size(), std::size_t{1} << 20);
    QVERIFY(memory->bytes()[12345] == std::byte{1});
    QCOMPARE(::write(go[1], "g", 1), ssize_t{1});
    QCOMPARE(::read(ready[0], &byte, 1), ssize_t{1});
    QVERIFY(memory->bytes()[12345] == std::byte{2});
    QCOMPARE(::write(go[1], "g", 1), ssize_t{1});
    int status = 0;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QCOMPARE(status, 0);
    const PeerMemory moved = std::move(*memory);
    QVERIFY(memory->bytes().empty());
    QVERIFY(moved.bytes()[12345] == std::byte{2});

    const auto gone = PeerMemory::Map(child, fd);
    QVERIFY(!gone);
    QCOMPARE(gone.error().code, ErrorCode::kNotFound);
    const std::string pid = std::to_string(child);
    QCOMPARE(gone.error().message, "cannot map memory of process " + pid + " (/proc/" + pid +
                                       "/fd/" + std::to_string(fd) +
                                       "): No such file or directory");
    for (const int end : {ready[0], ready[1], go[0], go[1]}) ::close(end);
  }

  void whatIsNoMemoryIsRefused() {
    const int fd = ::memfd_create("empty", MFD_CLOEXEC);
    const auto empty = PeerMemory::Map(::getpid(), fd);
    QVERIFY(!empty);
    QCOMPARE(empty.error().code, ErrorCode::kFailedPrecondition);
    ::close(fd);
    QCOMPARE(PeerMemory::Map("/dev/null").error().message,
             std::string("cannot map memory of /dev/null: Invalid argument"));
  }
};
QTEST_APPLESS_MAIN(PeerMemoryTest)
#include "peer_memory_test.moc"
