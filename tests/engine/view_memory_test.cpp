// SPDX-License-Identifier: Apache-2.0
#include "engine/store/view_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <QTest>
#include <cstring>
#include <vector>

#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::engine;

namespace {

constexpr std::int64_t kBytes = 3 * static_cast<std::int64_t>(kViewHeaderBytes);
const ViewStamp kStamp{0x0123456789abcdef, 3, 1, 70, 0x1122334455667788, 0xa5a5, 2};

/// The descriptor as another process opens it.
int Reopened(int fd) {
  return open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace

class ViewMemoryTest : public QObject {
  Q_OBJECT

 private slots:
  void whatWasStampedIsMappedReadOnly() {
    auto made = ViewMemory::Create("view", kBytes);
    QVERIFY(made);
    std::memset(made->data(kViewHeaderBytes), 0x5a, kViewHeaderBytes);
    made->Stamp(kStamp);
    const int fd = Reopened(made->fd());
    auto mapped = ViewMemory::Map(fd, kBytes, kStamp);
    close(fd);
    QVERIFY(mapped);
    QCOMPARE(mapped->size_bytes(), kBytes);
    *made = *ViewMemory::Create("other", kBytes);  // its creator releases it
    for (std::int64_t i = 0; i < 4096; ++i) {
      QCOMPARE(*mapped->data(4096 + i), std::byte{0x5a});
    }
  }

  // The bytes of FORMAT.md.
  void headerHasItsBytes() {
    auto made = ViewMemory::Create("view", kBytes);
    QVERIFY(made);
    made->Stamp(kStamp);
    QCOMPARE(QByteArray(reinterpret_cast<const char*>(made->data(0)), 8), QByteArray("TSVIEW01"));
    const auto word = [&](std::int64_t at) {
      std::uint64_t value = 0;
      std::memcpy(&value, made->data(at), 8);
      return value;
    };
    QCOMPARE(word(8), 1U);
    QCOMPARE(word(16), static_cast<std::uint64_t>(kBytes));
    QCOMPARE(word(24), kStamp.view);
    QCOMPARE(word(32), 3U);
    QCOMPARE(word(40), 1U);
    QCOMPARE(word(48), 70U);
    QCOMPARE(word(56), kStamp.layout_hash);
    QCOMPARE(word(64), kStamp.plan_hash);
    QCOMPARE(word(72), 2U);
  }

  void everyBrokenByteOfTheHeaderIsRefused() {
    auto made = ViewMemory::Create("view", kBytes);
    QVERIFY(made);
    QCOMPARE(ErrorOf(*made, kBytes, kStamp).code, ErrorCode::kDataLoss);  // not yet stamped
    made->Stamp(kStamp);
    for (std::int64_t at = 0; at < 88; ++at) {
      *made->data(at) ^= std::byte{0x10};
      const Error error = ErrorOf(*made, kBytes, kStamp);
      QVERIFY2(error.code == ErrorCode::kDataLoss || error.code == ErrorCode::kUnimplemented,
               qPrintable(QString::number(at)));
      *made->data(at) ^= std::byte{0x10};
    }
  }

  void anotherShareIsRefused() {
    auto made = ViewMemory::Create("view", kBytes);
    QVERIFY(made);
    made->Stamp(kStamp);
    for (const auto member :
         {&ViewStamp::epoch, &ViewStamp::timeline, &ViewStamp::step, &ViewStamp::node}) {
      ViewStamp other = kStamp;
      other.*member += 1;
      QCOMPARE(ErrorOf(*made, kBytes, other).code, ErrorCode::kDataLoss);
    }
    for (const auto member : {&ViewStamp::view, &ViewStamp::layout_hash, &ViewStamp::plan_hash}) {
      ViewStamp other = kStamp;
      other.*member += 1;
      QCOMPARE(ErrorOf(*made, kBytes, other).code, ErrorCode::kDataLoss);
    }
    QCOMPARE(ErrorOf(*made, kBytes + 4096, kStamp).code, ErrorCode::kDataLoss);
    QCOMPARE(ErrorOf(*made, 0, kStamp).code, ErrorCode::kDataLoss);
  }

  // If its owner could truncate the memory, readers would get SIGBUS.
  void unsealedMemoryIsRefused() {
    auto made = ViewMemory::Create("view", kBytes);
    QVERIFY(made);
    made->Stamp(kStamp);
    const int fd = memfd_create("unsealed", MFD_CLOEXEC);
    QVERIFY(fd >= 0);
    QCOMPARE(write(fd, made->data(0), static_cast<std::size_t>(kBytes)), kBytes);
    const auto mapped = ViewMemory::Map(fd, kBytes, kStamp);
    close(fd);
    QVERIFY(!mapped);
    QCOMPARE(mapped.error().code, ErrorCode::kDataLoss);
  }

  void sizesAreChecked() {
    for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-4096}, std::int64_t{4097}}) {
      const auto made = ViewMemory::Create("view", bytes);
      QVERIFY(!made);
      QCOMPARE(made.error().code, ErrorCode::kInvalidArgument);
    }
    const auto huge = ViewMemory::Create("view", std::int64_t{1} << 60);
    QVERIFY(!huge);
    QCOMPARE(huge.error().code, ErrorCode::kResourceExhausted);
    QVERIFY(QString::fromStdString(huge.error().message).contains("1152921504606846976"));
  }

 private:
  static Error ErrorOf(const ViewMemory& made, std::int64_t bytes, const ViewStamp& stamp) {
    const int fd = Reopened(made.fd());
    const auto mapped = ViewMemory::Map(fd, bytes, stamp);
    close(fd);
    return mapped ? Internal("it was mapped") : mapped.error();
  }
};
TESSERA_TEST_APPLESS(ViewMemoryTest)
#include "view_memory_test.moc"
