// SPDX-License-Identifier: Apache-2.0
#include "engine/copy/buffer_pool.h"

#include <QTest>
#include <vector>

#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::BufferPool;
using engine::HostBuffer;

namespace {

/// What a pool has asked for, and how much of it is still there.
struct Memory {
  std::shared_ptr<BufferPool> Pool() {
    return std::make_shared<BufferPool>([this](std::size_t size) -> Result<HostBuffer> {
      if (size > limit) return Error{ErrorCode::kResourceExhausted, "no memory", {}};
      made.push_back(size);
      ++live;
      auto* const bytes = new std::byte[size];
      return HostBuffer{{bytes, size}, std::shared_ptr<void>(bytes, [this](void* used) {
                          --live;
                          delete[] static_cast<std::byte*>(used);
                        })};
    });
  }

  std::vector<std::size_t> made;
  int live = 0;
  std::size_t limit = 1000;
};

}  // namespace

class BufferPoolTest : public QObject {
  Q_OBJECT
 private slots:
  void reusesWhatIsLargeEnough() {
    Memory memory;
    const auto pool = memory.Pool();
    const std::byte* first = nullptr;
    {
      const auto buffer = pool->Take(100);
      VERIFY_OK(buffer);
      QCOMPARE(buffer->bytes.size(), std::size_t{100});
      first = buffer->bytes.data();
    }
    {
      // The bytes that one use has left out are there for the next.
      auto small = pool->Take(40);
      VERIFY_OK(small);
      QVERIFY(small->bytes.data() == first && small->bytes.size() == 40);
      *small = {};
      const auto whole = pool->Take(100);
      VERIFY_OK(whole);
      QVERIFY(whole->bytes.data() == first);
      const auto other = pool->Take(10);
      VERIFY_OK(other);
      QVERIFY(other->bytes.data() != first);
    }
    QCOMPARE(memory.made, (std::vector<std::size_t>{100, 10}));
    // Both free buffers are too small. The pool takes one of them and frees it.
    VERIFY_OK(pool->Take(200));
    QCOMPARE(memory.made.back(), std::size_t{200});
    QCOMPARE(memory.live, 2);
  }

  void keepsASmallNumber() {
    Memory memory;
    const auto pool = memory.Pool();
    std::vector<HostBuffer> held;
    for (int i = 0; i < 100; ++i) {
      auto buffer = pool->Take(1);
      VERIFY_OK(buffer);
      held.push_back(std::move(*buffer));
    }
    QCOMPARE(memory.live, 100);
    held.clear();
    QCOMPARE(memory.live, 32);
  }

  void buffersMayBeHeldForLonger() {
    Memory memory;
    auto pool = memory.Pool();
    auto buffer = pool->Take(10);
    VERIFY_OK(buffer);
    pool.reset();
    buffer->bytes[9] = std::byte{1};
    QCOMPARE(memory.live, 1);
    *buffer = {};
    QCOMPARE(memory.live, 0);
  }

  void passesOnErrors() {
    Memory memory;
    const auto pool = memory.Pool();
    VERIFY_ERROR(pool->Take(1001), ErrorCode::kResourceExhausted, "no memory");
    VERIFY_OK(pool->Take(1000));
  }
};

TESSERA_TEST_APPLESS(BufferPoolTest)
#include "buffer_pool_test.moc"
