// SPDX-License-Identifier: Apache-2.0
#include "agents/net/lane_reader.h"

#include <QTest>
#include <algorithm>
#include <atomic>
#include <thread>

#include "agents/net/lanes.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {

const LaneKey kKey{"gpt-mini", 77, kViewAttempt};

LaneCell NamedCell(std::int32_t tensor) { return {0, tensor, ptc::Box::Scalar()}; }

/// Cells of random bytes that lanes serve.
struct Source {
  CurveKeys keys = NewCurveKeys();
  CurveKeys client = NewCurveKeys();
  NetContext context{2};
  std::vector<std::vector<std::byte>> cells;
  std::atomic<int> num_resolved{0};
  std::unique_ptr<LaneServer> server;

  explicit Source(std::vector<std::size_t> sizes, int lanes = 2) {
    std::mt19937_64 rng(test::Seed());
    for (const std::size_t size : sizes) {
      auto& cell = cells.emplace_back(size);
      for (auto& byte : cell) byte = static_cast<std::byte>(rng());
    }
    context.SetAllowed({client.public_key});
    Serve(std::vector<std::string>(static_cast<std::size_t>(lanes), "tcp://127.0.0.1:*"));
  }
  void Serve(std::vector<std::string> endpoints) {
    LaneServerOptions options;
    options.endpoints = std::move(endpoints);
    options.keys = keys;
    auto started = LaneServer::Start(
        context, std::move(options),
        [this](const LaneKey& key, const LaneCell& cell) { return Resolve(key, cell); });
    if (!started) qFatal("%s", started.error().ToString().c_str());
    server = std::move(*started);
  }
  Result<SourceCell> Resolve(const LaneKey& key, const LaneCell& cell) {
    ++num_resolved;
    if (!(key == kKey)) return NotFound("no " + ToString(key));
    if (cell.tensor >= std::ssize(cells)) return NotFound("no " + ToString(cell));
    auto& bytes = cells[static_cast<std::size_t>(cell.tensor)];
    const ptc::Box box = *ptc::Box::Whole({std::ssize(bytes)});
    return SourceCell{engine::CellView(box, box, 1, bytes.data()), {}, {}};
  }
  std::unique_ptr<LaneReader> Reader(NetContext& net, std::chrono::milliseconds silence = 10s) {
    LaneReaderOptions options;
    options.keys = client;
    options.silence = silence;
    auto reader = LaneReader::Open(net, server->endpoints(), keys.public_key, std::move(options));
    if (!reader) qFatal("%s", reader.error().ToString().c_str());
    return std::move(*reader);
  }
};

std::int64_t TotalOf(const std::vector<LaneSegment>& segments) {
  std::int64_t total = 0;
  for (const LaneSegment& segment : segments) total += segment.size;
  return total;
}

/// Reads into memory of its own; every byte must be written exactly once.
struct Got {
  std::vector<std::byte> bytes;
  std::vector<int> written;
  std::future<Status> future;

  Got(LaneReader& reader, const LaneKey& key, const std::vector<LaneSegment>& segments)
      : bytes(static_cast<std::size_t>(TotalOf(segments))), written(bytes.size()) {
    future = reader.Read(key, segments, [this](std::int64_t at, std::span<const std::byte> in) {
      std::copy(in.begin(), in.end(), bytes.begin() + at);
      for (std::size_t i = 0; i < in.size(); ++i) ++written[static_cast<std::size_t>(at) + i];
    });
  }
  bool Fits(const Source& source, const std::vector<LaneSegment>& segments) const {
    auto at = bytes.begin();
    for (const LaneSegment& segment : segments) {
      const auto& cell = source.cells[static_cast<std::size_t>(segment.cell.tensor)];
      if (!std::equal(at, at + segment.size, cell.begin() + segment.offset)) return false;
      at += segment.size;
    }
    return std::all_of(written.begin(), written.end(), [](int n) { return n == 1; });
  }
};

std::vector<LaneSegment> AnySegments(std::mt19937_64& rng, const Source& source, int most) {
  std::vector<LaneSegment> segments;
  const int count = 1 + static_cast<int>(rng() % static_cast<std::uint64_t>(most));
  for (int i = 0; i < count; ++i) {
    const std::size_t cell = rng() % source.cells.size();
    const std::size_t size = source.cells[cell].size();
    const std::size_t begin = rng() % size;
    const bool large = count <= 6 && rng() % 4 == 0;
    const std::size_t largest = std::min<std::size_t>(size - begin, large ? size : 5000);
    segments.push_back({NamedCell(static_cast<std::int32_t>(cell)),
                        static_cast<std::int64_t>(begin),
                        static_cast<std::int64_t>(1 + rng() % largest)});
  }
  return segments;
}

}  // namespace

class LaneReaderTest : public QObject {
  Q_OBJECT

 private slots:
  void anyRangesComeAsTheyAre() {
    Source source({1, 4096, 3'500'001, 777});
    NetContext net;
    const auto reader = source.Reader(net);
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 60; ++i) {
      const auto segments = AnySegments(rng, source, i % 10 == 0 ? 2500 : 6);
      Got got(*reader, kKey, segments);
      const Status status = got.future.get();
      QVERIFY2(status.has_value(), status ? "" : status.error().ToString().c_str());
      QVERIFY(got.Fits(source, segments));
    }
  }

  void onlyWhatIsAskedForMoves() {
    Source source({std::size_t{8} << 20});
    NetContext net;
    const auto reader = source.Reader(net);
    const std::vector<LaneSegment> row{{NamedCell(0), 123'457, 4096}};
    Got got(*reader, kKey, row);
    QVERIFY(got.future.get());
    QVERIFY(got.Fits(source, row));
    QCOMPARE(source.server->bytes_sent(), 4096);
  }

  void manyThreadsReadAtOnce() {
    Source source({100'000, 2'000'000});
    NetContext net;
    const auto reader = source.Reader(net);
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    const std::uint64_t seed = test::Seed();
    for (std::uint64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937_64 rng(seed + t);
        for (int i = 0; i < 25; ++i) {
          const auto segments = AnySegments(rng, source, 4);
          Got got(*reader, kKey, segments);
          if (got.future.get() && got.Fits(source, segments)) ++good;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    QCOMPARE(good.load(), 200);
  }

  void whatTheSourceSaysComesWithItsName() {
    Source source({100});
    NetContext net;
    const auto reader = source.Reader(net);
    Got no_cell(*reader, kKey, {{NamedCell(7), 0, 1}});
    expect(no_cell.future.get(), ErrorCode::kNotFound, "source tcp://127.0.0.1:");
    Got no_view(*reader, {"gpt-mini", 78, kViewAttempt}, {{NamedCell(0), 0, 1}});
    expect(no_view.future.get(), ErrorCode::kNotFound, "no gpt-mini transaction 78");
    Got outside(*reader, kKey, {{NamedCell(0), 90, 11}});
    expect(outside.future.get(), ErrorCode::kInvalidArgument, "outside a cell of 100 bytes");
    Got after(*reader, kKey, {{NamedCell(0), 90, 10}});
    QVERIFY(after.future.get());
  }

  void aKeyThatIsNotAllowedIsSaid() {
    Source source({100});
    source.context.SetAllowed({});
    NetContext net;
    const auto reader = source.Reader(net);
    Got first(*reader, kKey, {{NamedCell(0), 0, 10}});
    expect(first.future.get(), ErrorCode::kFailedPrecondition, "key refused by tcp://127.0.0.1:");
    Got second(*reader, kKey, {{NamedCell(0), 0, 10}});
    expect(second.future.get(), ErrorCode::kFailedPrecondition, "key refused by");
    QCOMPARE(source.num_resolved.load(), 0);
    // The node admits the key: the same reader works from then on.
    source.context.SetAllowed({source.client.public_key});
    const auto reads = [&] {
      Got later(*reader, kKey, {{NamedCell(0), 0, 10}});
      return later.future.get().has_value();
    };
    QTRY_VERIFY_WITH_TIMEOUT(reads(), 20000);
  }

  void aSilentSourceIsSaid() {
    Source source({100}, 1);
    NetContext net;
    const auto reader = source.Reader(net, 400ms);
    Got before(*reader, kKey, {{NamedCell(0), 0, 10}});
    QVERIFY(before.future.get());
    const auto endpoints = source.server->endpoints();
    source.server.reset();
    Got none(*reader, kKey, {{NamedCell(0), 0, 10}});
    expect(none.future.get(), ErrorCode::kUnavailable, "silent for 400 ms");
    // The node returns: the same reader works again.
    for (int i = 0; i < 100 && !source.server; ++i) {
      LaneServerOptions options;
      options.endpoints = endpoints;
      options.keys = source.keys;
      auto again = LaneServer::Start(
          source.context, std::move(options),
          [&](const LaneKey& key, const LaneCell& cell) { return source.Resolve(key, cell); });
      if (again) source.server = std::move(*again);
      QTest::qSleep(20);
    }
    QVERIFY(source.server);
    bool read = false;
    for (int i = 0; i < 20 && !read; ++i) {
      Got later(*reader, kKey, {{NamedCell(0), 0, 10}});
      read = later.future.get().has_value();
    }
    QVERIFY(read);
  }

  void theEndOfTheReaderEndsItsReads() {
    Source source({100}, 1);
    NetContext net;
    auto reader = source.Reader(net);
    source.server.reset();
    Got got(*reader, kKey, {{NamedCell(0), 0, 10}});
    reader.reset();
    expect(got.future.get(), ErrorCode::kCancelled, "closed");
  }

  void aSourceWithoutEndpointsIsRefused() {
    NetContext net;
    const auto reader = LaneReader::Open(net, {}, "", {});
    QVERIFY(!reader);
    QCOMPARE(reader.error().code, ErrorCode::kInvalidArgument);
  }

 private:
  static void expect(const Status& status, ErrorCode code, const char* text) {
    QVERIFY(!status);
    QCOMPARE(status.error().code, code);
    QVERIFY2(status.error().ToString().find(text) != std::string::npos,
             status.error().ToString().c_str());
  }
};
TESSERA_TEST_APPLESS(LaneReaderTest)
#include "lane_reader_test.moc"
