// SPDX-License-Identifier: Apache-2.0
// CudaMemory against the memory of the host. ctest runs it on an emulated driver, of whose devices
// 0 and 1 reach each other, 2 and 3 none; started alone, it takes the driver and devices of the
// machine.
#include "agents/gpu/cuda_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <QTest>
#include <algorithm>
#include <memory>
#include <vector>

#include "agents/gpu/arena_memory.h"
#include "agents/gpu/cuda_region.h"
#include "agents/gpu/measure_copies.h"
#include "agents/gpu/pinned_memory.h"
#include "engine/copy/device_memory.h"
#include "tests/engine/cells.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::CellView;
using engine::DeviceCell;
using ptc::Box;
using ptc::DType;
using Bytes = std::vector<std::byte>;

namespace {

constexpr std::int64_t kBytes = 8 << 20;

int NumDevices() {
  const auto driver = agents::CudaDriver::Get();
  return driver ? (*driver)->NumDevices().value_or(0) : 0;
}
/// If there are several, no other test writes to this one.
int LastDevice() { return NumDevices() - 1; }

struct OnDevice {
  explicit OnDevice(int number) {
    auto device = agents::CudaDevice::Open(number);
    if (!device) qFatal("%s", device.error().ToString().c_str());
    auto made = agents::CudaRegion::Create(*device, kBytes);
    if (!made) qFatal("%s", made.error().ToString().c_str());
    region = std::move(*made);
    memory = std::make_unique<agents::CudaMemory>(*device);
  }
  std::unique_ptr<agents::CudaRegion> region;
  std::unique_ptr<agents::CudaMemory> memory;
};

/// Writes all bytes of a piece.
void Fill(const OnDevice& device, const Box& piece, std::int64_t element, const Bytes& bytes) {
  const CellView all(piece, piece, element, device.region->address());
  if (!device.memory->Unpack(all, nullptr, 0, bytes)) qFatal("cannot write");
}
Bytes ReadBack(const OnDevice& device, const Box& piece, std::int64_t element) {
  const CellView all(piece, piece, element, device.region->address());
  Bytes bytes(static_cast<std::size_t>(all.size_bytes()));
  if (!device.memory->Pack(all, nullptr, 0, bytes)) qFatal("cannot read");
  return bytes;
}

/// A piece of kBytes, which is one cell.
CellView AllOf(std::byte* address) {
  const Box piece = *Box::Whole({kBytes / 4});
  return {piece, piece, 4, address};
}
CellView IndicesOfAll() {
  return engine::IndicesOf(DType::kF32, {kBytes / 4}, *Box::Whole({kBytes / 4}));
}

}  // namespace

class CudaMemoryTest : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
    const auto driver = agents::CudaDriver::Get();
    if (!driver) QSKIP(driver.error().message.c_str());
  }

  void packsAndUnpacksAsTheHost() {
    const OnDevice device(0);
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 100; ++i) {
      const Box piece = test::AnyBox(rng, static_cast<int>(rng() % 5), 7);
      const Box cell = test::AnyInside(rng, piece);
      ptc::Shape shape;
      for (int d = 0; d < piece.rank(); ++d) shape.push_back(piece[d].end);
      const DType dtype = rng() % 2 == 0 ? DType::kF32 : DType::kBF16;
      const std::int64_t element = ptc::SizeBytes(dtype);
      Bytes host = test::AnyBytes(rng, piece.num_elements() * element);
      Fill(device, piece, element, host);
      const CellView there(piece, cell, element, device.region->address());
      const CellView here(piece, cell, element, host.data());
      const CellView indices = engine::IndicesOf(dtype, shape, cell);
      const auto digest = device.memory->Digest(there, indices);
      VERIFY_OK(digest);
      QCOMPARE(*digest, engine::DigestCell(here, indices));

      const auto begin =
          static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(here.size_bytes()));
      const auto left = static_cast<std::uint64_t>(here.size_bytes() - begin);
      Bytes part(1 + rng() % left), expected(part.size());
      const auto packed = device.memory->Pack(there, &indices, begin, part);
      VERIFY_OK(packed);
      QCOMPARE(*packed, engine::ReadAndDigest(here, indices, begin, expected));
      QVERIFY(part == expected);

      const Bytes fresh = test::AnyBytes(rng, std::ssize(part));
      const auto written = device.memory->Unpack(there, &indices, begin, fresh);
      VERIFY_OK(written);
      QCOMPARE(*written, engine::WriteAndDigest(here, indices, begin, fresh));
      QVERIFY(ReadBack(device, piece, element) == host);
    }
  }

  // Longer than the host memory of a queue, and parts of it.
  void passesLongCellsInParts() {
    const OnDevice device(0);
    std::mt19937_64 rng(test::Seed());
    const CellView there = AllOf(device.region->address());
    const CellView indices = IndicesOfAll();
    Bytes host = test::AnyBytes(rng, kBytes);
    const auto written = device.memory->Unpack(there, &indices, 0, host);
    VERIFY_OK(written);
    QCOMPARE(*written, engine::DigestCell(AllOf(host.data()), indices));
    const auto part = static_cast<std::int64_t>(agents::CudaQueue::kStagingBytes);
    for (const std::int64_t size :
         {part - 4, part, part + 4, 2 * part, 3 * part, 7 * part / 2, kBytes}) {
      const std::int64_t offset = kBytes - size;
      Bytes read(static_cast<std::size_t>(size)), expected(read.size());
      const auto packed = device.memory->Pack(there, &indices, offset, read);
      VERIFY_OK(packed);
      QCOMPARE(*packed, engine::ReadAndDigest(AllOf(host.data()), indices, offset, expected));
      QVERIFY(read == expected);
    }
  }

  void hostBuffersNeedNoParts() {
    const OnDevice device(0);
    std::mt19937_64 rng(test::Seed());
    const CellView there = AllOf(device.region->address());
    const CellView indices = IndicesOfAll();
    const Bytes host = test::AnyBytes(rng, kBytes);
    auto in = device.memory->TakeHostBuffer(host.size());
    VERIFY_OK(in);
    QCOMPARE(in->bytes.size(), host.size());
    QVERIFY(agents::IsPinned(in->bytes) && !agents::IsPinned(host));
    const std::span<std::byte> beyond(in->bytes.data(), in->bytes.size() + 1);
    QVERIFY(agents::IsPinned(in->bytes.last(1)) && !agents::IsPinned(beyond));
    std::ranges::copy(host, in->bytes.begin());
    VERIFY_OK(device.memory->Unpack(there, &indices, 0, in->bytes));
    auto out = device.memory->TakeHostBuffer(host.size() - 8);
    VERIFY_OK(out);
    const auto packed = device.memory->Pack(there, &indices, 4, out->bytes);
    VERIFY_OK(packed);
    const std::span<const std::byte> expected(host.data() + 4, host.size() - 8);
    QVERIFY(std::ranges::equal(out->bytes, expected));
    QCOMPARE(*packed, engine::DigestPacked(indices, 4, expected));
  }

  // A frame of a lane may be under way when its device is closed.
  void aBufferKeepsItsDevice() {
    auto device = std::make_unique<OnDevice>(LastDevice());
    auto buffer = device->memory->TakeHostBuffer(4096);
    VERIFY_OK(buffer);
    const std::byte* const first = buffer->bytes.data();
    device.reset();
    QVERIFY(agents::IsPinned(buffer->bytes));
    std::ranges::fill(buffer->bytes, std::byte{1});
    QVERIFY(buffer->bytes.data() == first);
    *buffer = {};
    QVERIFY(!agents::IsPinned({first, 1}));
  }

  void warms() {
    const OnDevice device(0);
    for (const unsigned queues : {0U, 1U, 5U}) VERIFY_OK(device.region->device()->Warm(queues));
  }

  void copies_data() {
    QTest::addColumn<int>("from");
    QTest::addColumn<int>("to");
    QTest::newRow("inside a device") << 0 << 0;
    QTest::newRow("to a device that it reaches") << 0 << 1;
    QTest::newRow("to one that it does not reach") << 1 << 2;
  }
  void copies() {
    QFETCH(int, from);
    QFETCH(int, to);
    const int needed = std::max(from, to) + 1;
    if (NumDevices() < needed) {
      const auto why = QStringLiteral("the machine has %1 of the %2 devices that this needs");
      QSKIP(qPrintable(why.arg(NumDevices()).arg(needed)));
    }
    const OnDevice source(from), target(to);
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 50; ++i) {
      const Box cell = test::AnyBox(rng, static_cast<int>(rng() % 4), 9);
      const Box pieces[] = {test::AnyAround(rng, cell, 2), test::AnyAround(rng, cell, 2)};
      ptc::Shape shape;
      for (int d = 0; d < cell.rank(); ++d) {
        shape.push_back(std::max(pieces[0][d].end, pieces[1][d].end));
      }
      Bytes host = test::AnyBytes(rng, pieces[0].num_elements() * 4);
      Bytes before = test::AnyBytes(rng, pieces[1].num_elements() * 4);
      Fill(source, pieces[0], 4, host);
      Fill(target, pieces[1], 4, before);
      const DeviceCell read(*source.memory, {pieces[0], cell, 4, source.region->address()});
      const DeviceCell write(*target.memory, {pieces[1], cell, 4, target.region->address()});
      const CellView indices = engine::IndicesOf(DType::kF32, shape, cell);
      int digested = 0;
      const auto digests =
          engine::CopyCellAndDigest({&write, 1}, read, indices, [&] { ++digested; });
      VERIFY_OK(digests);
      QCOMPARE(digested, 1);
      engine::CopyCell(CellView(pieces[1], cell, 4, before.data()),
                       CellView(pieces[0], cell, 4, host.data()));
      QVERIFY(ReadBack(target, pieces[1], 4) == before);
      const std::uint64_t expected =
          engine::DigestCell(CellView(pieces[0], cell, 4, host.data()), indices);
      QCOMPARE(digests->source, expected);
      QCOMPARE(digests->copies, std::vector<std::uint64_t>{expected});
    }
  }

  void copiesAreMeasured() {
    for (const int to : {0, LastDevice()}) {
      const auto runs = agents::MeasureCopies(0, to);
      VERIFY_OK(runs);
      QCOMPARE(runs->size(), 5U);
      QVERIFY(*std::ranges::min_element(*runs) > 1e6);
    }
  }

  void newMemoryIsZero() {
    const OnDevice device(LastDevice());
    const Bytes bytes = ReadBack(device, *Box::Whole({kBytes}), 1);
    QVERIFY(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; }));
  }

  // As an agent that starts again finds what the one before it has made.
  void memoryOutlivesItsMaker() {
    const auto fd = engine::Arena::CreateSparse("test", kBytes, engine::MemoryKind::kCuda);
    VERIFY_OK(fd);
    const Box box = *Box::Whole({1000});
    std::mt19937_64 rng(test::Seed());
    const Bytes bytes = test::AnyBytes(rng, 4000);
    int memory = -1;
    {
      auto arena = engine::Arena::Map(*fd, true);
      VERIFY_OK(arena);
      QVERIFY(arena->memory_kind() == engine::MemoryKind::kCuda && !arena->has_memory());
      const auto made = agents::MakeCudaMemory(*arena, LastDevice());
      VERIFY_OK(made);
      memory = *made;
      QVERIFY(arena->has_memory());
      VERIFY_OK(arena->CellAt(8192, box, box, 4).Unpack(0, bytes));
    }
    auto arena = engine::Arena::Map(*fd, true);
    VERIFY_OK(arena);
    VERIFY_OK(agents::AttachCudaMemory(*arena, LastDevice(), memory));
    Bytes read(bytes.size());
    VERIFY_OK(arena->CellAt(8192, box, box, 4).Pack(0, read));
    QVERIFY(read == bytes);
    ::close(memory);
    ::close(*fd);
  }

  void refusesWhatIsNotThere() {
    const int count = NumDevices();
    VERIFY_ERROR(agents::CudaDevice::Open(count), ErrorCode::kInvalidArgument,
                 fmt::format("CUDA device {0}: this machine has {0}", count));
    const auto device = agents::CudaDevice::Open(LastDevice());
    VERIFY_OK(device);
    const agents::CudaDeviceInfo& info = (*device)->info();
    const std::int64_t too_much = (info.total_bytes >> 20) * 4 << 20;
    VERIFY_ERROR(agents::CudaRegion::Create(*device, too_much), ErrorCode::kResourceExhausted,
                 fmt::format("{} MiB: CUDA: device {} ({}): cuMemCreate: out of memory (2)",
                             too_much >> 20, info.number, info.name));
    // A descriptor of something else.
    VERIFY_ERROR(agents::CudaRegion::Import(*device, STDOUT_FILENO, kBytes),
                 ErrorCode::kUnavailable, "cuMemImportFromShareableHandle");
  }
};

TESSERA_TEST_APPLESS(CudaMemoryTest)
#include "cuda_memory_test.moc"
