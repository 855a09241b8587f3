// SPDX-License-Identifier: Apache-2.0
#include "engine/store/arena.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QTest>
#include <algorithm>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/store/sealed_memory.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine;

static_assert(!std::is_copy_constructible_v<Arena> && std::is_nothrow_move_constructible_v<Arena>);

namespace {

constexpr std::int64_t kCapacity = std::int64_t{4} << 20;

struct Fd {
  int fd = -1;
  explicit Fd(int value) : fd(value) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

class ArenaTest : public QObject {
  Q_OBJECT
 private slots:
  // By which others know that it is the arena that was named to them.
  void eachArenaHasAToken() {
    std::vector<std::uint64_t> tokens;
    for (int i = 0; i < 3; ++i) {
      const auto made = Arena::CreateMemfd("test", kCapacity);
      VERIFY_OK(made);
      const Fd fd(*made);
      const auto arena = Arena::Map(fd.fd, false);
      VERIFY_OK(arena);
      tokens.push_back(arena->header().token.load());
      QVERIFY(tokens.back() != 0);
    }
    QVERIFY(tokens[0] != tokens[1] && tokens[1] != tokens[2] && tokens[0] != tokens[2]);
  }

  // Paths come from other nodes, and are claims.
  void onlySealedMemoryIsOpened() {
    const auto made = Arena::CreateMemfd("test", kCapacity);
    VERIFY_OK(made);
    const Fd fd(*made);
    const auto path_of = [](int number) {
      return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(number);
    };
    const auto opened = OpenSealedMemory(path_of(fd.fd));
    VERIFY_OK(opened);
    const Fd own(*opened);
    VERIFY_OK(Arena::Map(own.fd, false));
    QVERIFY(!Arena::Map(own.fd, true));  // read-only
    for (const char* path :
         {"", "/dev/shm/x", "/etc/passwd", "/proc/self/fd/3", "/proc/1/fd/", "/proc//fd/3",
          "/proc/1/fd/3x", "/proc/1/fd/3/../4", "/proc/-1/fd/3"}) {
      VERIFY_ERROR(OpenSealedMemory(path), ErrorCode::kInvalidArgument, "is not a descriptor");
    }
    VERIFY_ERROR(OpenSealedMemory(path_of(1 << 20)), ErrorCode::kUnavailable, "cannot open");
    // A pipe without a writer would block, and a plain file has no seals.
    int ends[2];
    QCOMPARE(pipe(ends), 0);
    const Fd reader(ends[0]), writer(ends[1]);
    VERIFY_ERROR(OpenSealedMemory(path_of(reader.fd)), ErrorCode::kInvalidArgument,
                 "is not sealed memory");
    const Fd loose(memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    VERIFY_ERROR(OpenSealedMemory(path_of(loose.fd)), ErrorCode::kInvalidArgument,
                 "is not sealed memory");
  }

  void twoMappingsShareTheMemory() {
    const auto made = Arena::CreateMemfd("test", kCapacity);
    VERIFY_OK(made);
    const Fd fd(*made);
    auto writer = Arena::Map(fd.fd, true);
    VERIFY_OK(writer);
    auto reader = Arena::Map(fd.fd, false);
    VERIFY_OK(reader);
    QCOMPARE(reader->capacity(), kCapacity);
    QVERIFY(writer->writable() && !reader->writable());
    QCOMPARE(reader->header().epoch.load(), 0U);

    writer->header().epoch.store(7);
    *writer->AddressOf(kCapacity - 1) = std::byte{42};
    QVERIFY(writer->table_slot(1).bytes.empty());
    writer->header().table_offset[1].store(kArenaDataOffset);
    writer->table_slot(1).bytes.front() = std::byte{43};
    QCOMPARE(reader->header().epoch.load(), 7U);
    QCOMPARE(*reader->AddressOf(kCapacity - 1), std::byte{42});
    QCOMPARE(*reader->AddressOf(static_cast<std::int64_t>(kArenaDataOffset)), std::byte{43});
    for (const std::uint64_t outside :
         {std::uint64_t{1}, std::uint64_t{kCapacity}, ~std::uint64_t{0}}) {
      writer->header().table_offset[1].store(outside);
      QVERIFY(reader->table_slot(1).bytes.empty());
    }
  }
  void everyPageIsThereFromTheStart() {
    std::int64_t bytes = 0;
    const auto made =
        Arena::CreateMemfd("test", kCapacity, [&](std::int64_t more) { bytes += more; });
    VERIFY_OK(made);
    const Fd fd(*made);
    struct stat status {};
    QCOMPARE(fstat(fd.fd, &status), 0);
    QCOMPARE(std::int64_t{status.st_blocks} * 512, kCapacity);
    QCOMPARE(bytes, kCapacity);
  }
  void outlivesItsDescriptorAndMoves() {
    const auto made = Arena::CreateMemfd("test", kCapacity);
    VERIFY_OK(made);
    auto arena = Arena::Map(*made, true);
    close(*made);
    VERIFY_OK(arena);
    *arena->AddressOf(kCapacity / 2) = std::byte{9};
    Arena moved = std::move(*arena);
    QCOMPARE(*moved.AddressOf(kCapacity / 2), std::byte{9});
  }
  void theSizeIsSealed() {
    const auto made = Arena::CreateMemfd("test", kCapacity);
    VERIFY_OK(made);
    const Fd fd(*made);
    QVERIFY(ftruncate(fd.fd, kCapacity / 2) != 0);
    QVERIFY(ftruncate(fd.fd, kCapacity * 2) != 0);
  }
  // A rank has the descriptor of the control page; the agent reads the page at any time.
  void theSizeOfAControlPageIsSealed() {
    for (const MemoryKind kind : {MemoryKind::kHost, MemoryKind::kCuda}) {
      const auto made = Arena::CreateSparse("test", kCapacity, kind);
      VERIFY_OK(made);
      const Fd fd(*made);
      QVERIFY(ftruncate(fd.fd, 0) != 0);
      QVERIFY(ftruncate(fd.fd, kCapacity * 2) != 0);
      struct stat status {};
      QCOMPARE(fstat(fd.fd, &status), 0);
      QCOMPARE(std::int64_t{status.st_size}, kCapacity);
    }
  }
  void manyWindowsLiveSideBySide() {
    constexpr std::int64_t kLarge = std::int64_t{256} << 20;
    const auto made = Arena::CreateSparse("test", kLarge);
    VERIFY_OK(made);
    const Fd fd(*made);
    const auto arena = Arena::MapWindows(fd.fd);
    VERIFY_OK(arena);
    std::vector<ArenaBytes> windows(8);
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < windows.size(); ++i) {
        threads.emplace_back([&arena, &window = windows[i], i] {
          const auto at = static_cast<std::int64_t>(kArenaDataOffset + i * 12'345'600);
          for (int again = 0; again < 50; ++again) window = arena->From(at);
          window.bytes.front() = static_cast<std::byte>(i + 1);
        });
      }
    }
    const auto whole = Arena::Map(fd.fd, false);
    VERIFY_OK(whole);
    for (int i = 0; i < 8; ++i) {
      const auto& window = windows[static_cast<std::size_t>(i)];
      QVERIFY(window.bytes.size() > std::size_t{1} << 20);
      QCOMPARE(window.bytes.front(), static_cast<std::byte>(i + 1));
      QCOMPARE(*whole->AddressOf(static_cast<std::int64_t>(kArenaDataOffset) + i * 12'345'600),
               static_cast<std::byte>(i + 1));
    }
  }
  void badCapacityIsRefused_data() {
    QTest::addColumn<qint64>("capacity");
    QTest::newRow("negative") << qint64{-4096};
    QTest::newRow("no room for a piece") << static_cast<qint64>(kArenaDataOffset);
    QTest::newRow("not whole pages") << static_cast<qint64>(kCapacity + 1);
  }
  void badCapacityIsRefused() {
    QFETCH(qint64, capacity);
    const auto made = Arena::CreateMemfd("test", capacity);
    VERIFY_ERROR(made, ErrorCode::kInvalidArgument, std::to_string(capacity));
  }
  void otherFilesAreRefused() {
    VERIFY_ERROR(Arena::Map(-1, false), ErrorCode::kInvalidArgument, "descriptor -1");

    const Fd small(memfd_create("small", MFD_CLOEXEC));
    QCOMPARE(ftruncate(small.fd, 4096), 0);
    VERIFY_ERROR(Arena::Map(small.fd, false), ErrorCode::kDataLoss, "4096 bytes");

    const Fd zeros(memfd_create("zeros", MFD_CLOEXEC));
    QCOMPARE(ftruncate(zeros.fd, kCapacity), 0);
    VERIFY_ERROR(Arena::Map(zeros.fd, false), ErrorCode::kDataLoss, "magic");
  }
  void otherVersionsAndSizesAreRefused() {
    const auto made = Arena::CreateMemfd("test", kCapacity);
    VERIFY_OK(made);
    const Fd fd(*made);
    const auto arena = Arena::Map(fd.fd, true);
    VERIFY_OK(arena);
    arena->header().version.store(9);
    VERIFY_ERROR(Arena::Map(fd.fd, false), ErrorCode::kUnimplemented, "version 9");
    arena->header().version.store(kArenaVersion);
    arena->header().capacity_bytes.store(kCapacity * 2);
    VERIFY_ERROR(Arena::Map(fd.fd, false), ErrorCode::kDataLoss, "8388608 bytes by its header");
  }
};
TESSERA_TEST_APPLESS(ArenaTest)
#include "arena_test.moc"
