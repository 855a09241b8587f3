// SPDX-License-Identifier: Apache-2.0
#include "agents/net/lanes.h"

#include <QTest>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>
#include <tuple>

#include "agents/net/loop.h"
#include "engine/copy/checksum.h"
#include "engine/copy/fused.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {

const CurveKeys& AgentKeys() {
  static const CurveKeys keys = NewCurveKeys();
  return keys;
}
const LaneKey kKey{"gpt-mini", 3, 1};

std::vector<std::byte> RandomBytes(std::size_t size, std::mt19937_64& rng) {
  std::vector<std::byte> bytes(size);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = rng();
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, size - at));
  }
  return bytes;
}

/// A piece in memory with one cell of it.
struct Store {
  ptc::Box piece = ptc::Box::Scalar();
  ptc::Box cell = ptc::Box::Scalar();
  std::int64_t element_bytes = 1;
  std::vector<std::byte> memory;

  engine::CellView View() { return {piece, cell, element_bytes, memory.data()}; }
  std::vector<std::byte> Packed() {
    std::vector<std::byte> packed(static_cast<std::size_t>(View().size_bytes()));
    View().Read(0, packed);
    return packed;
  }
  /// Of the cell in a tensor that is larger than it.
  engine::CellView Indices() const {
    ptc::Shape shape;
    for (int d = 0; d < cell.rank(); ++d) shape.push_back(cell[d].end + 1);
    return {*ptc::Box::Whole(shape), cell, element_bytes, nullptr};
  }
  std::uint64_t Digest() { return engine::DigestPacked(Indices(), 0, Packed()); }
};

/// A piece around a cell. Its size differs at the two ends, so that the runs differ.
Store MakeStore(const ptc::Box& cell, std::int64_t element_bytes, std::mt19937_64& rng) {
  Store store;
  std::vector<ptc::Interval> dims;
  for (int d = 0; d < cell.rank(); ++d) {
    const auto low = std::min<std::int64_t>(cell[d].begin, static_cast<std::int64_t>(rng() % 3));
    dims.push_back({cell[d].begin - low, cell[d].end + static_cast<std::int64_t>(rng() % 3)});
  }
  store.piece = *ptc::Box::Make(dims);
  store.cell = cell;
  store.element_bytes = element_bytes;
  store.memory =
      RandomBytes(static_cast<std::size_t>(store.piece.num_elements() * element_bytes), rng);
  return store;
}

ptc::Box BoxOf(std::vector<std::int64_t> sizes) { return *ptc::Box::Whole(sizes); }

/// Cells at both ends: tensor i goes from sources[i] to destinations[i].
struct Pair {
  std::mt19937_64 rng{test::Seed()};
  std::vector<Store> sources;
  std::vector<Store> destinations;

  Pair() = default;
  /// Cells of bytes.
  explicit Pair(const std::vector<ptc::Box>& cells) {
    for (const ptc::Box& cell : cells) Add(cell, 1);
  }
  void Add(const ptc::Box& cell, std::int64_t element_bytes) {
    sources.push_back(MakeStore(cell, element_bytes, rng));
    destinations.push_back(MakeStore(cell, element_bytes, rng));
  }
  LaneServer::Resolve Resolve() {
    return [this](const LaneKey& key, const LaneCell& cell) -> Result<SourceCell> {
      if (key != kKey) return FailedPrecondition("no transaction " + ToString(key));
      if (cell.tensor >= std::ssize(sources)) return NotFound("no " + ToString(cell));
      Store& store = sources[static_cast<std::size_t>(cell.tensor)];
      return SourceCell{store.View(), store.Indices(), {}};
    };
  }
  FetchBatch Batch(std::vector<std::string> endpoints, std::size_t begin, std::size_t end) {
    FetchBatch batch;
    batch.endpoints = std::move(endpoints);
    batch.server_key = AgentKeys().public_key;
    for (std::size_t i = begin; i < end; ++i) {
      batch.cells.push_back({static_cast<std::int64_t>(i),
                             {0, static_cast<std::int32_t>(i), destinations[i].cell},
                             destinations[i].View(),
                             destinations[i].Indices(),
                             {}});
    }
    return batch;
  }
  std::int64_t TotalBytes() {
    return std::accumulate(sources.begin(), sources.end(), std::int64_t{0},
                           [](std::int64_t sum, Store& s) { return sum + s.View().size_bytes(); });
  }
};

/// The arguments of the callbacks.
struct Outcome {
  std::mutex mutex;
  std::map<std::int64_t, std::int64_t> bytes;     // by id
  std::map<std::int64_t, std::uint64_t> digests;  // by id
  using Switches = std::vector<std::pair<std::size_t, std::size_t>>;
  Switches switches;
  std::vector<std::string> reasons;
  std::set<std::tuple<std::int64_t, std::size_t, std::size_t>> replaced;  // id, from, to
  std::map<std::int64_t, int> most_attempts;                              // by id
  std::atomic<std::int64_t> total{0};
  std::atomic<int> num_done{0};
  std::promise<Status> promise;
  std::future<Status> future = promise.get_future();

  FetchCallbacks Callbacks() {
    FetchCallbacks callbacks;
    callbacks.progress = [this](std::size_t, std::int64_t id, std::int64_t size) {
      total += size;
      const std::lock_guard lock(mutex);
      bytes[id] += size;
    };
    callbacks.cell_done = [this](std::int64_t id, std::uint64_t digest) {
      const std::lock_guard lock(mutex);
      if (!digests.emplace(id, digest).second) qFatal("cell done twice");
    };
    callbacks.switched = [this](std::size_t from, std::size_t to, const Error& why) {
      const std::lock_guard lock(mutex);
      switches.emplace_back(from, to);
      reasons.push_back(why.ToString());
    };
    callbacks.replaced = [this](std::int64_t id, std::size_t from, std::size_t to, const Error&) {
      const std::lock_guard lock(mutex);
      replaced.emplace(id, from, to);
    };
    callbacks.retried = [this](std::int64_t id, int attempt, int most, const std::string& why) {
      if (attempt > most || why.empty()) qFatal("an attempt beyond the last");
      const std::lock_guard lock(mutex);
      most_attempts[id] = std::max(most_attempts[id], attempt);
    };
    callbacks.done = [this](Status status) {
      if (++num_done == 1) promise.set_value(std::move(status));
    };
    return callbacks;
  }
  Status Wait() {
    if (future.wait_for(30s) != std::future_status::ready) return Timeout("test: no done in 30 s");
    return future.get();
  }
};

/// Two ends that share only the loopback interface.
struct Net {
  NetContext source{2};
  NetContext destination{2};
  Net() {
    source.SetAllowed({AgentKeys().public_key});
    destination.SetAllowed({AgentKeys().public_key});
  }
  std::unique_ptr<LaneServer> Serve(LaneServer::Resolve resolve, int lanes = 2,
                                    std::shared_ptr<engine::TokenBucket> egress = {}) {
    LaneServerOptions options;
    options.endpoints.assign(static_cast<std::size_t>(lanes), "tcp://127.0.0.1:*");
    options.keys = AgentKeys();
    options.egress = std::move(egress);
    auto server = LaneServer::Start(source, std::move(options), std::move(resolve));
    if (!server) qFatal("%s", server.error().ToString().c_str());
    return std::move(*server);
  }
  LaneClientOptions Options() const {
    LaneClientOptions options;
    options.keys = AgentKeys();
    return options;
  }
};

/// One fetch by a client of its own.
struct OneFetch {
  LaneClient client;
  Outcome outcome;

  explicit OneFetch(Net& net) : OneFetch(net, net.Options()) {}
  OneFetch(Net& net, const LaneClientOptions& options) : client(net.destination, options) {}
  /// Waits until it is done.
  Status Run(const std::vector<FetchBatch>& batches) {
    TESSERA_RETURN_IF_ERROR(client.Start(kKey, batches, outcome.Callbacks()));
    return outcome.Wait();
  }
};

/// A relay between a destination and one lane of a source that damages replies.
class Relay {
 public:
  /// Receives each reply and returns the messages to send instead: none, one or several.
  using Harm = std::function<std::vector<std::pair<LaneReply, std::vector<std::byte>>>(
      LaneReply, std::vector<std::byte>)>;

  Relay(const std::string& lane, Harm harm)
      : harm_(std::move(harm)),
        router_(*Socket::Server(context_, SocketKind::kRouter, AgentKeys())),
        dealer_(
            *Socket::Client(context_, SocketKind::kDealer, AgentKeys(), AgentKeys().public_key)) {
    context_.SetAllowed({AgentKeys().public_key});
    endpoint_ = *router_.Bind("tcp://127.0.0.1:*");
    if (!dealer_.Connect(lane)) qFatal("relay cannot connect");
    thread_ = std::jthread([this] {
      loop_.Watch(router_, [this] { Forward(); });
      loop_.Watch(dealer_, [this] { Back(); });
      loop_.Run();
    });
  }
  ~Relay() {
    loop_.Stop();
    thread_.join();
  }
  const std::string& endpoint() const { return endpoint_; }
  /// It does not distinguish destinations, so it serves one lane only.
  static LaneClientOptions OneLane(LaneClientOptions options) {
    options.lanes = 1;
    return options;
  }

 private:
  void Forward() {
    auto message = router_.Receive();
    if (!message || !*message) return;
    peer_ = (*message)->Text(0);  // one destination per relay
    std::vector<Frame> frames;
    frames.push_back(Frame::Of(std::string((*message)->Text(1))));
    static_cast<void>(dealer_.Send(std::move(frames)));
  }
  void Back() {
    auto message = dealer_.Receive();
    if (!message || !*message) return;
    auto reply = DecodeLaneReply((**message)[0]);
    if (!reply) qFatal("%s", reply.error().ToString().c_str());
    std::vector<std::byte> body;
    if ((*message)->size() > 1) body.assign((**message)[1].begin(), (**message)[1].end());
    for (auto& [head, bytes] : harm_(*reply, body)) {
      std::vector<Frame> frames;
      frames.push_back(Frame::Of(peer_));
      frames.push_back(Frame::Of(Encode(head)));
      if (!bytes.empty()) {
        frames.push_back(
            Frame::Of(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
      }
      static_cast<void>(router_.Send(std::move(frames)));
    }
  }

  Harm harm_;
  NetContext context_;
  Loop loop_;
  Socket router_;
  Socket dealer_;
  std::string endpoint_;
  std::string peer_;
  std::jthread thread_;
};

using Replies = std::vector<std::pair<LaneReply, std::vector<std::byte>>>;

}  // namespace

class LanesTest : public QObject {
  Q_OBJECT

  static void verify(Pair& pair, Outcome& outcome) {
    QCOMPARE(outcome.digests.size(), pair.sources.size());
    QCOMPARE(outcome.total.load(), pair.TotalBytes());
    for (std::size_t i = 0; i < pair.sources.size(); ++i) {
      const auto id = static_cast<std::int64_t>(i);
      QVERIFY(pair.destinations[i].Packed() == pair.sources[i].Packed());
      QCOMPARE(outcome.digests.at(id), pair.sources[i].Digest());
      QCOMPARE(outcome.bytes.at(id), pair.sources[i].View().size_bytes());
    }
    QCOMPARE(outcome.num_done.load(), 1);
  }

 private slots:
  // Tiny cells share frames, large ones span messages, strided ones are packed.
  void randomCellsOfTwoSourcesArrive() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 5; ++round) {
      Pair pair;
      pair.rng.seed(rng());
      const std::int64_t kElementBytes[] = {1, 2, 4, 8};
      for (int i = 0; i < 60; ++i) {
        pair.Add(test::AnyBox(rng, static_cast<int>(rng() % 4), 40), kElementBytes[rng() % 4]);
      }
      pair.Add(BoxOf({1 << 20, 3}), 4);     // 12 MiB, perhaps in runs of 12 bytes
      pair.Add(BoxOf({(9 << 20) + 5}), 1);  // more than a message, not a round size
      pair.Add(BoxOf({300000}), 2);
      // The memory around the cells at the destination stays unchanged.
      const std::vector<Store> before = pair.destinations;

      Net net;
      const auto first = net.Serve(pair.Resolve());
      const auto second = net.Serve(pair.Resolve(), 1);
      LaneClient client(net.destination, net.Options());
      Outcome outcome;
      const std::size_t middle = pair.sources.size() / 2;
      QVERIFY(client.Start(kKey,
                           {pair.Batch(first->endpoints(), 0, middle),
                            pair.Batch(second->endpoints(), middle, pair.sources.size())},
                           outcome.Callbacks()));
      const Status status = outcome.Wait();
      QVERIFY2(status, qPrintable(QString::fromStdString(status ? "" : status.error().ToString())));
      verify(pair, outcome);
      QCOMPARE(first->bytes_sent() + second->bytes_sent(), pair.TotalBytes());
      QCOMPARE(client.counts().dropped.load(), std::int64_t{0});
      QCOMPARE(client.counts().corrupt.load(), std::int64_t{0});
      for (std::size_t i = 0; i < before.size(); ++i) {
        std::vector<std::byte> mine = pair.destinations[i].memory;
        Store expected = before[i];
        expected.View().Write(0, pair.sources[i].Packed());
        QVERIFY(mine == expected.memory);
      }
    }
  }

  // A measurement of a link has no digests.
  void cellsWithoutIndicesArriveByTheirChecksums() {
    Pair pair({BoxOf({3}), BoxOf({(2 << 20) + 3}), BoxOf({5})});
    Net net;
    const auto server = net.Serve(pair.Resolve());
    FetchBatch batch = pair.Batch(server->endpoints(), 0, 3);
    batch.cells[1].indices.reset();
    OneFetch fetch(net);
    QVERIFY(fetch.Run({batch}));
    for (std::size_t i = 0; i < 3; ++i) {
      QVERIFY(pair.destinations[i].Packed() == pair.sources[i].Packed());
    }
    QCOMPARE(fetch.outcome.digests.at(0), pair.sources[0].Digest());
    QCOMPARE(fetch.outcome.digests.at(1), std::uint64_t{0});
    QCOMPARE(fetch.outcome.digests.at(2), pair.sources[2].Digest());
  }

  void noCellsAreDoneAtOnce() {
    Net net;
    OneFetch fetch(net);
    QVERIFY(fetch.Run({}));
  }

  void oneClientFetchesAgainAndAgainButOneAtATime() {
    Pair pair({BoxOf({4 << 20})});
    Net net;
    const auto slow = std::make_shared<engine::TokenBucket>(20 << 20, 0);
    const auto server = net.Serve(pair.Resolve(), 2, slow);
    LaneClient client(net.destination, net.Options());
    for (int i = 0; i < 2; ++i) {
      Outcome outcome;
      Outcome second;
      QVERIFY(client.Start(kKey, {pair.Batch(server->endpoints(), 0, 1)}, outcome.Callbacks()));
      QCOMPARE(client.Start(kKey, {}, second.Callbacks()).error(),
               FailedPrecondition("a fetch of gpt-mini transaction 3 attempt 1 is running"));
      QVERIFY(outcome.Wait());
      verify(pair, outcome);
      QCOMPARE(second.num_done.load(), 0);
    }
  }

  // The first copy of every third frame arrives with a flipped bit.
  void aCorruptFrameIsAskedForAgain() {
    Pair pair(std::vector(5, BoxOf({3 << 20})));
    Net net;
    const auto server = net.Serve(pair.Resolve(), 1);
    std::atomic<int> harmed{0};
    int frames = 0;
    Relay relay(server->endpoints()[0], [&](LaneReply reply, std::vector<std::byte> body) {
      if (!body.empty() && ++frames % 3 == 0) {
        body[body.size() / 2] ^= std::byte{16};
        ++harmed;
      }
      return Replies{{std::move(reply), std::move(body)}};
    });
    OneFetch fetch(net, Relay::OneLane(net.Options()));
    QVERIFY(fetch.Run({pair.Batch({relay.endpoint()}, 0, 5)}));
    verify(pair, fetch.outcome);
    QVERIFY(harmed > 0);
    QCOMPARE(fetch.client.counts().corrupt.load(), std::int64_t{harmed});
    QVERIFY(!fetch.outcome.most_attempts.empty());
    QVERIFY(fetch.outcome.most_attempts.begin()->second >= 1);
  }

  void aLostAnswerIsAskedForAgain() {
    Pair pair(std::vector(8, BoxOf({1 << 20})));
    Net net;
    const auto server = net.Serve(pair.Resolve(), 1);
    int replies = 0;
    Relay relay(server->endpoints()[0], [&](LaneReply reply, std::vector<std::byte> body) {
      if (++replies == 2 || replies == 5) return Replies{};
      return Replies{{std::move(reply), std::move(body)}};
    });
    OneFetch fetch(net, Relay::OneLane(net.Options()));
    QVERIFY(fetch.Run({pair.Batch({relay.endpoint()}, 0, 8)}));
    verify(pair, fetch.outcome);
  }

  void aFrameThatStaysCorruptEndsTheFetchByName() {
    Pair pair({BoxOf({100}), BoxOf({10 << 20})});
    Net net;
    const auto server = net.Serve(pair.Resolve(), 1);
    Relay relay(server->endpoints()[0], [&](LaneReply reply, std::vector<std::byte> body) {
      const auto* frame = std::get_if<FrameHeader>(&reply);
      if (frame != nullptr && frame->frame == 3) body[0] ^= std::byte{1};
      return Replies{{std::move(reply), std::move(body)}};
    });
    OneFetch fetch(net, Relay::OneLane(net.Options()));
    const Status status = fetch.Run({pair.Batch({relay.endpoint()}, 0, 2)});
    QVERIFY(!status);
    QCOMPARE(status.error().code, ErrorCode::kDataLoss);
    const std::string& message = status.error().message;
    const auto has = [&](const std::string& text) {
      return message.find(text) != std::string::npos;
    };
    QVERIFY2(
        has("source " + relay.endpoint() + ": tensor 1 [0:10485760] frame 3 came with digest "),
        message.c_str());
    QVERIFY2(has(", at the source ") && has(" 4 times"), message.c_str());
    QCOMPARE(fetch.client.counts().corrupt.load(), std::int64_t{4});
  }

  // What a faulty or malicious peer can send instead of a frame. Memory stays as its source.
  void wrongFramesDoNotReachMemory_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<bool>("is_corrupt");
    QTest::newRow("short") << 0 << true;
    QTest::newRow("long") << 1 << true;
    QTest::newRow("without its bytes") << 2 << true;
    QTest::newRow("without its digests") << 3 << true;
    QTest::newRow("with too many digests") << 4 << true;
    QTest::newRow("with the digest of other bytes") << 5 << true;
    QTest::newRow("doubled") << 6 << false;
    QTest::newRow("of an old request") << 7 << false;
  }
  void wrongFramesDoNotReachMemory() {
    QFETCH(int, kind);
    QFETCH(bool, is_corrupt);
    Pair pair(std::vector(4, BoxOf({1 << 20})));
    Net net;
    const auto server = net.Serve(pair.Resolve(), 1);
    int harmed = 0;
    int replies = 0;
    Relay relay(server->endpoints()[0], [&](LaneReply reply, std::vector<std::byte> body) {
      auto* frame = std::get_if<FrameHeader>(&reply);
      if (frame == nullptr || ++replies % 3 != 0)
        return Replies{{std::move(reply), std::move(body)}};
      ++harmed;
      const Replies good{{reply, body}};
      switch (kind) {
        case 0:
          body.pop_back();
          break;
        case 1:
          body.push_back(std::byte{0});
          break;
        case 2:
          body.clear();
          break;
        case 3:
          frame->digests.clear();
          break;
        case 4:
          frame->digests.push_back(0);
          break;
        case 5:
          ++frame->digests[0];
          break;
        case 6:
          return Replies{good[0], good[0]};
        default:
          frame->sequence = 1;
          std::fill(body.begin(), body.end(), std::byte{0xee});
          return Replies{{std::move(reply), std::move(body)}, good[0]};
      }
      return Replies{{std::move(reply), std::move(body)}};
    });
    OneFetch fetch(net, Relay::OneLane(net.Options()));
    QVERIFY(fetch.Run({pair.Batch({relay.endpoint()}, 0, 4)}));
    verify(pair, fetch.outcome);
    QVERIFY(harmed > 0);
    QCOMPARE(fetch.client.counts().corrupt.load(), std::int64_t{is_corrupt ? harmed : 0});
    QCOMPARE(fetch.client.counts().dropped.load(), std::int64_t{is_corrupt ? 0 : harmed});
  }

  // Frames of another attempt, transaction or job never reach memory.
  void framesOfOthersAreDroppedAndCounted() {
    Pair pair(std::vector(6, BoxOf({1 << 20})));
    Net net;
    const auto server = net.Serve(pair.Resolve(), 1);
    std::atomic<int> strangers{0};
    Relay relay(server->endpoints()[0], [&](LaneReply reply, std::vector<std::byte> body) {
      Replies out;
      if (const auto* frame = std::get_if<FrameHeader>(&reply)) {
        FrameHeader stranger = *frame;
        std::vector<std::byte> wrong(body.size(), std::byte{0xee});
        stranger.checksum = engine::Checksum(wrong);
        const int kind = strangers++ % 3;
        if (kind == 0) stranger.key.attempt = 2;
        if (kind == 1) stranger.key.transaction = 2;
        if (kind == 2) stranger.key.job = "other";
        out.emplace_back(LaneReply(stranger), std::move(wrong));
      }
      out.emplace_back(std::move(reply), std::move(body));
      return out;
    });
    OneFetch fetch(net, Relay::OneLane(net.Options()));
    QVERIFY(fetch.Run({pair.Batch({relay.endpoint()}, 0, 6)}));
    verify(pair, fetch.outcome);
    QVERIFY(strangers >= 6);
    QCOMPARE(fetch.client.counts().dropped.load(), std::int64_t{strangers});
  }

  void aSilentSourceIsNamed_data() {
    QTest::addColumn<qint64>("rate");
    QTest::addColumn<int>("limit");
    QTest::newRow("a fast port") << qint64{0} << 300;
    // A slow source may send 64 MiB to others first.
    QTest::newRow("a slow port") << qint64{40'000'000} << 1300;
  }
  void aSilentSourceIsNamed() {
    QFETCH(qint64, rate);
    QFETCH(int, limit);
    Pair pair({BoxOf({100})});
    Net net;
    auto mute = *Socket::Server(net.source, SocketKind::kRouter, AgentKeys());
    const std::string endpoint = *mute.Bind("tcp://127.0.0.1:*");
    LaneClientOptions options = net.Options();
    options.silence = 300ms;
    options.ingress = std::make_shared<engine::TokenBucket>(rate, 1 << 20);
    OneFetch fetch(net, options);
    const auto begin = Loop::Now();
    const Status status = fetch.Run({pair.Batch({endpoint}, 0, 1)});
    QVERIFY(!status);
    QCOMPARE(status.error(),
             Unavailable("source " + endpoint + " silent for " + std::to_string(limit) + " ms"));
    QVERIFY(Loop::Now() - begin >= std::chrono::milliseconds(limit));
  }

  void aSourceThatComesBackIsAskedAgain() {
    Pair pair({BoxOf({24 << 20})});
    Net net;
    auto slow = std::make_shared<engine::TokenBucket>(40 << 20, 1 << 20);
    auto server = net.Serve(pair.Resolve(), 2, slow);
    const std::vector<std::string> endpoints = server->endpoints();
    LaneClient client(net.destination, net.Options());
    Outcome outcome;
    QVERIFY(client.Start(kKey, {pair.Batch(endpoints, 0, 1)}, outcome.Callbacks()));
    QTRY_VERIFY(outcome.total > (4 << 20));
    server.reset();
    LaneServerOptions again;
    again.endpoints = endpoints;
    again.keys = AgentKeys();
    // ZeroMQ releases a port shortly after its socket was closed.
    Result<std::unique_ptr<LaneServer>> restarted = Unavailable("not yet");
    for (int i = 0; i < 500 && !restarted; ++i) {
      QTest::qWait(10);
      restarted = LaneServer::Start(net.source, again, pair.Resolve());
    }
    QVERIFY(restarted);
    QVERIFY(outcome.Wait());
    verify(pair, outcome);
  }

  void whatTheSourceRefusesIsToldWithItsName() {
    Pair pair({BoxOf({100})});
    Net net;
    const auto server = net.Serve(
        [](const LaneKey&, const LaneCell& cell) -> Result<SourceCell> {
          return NotFound("no " + ToString(cell) + " here");
        },
        1);
    OneFetch fetch(net);
    const Status status = fetch.Run({pair.Batch(server->endpoints(), 0, 1)});
    QVERIFY(!status);
    QCOMPARE(status.error().code, ErrorCode::kNotFound);
    QCOMPARE(
        QString::fromStdString(status.error().ToString()),
        QString::fromStdString("source " + server->endpoints()[0] + ": no tensor 0 [0:100] here"));
  }

  // The source ends within the transfer. Its cells come from the others, frame by frame.
  void aSourceThatStopsIsReplaced() {
    Pair pair({BoxOf({24 << 20}), BoxOf({100}), BoxOf({1 << 20})});
    Net net;
    const auto slow = std::make_shared<engine::TokenBucket>(40 << 20, 1 << 20);
    auto first = net.Serve(pair.Resolve(), 2, slow);
    const auto second = net.Serve(pair.Resolve(), 1);
    LaneClientOptions options = net.Options();
    options.patience = 300ms;
    OneFetch fetch(net, options);
    std::vector<FetchBatch> batches = {pair.Batch(first->endpoints(), 0, 2),
                                       pair.Batch(second->endpoints(), 2, 3)};
    for (Fetch& cell : batches[0].cells) cell.others = {{1, cell.cell}};
    QVERIFY(fetch.client.Start(kKey, batches, fetch.outcome.Callbacks()));
    QTRY_VERIFY(fetch.outcome.total > (4 << 20));
    first.reset();
    QVERIFY(fetch.outcome.Wait());
    verify(pair, fetch.outcome);
    QVERIFY(fetch.client.counts().switched.load() > 10);
    QCOMPARE(fetch.outcome.switches, (Outcome::Switches{{0, 1}}));
    QCOMPARE(fetch.outcome.replaced.count({0, 0, 1}), std::size_t{1});  // the large cell
    QVERIFY(fetch.outcome.reasons[0].find("silent for 300 ms") != std::string::npos);
    QVERIFY(second->bytes_sent() > (10 << 20));
    QVERIFY(second->bytes_sent() < (22 << 20));  // what had arrived was not requested again
  }

  // Each cell is refused by two of three holders. The device index shows which one is asked.
  void whatASourceRefusesComesFromAnother() {
    Pair pair;
    for (int i = 0; i < 30; ++i) pair.Add(BoxOf({1000 + i}), 4);
    Net net;
    const auto holder = [&](std::int32_t device) {
      return net.Serve(
          [&, device, resolve = pair.Resolve()](const LaneKey& key,
                                                const LaneCell& cell) -> Result<SourceCell> {
            if (cell.device != device || cell.tensor % 3 != device) {
              return NotFound(ToString(cell) + " is not on " + std::to_string(device));
            }
            return resolve(key, cell);
          },
          1);
    };
    const std::vector servers = {holder(0).release(), holder(1).release(), holder(2).release()};
    std::vector<FetchBatch> batches;
    for (std::size_t i = 0; i < 3; ++i) {
      batches.push_back(pair.Batch(servers[i]->endpoints(), 0, i == 0 ? 30 : 0));
    }
    for (Fetch& cell : batches[0].cells) {
      for (std::size_t i : {1U, 2U}) {
        cell.others.push_back({i, cell.cell});
        cell.others.back().cell.device = static_cast<std::int32_t>(i);
      }
    }
    // Cells of one frame are refused together, so each cell has a frame of its own here.
    for (std::size_t i = 0; i < 30; ++i) {
      OneFetch fetch(net);
      std::vector<FetchBatch> one = batches;
      one[0].cells = {batches[0].cells[i]};
      QVERIFY(fetch.Run(one));
      QVERIFY(pair.destinations[i].Packed() == pair.sources[i].Packed());
      QCOMPARE(fetch.client.counts().switched.load(), static_cast<std::int64_t>(i % 3));
    }
    // Nobody holds it.
    OneFetch none(net);
    std::vector<FetchBatch> one = batches;
    one[0].cells = {batches[0].cells[1]};
    one[0].cells[0].others.erase(one[0].cells[0].others.begin());
    const Status status = none.Run(one);
    QVERIFY(!status);
    QCOMPARE(status.error().code, ErrorCode::kNotFound);
    QCOMPARE(QString::fromStdString(status.error().ToString()),
             QString::fromStdString("source " + servers[2]->endpoints()[0] +
                                    ": tensor 1 [0:1001] is not on 2"));
    for (const LaneServer* server : servers) delete server;
  }

  // The connection of a source that is only slow stays up: it has the longer limit.
  void aSilentSourceIsReplacedAfterTheLimitOfItsConnection_data() {
    QTest::addColumn<bool>("is_up");
    QTest::newRow("mute") << true;
    QTest::newRow("not reachable") << false;
  }
  void aSilentSourceIsReplacedAfterTheLimitOfItsConnection() {
    QFETCH(bool, is_up);
    Pair pair({BoxOf({3 << 20})});
    Net net;
    auto mute = *Socket::Server(net.source, SocketKind::kRouter, AgentKeys());
    const std::string up = *mute.Bind("tcp://127.0.0.1:*");
    const std::string endpoint = is_up ? up : "tcp://127.0.0.1:1";  // no listener
    const auto server = net.Serve(pair.Resolve(), 1);
    LaneClientOptions options = net.Options();
    options.silence = 800ms;
    options.patience = 200ms;
    OneFetch fetch(net, options);
    std::vector<FetchBatch> batches = {pair.Batch({endpoint}, 0, 1),
                                       pair.Batch(server->endpoints(), 0, 0)};
    batches[0].cells[0].others = {{1, batches[0].cells[0].cell}};
    const auto begin = Loop::Now();
    QVERIFY(fetch.Run(batches));
    verify(pair, fetch.outcome);
    QVERIFY(Loop::Now() - begin >= (is_up ? 800ms : 200ms));
    QCOMPARE(fetch.outcome.reasons,
             std::vector<std::string>{
                 Unavailable("source " + endpoint + " silent for " + (is_up ? "800 ms" : "200 ms"))
                     .ToString()});
  }

  void aSilentSourceWithoutAnotherHolderEndsTheFetchAsBefore() {
    Pair pair({BoxOf({100}), BoxOf({200})});
    Net net;
    const std::string endpoint = "tcp://127.0.0.1:1";  // no listener
    const auto server = net.Serve(pair.Resolve(), 1);
    LaneClientOptions options = net.Options();
    options.silence = 800ms;
    options.patience = 200ms;
    OneFetch fetch(net, options);
    std::vector<FetchBatch> batches = {pair.Batch({endpoint}, 0, 2),
                                       pair.Batch(server->endpoints(), 0, 0)};
    batches[0].cells[0].others = {{1, batches[0].cells[0].cell}};
    const Status status = fetch.Run(batches);
    QVERIFY(!status);
    QCOMPARE(status.error(), Unavailable("source " + endpoint + " silent for 800 ms"));
    QVERIFY(fetch.outcome.digests.contains(0));
    QVERIFY(!fetch.outcome.digests.contains(1));
  }

  // Both holders are slow to be reached: the last one still has the whole limit.
  void theLastHolderHasTheWholeLimit() {
    Pair pair({BoxOf({100})});
    Net net;
    LaneClientOptions options = net.Options();
    options.silence = 800ms;
    options.patience = 100ms;
    OneFetch fetch(net, options);
    std::vector<FetchBatch> batches = {pair.Batch({"tcp://127.0.0.1:1"}, 0, 1),
                                       pair.Batch({"tcp://127.0.0.1:2"}, 0, 0)};
    batches[0].cells[0].others = {{1, batches[0].cells[0].cell}};
    const auto begin = Loop::Now();
    const Status status = fetch.Run(batches);
    QVERIFY(!status);
    QCOMPARE(status.error(), Unavailable("source tcp://127.0.0.1:2 silent for 800 ms"));
    QVERIFY(Loop::Now() - begin >= 900ms);
  }

  // A peer with many requests does not make another one wait for all of them.
  void aGreedyPeerDoesNotStarveOthers() {
    Pair pair({BoxOf({64 << 20}), BoxOf({4 << 20})});
    Net net;
    const auto port = std::make_shared<engine::TokenBucket>(60 << 20, 1 << 20);
    const auto server = net.Serve(pair.Resolve(), 1, port);
    LaneClientOptions options = Relay::OneLane(net.Options());
    options.window = 64;
    OneFetch greedy(net, options);
    QVERIFY(greedy.client.Start(kKey, {pair.Batch(server->endpoints(), 0, 1)},
                                greedy.outcome.Callbacks()));
    QTRY_VERIFY(greedy.outcome.total > (2 << 20));
    const std::int64_t before = greedy.outcome.total;
    OneFetch other(net, Relay::OneLane(net.Options()));
    QVERIFY(other.Run({pair.Batch(server->endpoints(), 1, 2)}));
    QVERIFY(pair.destinations[1].Packed() == pair.sources[1].Packed());
    // Four frames in turn, and what arrived during the handshake.
    QVERIFY2(greedy.outcome.total - before < (24 << 20),
             std::to_string(greedy.outcome.total - before).c_str());
    greedy.client.Cancel();
  }

  // The port is so slow that nothing is answered.
  void requestsOfAPeerAreBounded_data() {
    QTest::addColumn<int>("segments");
    QTest::addColumn<int>("most");  // requests that wait, and the one whose turn it is
    QTest::newRow("many requests") << 1 << 257;
    QTest::newRow("many segments") << 1024 << 17;
  }
  void requestsOfAPeerAreBounded() {
    QFETCH(const int, segments);
    QFETCH(const int, most);
    Pair pair({BoxOf({4096})});
    Net net;
    const auto port = std::make_shared<engine::TokenBucket>(1, 1);
    const auto server = net.Serve(pair.Resolve(), 1, port);
    auto dealer =
        *Socket::Client(net.destination, SocketKind::kDealer, AgentKeys(), AgentKeys().public_key);
    QVERIFY(dealer.Connect(server->endpoints()[0]));
    FrameRequest request;
    request.key = kKey;
    request.segments.assign(static_cast<std::size_t>(segments),
                            LaneSegment{{0, 0, BoxOf({4096})}, 0, 4});
    constexpr int kSent = 600;
    for (int i = 0; i < kSent; ++i) {
      ++request.sequence;
      std::vector<Frame> frames;
      frames.push_back(Frame::Of(Encode(request)));
      QVERIFY(dealer.Send(std::move(frames)));
    }
    QTRY_VERIFY(server->counts().dropped.load() >= kSent - most);
  }

  // Lanes without encryption: the ticket decides, and it counts for one lane and one key.
  void aRequestWithoutItsTicketIsDroppedAndCounted() {
    Pair pair({BoxOf({3 << 20})});
    NetContext net{2};
    const auto ticket_of = [](std::size_t lane) {
      LaneTicket ticket{};
      ticket[0] = std::byte{7};
      ticket[15] = static_cast<std::byte>(lane);
      return ticket;
    };
    LaneServerOptions options;
    options.endpoints.assign(2, "tcp://127.0.0.1:*");
    options.admits = [&](const LaneKey& key, std::size_t lane, const LaneTicket& ticket,
                         std::string_view) { return key == kKey && ticket == ticket_of(lane); };
    const auto server = *LaneServer::Start(net, options, pair.Resolve());
    const auto fetch = [&](std::vector<LaneTicket> tickets) {
      LaneClientOptions client_options;
      client_options.silence = 400ms;
      LaneClient client(net, client_options);
      Outcome outcome;
      FetchBatch batch = pair.Batch(server->endpoints(), 0, 1);
      batch.tickets = std::move(tickets);
      const Status started = client.Start(kKey, {batch}, outcome.Callbacks());
      return started ? outcome.Wait() : started;
    };
    for (const auto& tickets : {std::vector<LaneTicket>{}, std::vector{ticket_of(1), ticket_of(0)},
                                std::vector{ticket_of(2), ticket_of(2)}}) {
      const auto before = server->counts().not_admitted.load();
      const Status status = fetch(tickets);
      QVERIFY(!status);
      QCOMPARE(status.error().code, ErrorCode::kUnavailable);
      QVERIFY(server->counts().not_admitted.load() > before);
      QCOMPARE(server->bytes_sent(), std::int64_t{0});
    }
    QVERIFY(fetch({ticket_of(0), ticket_of(1)}));
    QVERIFY(pair.destinations[0].Packed() == pair.sources[0].Packed());
  }

  // Both ends computed the plan. If they differ in the size of a cell, no byte outside the cell is
  // read.
  void aRangeOutsideTheCellIsRefused() {
    Pair pair({BoxOf({100})});
    pair.destinations[0] = MakeStore(BoxOf({200}), 1, pair.rng);
    Net net;
    const auto server = net.Serve(pair.Resolve(), 1);
    OneFetch fetch(net);
    const Status status = fetch.Run({pair.Batch(server->endpoints(), 0, 1)});
    QVERIFY(!status);
    QCOMPARE(status.error().message,
             std::string("tensor 0 [0:200]: bytes 0 to 200 are outside a cell of 100 bytes"));
  }

  void afterCancelNothingIsWrittenAndDoneRanOnce() {
    Pair pair({BoxOf({64 << 20}), BoxOf({4 << 20})});
    Net net;
    auto slow = std::make_shared<engine::TokenBucket>(50 << 20, 1 << 20);
    const auto server = net.Serve(pair.Resolve(), 2, slow);
    LaneClient client(net.destination, net.Options());
    Outcome outcome;
    QVERIFY(client.Start(kKey, {pair.Batch(server->endpoints(), 0, 1)}, outcome.Callbacks()));
    QTRY_VERIFY(outcome.total > (3 << 20));
    client.Cancel();
    QCOMPARE(outcome.num_done.load(), 1);
    const Status status = outcome.Wait();
    QVERIFY(!status);
    QCOMPARE(status.error(), Cancelled("fetch of gpt-mini transaction 3 attempt 1 was cancelled"));
    const std::int64_t total = outcome.total;
    QVERIFY(total < (64 << 20));
    const std::uint64_t memory = engine::Checksum(pair.destinations[0].memory);
    // Frames in flight would arrive before another fetch from the same source ends.
    LaneClient later(net.destination, net.Options());
    Outcome other;
    QVERIFY(later.Start(kKey, {pair.Batch(server->endpoints(), 1, 2)}, other.Callbacks()));
    QVERIFY(other.Wait());
    QCOMPARE(outcome.total.load(), total);
    QCOMPARE(engine::Checksum(pair.destinations[0].memory), memory);
    client.Cancel();  // a second call does nothing
    QCOMPARE(outcome.num_done.load(), 1);
  }

  void aPortLimitsTheRate_data() {
    QTest::addColumn<bool>("at_source");
    QTest::newRow("egress of the source") << true;
    QTest::newRow("ingress of the destination") << false;
  }
  void aPortLimitsTheRate() {
    QFETCH(bool, at_source);
    Pair pair({BoxOf({16 << 20})});
    Net net;
    constexpr std::int64_t kRate = 40 << 20;
    const auto port = std::make_shared<engine::TokenBucket>(kRate, 1 << 20);
    const auto server = net.Serve(pair.Resolve(), 2, at_source ? port : nullptr);
    LaneClientOptions options = net.Options();
    if (!at_source) options.ingress = port;
    OneFetch fetch(net, options);
    const auto begin = Loop::Now();
    QVERIFY(fetch.Run({pair.Batch(server->endpoints(), 0, 1)}));
    const std::chrono::duration<double> took = Loop::Now() - begin;
    verify(pair, fetch.outcome);
    const double rate = static_cast<double>(pair.TotalBytes()) / took.count();
    const double ratio = rate / static_cast<double>(kRate);
    // No machine is so slow that it would be faster. What a burst adds is a sixteenth.
    QVERIFY2(ratio < 1.15, qPrintable(QString::number(ratio)));
  }

  void aLimitIsLiftedDuringAFetch() {
    Pair pair({BoxOf({64 << 20})});  // with the limit it takes a minute, which is an error here
    Net net;
    const auto port = std::make_shared<engine::TokenBucket>(1 << 20, 1 << 20);
    const auto server = net.Serve(pair.Resolve(), 2, port);
    OneFetch fetch(net, net.Options());
    const std::jthread operation([&] {
      while (fetch.outcome.total.load() == 0) std::this_thread::sleep_for(10ms);
      port->SetRate(0, std::chrono::steady_clock::now());
    });
    QVERIFY(fetch.Run({pair.Batch(server->endpoints(), 0, 1)}));
    verify(pair, fetch.outcome);
  }

  void aKeyThatTheSourceDoesNotKnowIsRefused() {
    Pair pair({BoxOf({100})});
    Net net;
    const auto server = net.Serve(pair.Resolve(), 1);
    LaneClientOptions options = net.Options();
    options.keys = NewCurveKeys();
    OneFetch fetch(net, options);
    const Status status = fetch.Run({pair.Batch(server->endpoints(), 0, 1)});
    QVERIFY(!status);
    QCOMPARE(status.error(),
             FailedPrecondition("key refused by " + server->endpoints()[0] +
                                ": this agent's key is not in the source's allow-list"));
    QCOMPARE(fetch.outcome.total.load(), std::int64_t{0});
  }

  void aPortInUseIsNamed() {
    Net net;
    Pair pair;
    const auto server = net.Serve(pair.Resolve(), 1);
    LaneServerOptions options;
    options.endpoints = server->endpoints();
    options.keys = AgentKeys();
    const auto second = LaneServer::Start(net.destination, options, pair.Resolve());
    QVERIFY(!second);
    QCOMPARE(second.error(), Unavailable("port in use: " + server->endpoints()[0]));
  }

  void wrongBatchesAreRefusedAtOnce() {
    Pair pair({BoxOf({100})});
    Net net;
    LaneClient client(net.destination, net.Options());
    Outcome outcome;
    QCOMPARE(client.Start(kKey, {pair.Batch({}, 0, 1)}, outcome.Callbacks()).error(),
             InvalidArgument("a source without endpoints"));
    FetchBatch twice = pair.Batch({"tcp://127.0.0.1:1"}, 0, 1);
    twice.cells.push_back(twice.cells[0]);
    QCOMPARE(client.Start(kKey, {twice}, outcome.Callbacks()).error(),
             InvalidArgument("two fetches have the id 0"));
    QCOMPARE(outcome.num_done.load(), 0);
  }

  void garbageDoesNotHarmASource() {
    Pair pair({BoxOf({100})});
    Net net;
    const auto server = net.Serve(pair.Resolve(), 1);
    auto dealer =
        *Socket::Client(net.destination, SocketKind::kDealer, AgentKeys(), AgentKeys().public_key);
    QVERIFY(dealer.Connect(server->endpoints()[0]));
    for (int i = 0; i < 200; ++i) {
      const auto bytes = RandomBytes(pair.rng() % 300, pair.rng);
      std::vector<Frame> frames;
      frames.push_back(
          Frame::Of(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
      if (i % 7 == 0) frames.push_back(Frame::Of("and more"));
      QVERIFY(dealer.Send(std::move(frames)));
    }
    QTRY_COMPARE(server->counts().malformed.load(), std::int64_t{200});
    OneFetch fetch(net);
    QVERIFY(fetch.Run({pair.Batch(server->endpoints(), 0, 1)}));
    verify(pair, fetch.outcome);
  }

  void messagesComeBackAsTheyWereAndDamageIsNoticed() {
    std::mt19937_64 rng(test::Seed());
    const LaneCell scalar{1, 70'000, ptc::Box::Scalar()};
    const LaneCell deep{3, 5,
                        *ptc::Box::Make(std::vector<ptc::Interval>(8, {1 << 30, (1 << 30) + 7}))};
    const LaneCell far{0, 0, *ptc::Box::Make(std::vector<ptc::Interval>{{1LL << 60, 1LL << 62}})};
    LaneTicket ticket;
    for (std::byte& byte : ticket) byte = static_cast<std::byte>(rng());
    const std::vector<LaneSegment> segments = {
        {scalar, 0, 8}, {far, 8, 1 << 18}, {deep, 0, 9}, {far, 1LL << 61, 1}, {scalar, 1, 7}};
    FrameHeader frame{kKey, 17, 3, 4096, 0xdeadbeefULL, {2, ~0ULL}};
    FrameHeader plain_frame{kKey, 18, 3, 1 << 20, {}, {}};
    LaneRefusal refusal{kKey, 19, NotFound("no tensor 7 [0:3]")};
    for (const bool digests : {false, true}) {
      const FrameRequest request{kKey, 17, ticket, 3, digests, !digests, segments};
      const std::string bytes = Encode(request);
      const auto decoded = DecodeFrameRequest(std::as_bytes(std::span(bytes)));
      QVERIFY(decoded && *decoded == request);
      QVERIFY(!DecodeLaneReply(std::as_bytes(std::span(bytes))));
    }
    for (const LaneReply& message :
         {LaneReply(frame), LaneReply(plain_frame), LaneReply(refusal)}) {
      const std::string bytes = Encode(message);
      const auto decoded = DecodeLaneReply(std::as_bytes(std::span(bytes)));
      QVERIFY(decoded && *decoded == message);
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << (rng() % 8)));
        const auto refused = DecodeLaneReply(std::as_bytes(std::span(damaged)));
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::kDataLoss);
        QVERIFY(!DecodeLaneReply(std::as_bytes(std::span(bytes)).first(i)));
      }
    }
  }

  // Well-formed messages with a correct checksum from a malicious peer.
  void requestsOutOfRangeAreRefused() {
    const auto refused = [](std::vector<LaneSegment> segments) {
      const std::string bytes =
          Encode(FrameRequest{kKey, 1, {}, 0, true, true, std::move(segments)});
      return !DecodeFrameRequest(std::as_bytes(std::span(bytes)));
    };
    const LaneCell a{0, 0, BoxOf({4})};
    const LaneCell b{0, 1, BoxOf({4})};
    QVERIFY(!refused({{a, 0, kMostLaneFrameBytes}}));
    QVERIFY(refused({}));
    QVERIFY(refused({{a, 0, kMostLaneFrameBytes + 1}}));
    QVERIFY(refused({{a, 0, kMostLaneFrameBytes}, {b, 0, 1}}));
    QVERIFY(refused({{a, 0, 0}}));
    QVERIFY(!refused(std::vector<LaneSegment>(kMaxSegments, {a, 0, 1})));
    QVERIFY(refused(std::vector<LaneSegment>(kMaxSegments + 1, {a, 0, 1})));
  }

  // As above, but what Encode cannot write: the body of a frame request after its count.
  void bodiesThatNoSourceUnderstandsAreRefused_data() {
    QTest::addColumn<QByteArray>("segments");
    QTest::addColumn<bool>("good");
    const auto row = [](const char* name, const char* hex, bool good = false) {
      QTest::newRow(name) << QByteArray::fromHex(hex) << good;
    };
    // new cell, device 0, tensor 5, rank 1, begin 2, size 3, offset 0, size 1
    row("one segment", "01 00 05 01 02 03 00 01", true);
    row("a scalar", "01 00 05 00 00 01", true);
    row("an empty box", "01 00 05 01 02 00 00 01");
    row("rank 9",
        "01 00 05 09"
        "0001 0001 0001 0001 0001 0001 0001 0001 0001"
        "00 01");
    row("a rank that is huge", "01 00 05 ffffffffffffffff7f 00 01");
    row("a box whose end overflows", "01 00 05 01 ffffffffffffffff7f 01 00 01");
    row("a box whose elements overflow", "01 00 05 02 00 ffffffffffffffff7f 00 02 00 01");
    row("a number of ten bytes", "01 00 05 01 8080808080808080800103 00 01");
    row("a device above 2^31", "01 8080808008 05 00 00 01");
    row("a tensor above 2^31", "01 00 8080808008 00 00 01");
    row("the first segment has no cell", "00 00 01");
    row("an unknown mark", "02 00 05 00 00 01");
    row("the last byte is missing", "01 00 05 01 02 03 00");
    row("a byte is left over", "01 00 05 01 02 03 00 01 00");
  }
  void bodiesThatNoSourceUnderstandsAreRefused() {
    QFETCH(QByteArray, segments);
    QFETCH(bool, good);
    const std::string some =
        Encode(FrameRequest{kKey,
                            1,
                            {},
                            0,
                            true,
                            true,
                            {{{0, 5, *ptc::Box::Make(std::vector<ptc::Interval>{{2, 5}})}, 0, 1}}});
    constexpr std::size_t kSegmentBytes = 8;  // of `some`
    constexpr std::size_t kChecksumBytes = 8;
    std::string bytes = some.substr(0, some.size() - kSegmentBytes - kChecksumBytes);
    bytes.append(segments.data(), static_cast<std::size_t>(segments.size()));
    const std::uint64_t checksum = engine::Checksum(std::as_bytes(std::span(bytes)));
    bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
    const auto decoded = DecodeFrameRequest(std::as_bytes(std::span(bytes)));
    QCOMPARE(decoded.has_value(), good);
    if (!good) QCOMPARE(decoded.error().code, ErrorCode::kInvalidArgument);
  }

  // Segments of one cell name it once, and small numbers take one byte.
  void aFrameOfManySmallSegmentsHasASmallRequest() {
    FrameRequest request{kKey, 1, {}, 0, true, false, {}};
    for (std::size_t i = 0; i < kMaxSegments; ++i) {
      request.segments.push_back({{0, static_cast<std::int32_t>(i), BoxOf({64, 64})}, 0, 1024});
    }
    QVERIFY(Encode(request).size() < 16 * kMaxSegments);
    for (LaneSegment& segment : request.segments) segment.cell.tensor = 0;
    QVERIFY(Encode(request).size() < 6 * kMaxSegments);
  }

  // The bytes of FORMAT.md.
  void theFormatIsPinned() {
    const LaneCell cell{1, 300, *ptc::Box::Make(std::vector<ptc::Interval>{{2, 6}, {0, 128}})};
    const LaneTicket ticket = {std::byte{0xaa}, std::byte{0xbb}};
    const std::string bytes = Encode(
        FrameRequest{{"j", 2, 1}, 5, ticket, 4, true, false, {{cell, 0, 64}, {cell, 96, 32}}});
    const QByteArray expected = QByteArray::fromHex(
        "544c4e32"
        "01000000"
        "01000000"
        "6a"
        "0200000000000000"
        "0100000000000000"
        "0500000000000000"
        "aabb0000000000000000000000000000"
        "04000000"
        "01"
        "02000000"
        "01 01 ac02 02 02 04 00 8001 00 40"
        "00 60 20");
    QCOMPARE(QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size()) - 8), expected);
    const auto body = std::as_bytes(std::span(bytes)).first(bytes.size() - 8);
    std::uint64_t checksum = 0;
    std::memcpy(&checksum, bytes.data() + body.size(), sizeof checksum);
    QCOMPARE(checksum, engine::Checksum(body));
  }
};
TESSERA_TEST(LanesTest)
#include "lanes_test.moc"
