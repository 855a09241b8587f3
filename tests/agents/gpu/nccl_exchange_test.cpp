// SPDX-License-Identifier: Apache-2.0
// Cells from device to device by NCCL. ctest runs it on the emulated driver and NCCL; started
// alone, it takes those of the machine.
#include "agents/gpu/nccl_exchange.h"

#include <QTest>
#include <future>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "agents/gpu/cuda_memory.h"
#include "agents/gpu/cuda_region.h"
#include "engine/copy/fused.h"
#include "tests/engine/cells.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::CellView;
using engine::ExchangeFlow;
using ptc::Box;
using ptc::DeviceId;
using ptc::DType;
using Bytes = std::vector<std::byte>;

namespace {

constexpr std::int64_t kBytes = std::int64_t{40} << 20;
constexpr DeviceId kFirst{0, 0}, kSecond{1, 0};

int NumDevices() {
  const auto driver = agents::CudaDriver::Get();
  return driver ? (*driver)->NumDevices().value_or(0) : 0;
}

/// A device, and what it has been told to send and to receive.
struct Party {
  explicit Party(int number) {
    const auto device = agents::CudaDevice::Open(number);
    if (!device) qFatal("%s", device.error().ToString().c_str());
    auto made = agents::CudaRegion::Create(*device, kBytes);
    if (!made) qFatal("%s", made.error().ToString().c_str());
    region = std::move(*made);
    memory = std::make_unique<agents::CudaMemory>(*device);
  }
  /// The next free memory.
  std::byte* Take(std::int64_t bytes) {
    std::byte* const at = region->address() + used;
    used += (bytes + 255) / 256 * 256;
    if (used > kBytes) qFatal("too little memory");
    return at;
  }
  std::unique_ptr<agents::CudaRegion> region;
  std::unique_ptr<agents::CudaMemory> memory;
  std::int64_t used = 0;
  std::vector<ExchangeFlow> flows;
};

/// A cell that one piece sends to another, and what has to arrive.
struct Sent {
  Party* to;
  Box piece, cell;
  std::byte* address;
  Bytes expected;
  std::uint64_t digest;
};

/// Adds a flow of cells of random shapes, one of which takes several chunks.
std::vector<Sent> AddFlow(Party& from, DeviceId source, Party& to, DeviceId destination,
                          std::mt19937_64& rng) {
  std::vector<Sent> out;
  ExchangeFlow going{source, destination, true, {}}, coming{source, destination, false, {}};
  for (int i = 0; i < 40; ++i) {
    const bool is_long = i == 20;
    const Box cell = is_long ? *Box::Whole({9 << 20, 2}) : test::AnyBox(rng, 1 + i % 3, 9);
    const DType type = i % 2 == 0 && !is_long ? DType::kF32 : is_long ? DType::kU8 : DType::kBF16;
    const std::int64_t element = ptc::SizeBytes(type);
    const Box pieces[] = {is_long ? cell : test::AnyAround(rng, cell, 2),
                          is_long ? cell : test::AnyAround(rng, cell, 2)};
    ptc::Shape shape;
    for (int d = 0; d < cell.rank(); ++d)
      shape.push_back(std::max(pieces[0][d].end, pieces[1][d].end));
    Bytes host[] = {test::AnyBytes(rng, pieces[0].num_elements() * element),
                    test::AnyBytes(rng, pieces[1].num_elements() * element)};
    std::byte* const addresses[] = {from.Take(std::ssize(host[0])), to.Take(std::ssize(host[1]))};
    Party* const parties[] = {&from, &to};
    for (int end = 0; end < 2; ++end) {
      const CellView all(pieces[end], pieces[end], element, addresses[end]);
      if (!parties[end]->memory->Unpack(all, nullptr, 0, host[end])) qFatal("cannot write");
    }
    const CellView indices = engine::IndicesOf(type, shape, cell);
    going.cells.push_back({{*from.memory, {pieces[0], cell, element, addresses[0]}}, indices, i});
    coming.cells.push_back({{*to.memory, {pieces[1], cell, element, addresses[1]}}, indices, i});
    const CellView read(pieces[0], cell, element, host[0].data());
    engine::CopyCell(CellView(pieces[1], cell, element, host[1].data()), read);
    out.push_back({&to, pieces[1], cell, addresses[1], std::move(host[1]),
                   engine::DigestCell(read, indices)});
  }
  from.flows.push_back(std::move(going));
  to.flows.push_back(std::move(coming));
  return out;
}

bool HasArrived(const Sent& sent) {
  const auto element =
      std::ssize(sent.expected) / std::max<std::int64_t>(1, sent.piece.num_elements());
  const CellView all(sent.piece, sent.piece, element, sent.address);
  Bytes found(sent.expected.size());
  return sent.to->memory->Pack(all, nullptr, 0, found) && found == sent.expected;
}

/// Digests of what has arrived, by the numbers of its cells.
using Digests = std::map<std::int64_t, std::uint64_t>;
engine::DeviceExchange::Arrived Collect(Digests& digests) {
  return [&digests](const ExchangeFlow&, std::int64_t number, std::int64_t, std::uint64_t digest) {
    digests[number] += digest;
  };
}

using Joined = Result<std::unique_ptr<engine::DeviceExchange>>;
std::future<Joined> JoinLater(const std::string& place, DeviceId own, int number,
                              std::vector<engine::ExchangeEnds> flows) {
  return std::async(std::launch::async, [=] {
    return agents::JoinNcclExchange(place, {{kFirst, kSecond}, {{own, number}}, flows}, {});
  });
}

/// A device that exchanges cells with itself, which is what one GPU can show.
struct Alone {
  Alone() {
    sent = AddFlow(only, kFirst, only, kFirst, rng);
    const auto place = agents::NcclGroup::NewMeeting();
    if (!place) qFatal("%s", place.error().ToString().c_str());
    auto joined =
        agents::JoinNcclExchange(*place, {{kFirst}, {{kFirst, 0}}, {{kFirst, kFirst}}}, {});
    if (!joined) qFatal("%s", joined.error().ToString().c_str());
    exchange = std::move(*joined);
  }
  std::mt19937_64 rng{test::Seed()};
  Party only{0};
  std::vector<Sent> sent;
  std::unique_ptr<engine::DeviceExchange> exchange;
};

/// Two devices, which meet as two processes do.
struct Pair {
  /// Both ends of an exchange with these flows.
  void Meet(const std::vector<engine::ExchangeEnds>& flows) {
    const auto place = agents::NcclGroup::NewMeeting();
    if (!place) qFatal("%s", place.error().ToString().c_str());
    auto other = JoinLater(*place, kSecond, 1, flows);
    own = JoinLater(*place, kFirst, 0, flows).get();
    others = other.get();
  }
  std::mt19937_64 rng{test::Seed()};
  Party first{0}, second{1};
  Joined own = Unavailable("not met"), others = Unavailable("not met");
};

}  // namespace

class NcclExchangeTest : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
    const auto nccl = agents::NcclLibrary::Get();
    if (!nccl) QSKIP(nccl.error().message.c_str());
    if (NumDevices() == 0) QSKIP("no CUDA device");
  }

  void betweenTwoProcesses() {
    if (NumDevices() < 2) QSKIP("the machine has one device, and this needs two");
    Pair pair;
    const std::vector<Sent> there = AddFlow(pair.first, kFirst, pair.second, kSecond, pair.rng);
    const std::vector<Sent> back = AddFlow(pair.second, kSecond, pair.first, kFirst, pair.rng);
    pair.Meet({{kFirst, kSecond}, {kSecond, kFirst}});
    VERIFY_OK(pair.own);
    VERIFY_OK(pair.others);
    for (int round = 0; round < 2; ++round) {  // it can be used again
      Digests at_first, at_second;
      auto run = std::async(std::launch::async, [&] {
        return (*pair.others)->Run(pair.second.flows, Collect(at_second), {});
      });
      VERIFY_OK((*pair.own)->Run(pair.first.flows, Collect(at_first), {}));
      VERIFY_OK(run.get());
      for (const auto& [sent, digests] : {std::pair(&there, &at_second), {&back, &at_first}}) {
        for (std::size_t i = 0; i < sent->size(); ++i) {
          QVERIFY2(HasArrived((*sent)[i]), qPrintable(QString::number(i)));
          QCOMPARE(digests->at(static_cast<std::int64_t>(i)), (*sent)[i].digest);
        }
      }
    }
  }

  void withItself() {
    Alone alone;
    Digests digests;
    VERIFY_OK(alone.exchange->Run(alone.only.flows, Collect(digests), {}));
    for (std::size_t i = 0; i < alone.sent.size(); ++i) {
      QVERIFY2(HasArrived(alone.sent[i]), qPrintable(QString::number(i)));
      QCOMPARE(digests.at(static_cast<std::int64_t>(i)), alone.sent[i].digest);
    }
  }

  /// In the pause the program may hold all memory of the device.
  void noMemoryIsTakenAfterwards() {
    if (!(*agents::CudaDriver::Get())->is_emulated()) QSKIP("the GPU is not for this test alone");
    Alone alone;
    const auto device = agents::CudaDevice::Open(0);
    VERIFY_OK(device);
    const auto& api = (*device)->driver().api();
    std::vector<std::uint64_t> taken;
    for (std::size_t size = std::size_t{1} << 30; size >= 4096;) {
      std::uint64_t address = 0;
      if (api.MemAlloc(&address, size) == 0) {
        taken.push_back(address);
      } else {
        size /= 2;
      }
    }
    QVERIFY(!taken.empty());
    Digests digests;
    const Status run = alone.exchange->Run(alone.only.flows, Collect(digests), {});
    for (const std::uint64_t address : taken) api.MemFree(address);
    VERIFY_OK(run);
    for (const Sent& cell : alone.sent) QVERIFY(HasArrived(cell));
  }

  void aPeerThatEnds() {
    if (NumDevices() < 2) QSKIP("the machine has one device, and this needs two");
    Pair pair;
    AddFlow(pair.first, kFirst, pair.second, kSecond, pair.rng);
    pair.Meet({{kFirst, kSecond}});
    VERIFY_OK(pair.own);
    pair.others = Unavailable("ended");
    Digests digests;
    const Status status = (*pair.own)->Run(pair.first.flows, Collect(digests), {});
    VERIFY_ERROR(status, ErrorCode::kUnavailable, "NCCL: ");
  }

  void nobodyComes() {
    const auto place = agents::NcclGroup::NewMeeting();
    VERIFY_OK(place);
    std::stop_source stop;
    auto alone = std::async(std::launch::async, [&] {
      return agents::JoinNcclExchange(*place, {{kFirst, kSecond}, {{kFirst, 0}}}, stop.get_token());
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
    VERIFY_ERROR(alone.get(), ErrorCode::kCancelled, "no longer waited for");
  }

  void refusesAnotherText() {
    VERIFY_ERROR(agents::JoinNcclExchange("somewhere", {{kFirst}, {{kFirst, 0}}}, {}),
                 ErrorCode::kInvalidArgument, "9 bytes are no meeting of NCCL, which has 128");
  }
};

TESSERA_TEST_APPLESS(NcclExchangeTest)
#include "nccl_exchange_test.moc"
