// SPDX-License-Identifier: Apache-2.0
#include "agents/views/snapshot_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <QTest>
#include <cstring>
#include <future>
#include <thread>

#include "agents/sim/memory_store.h"
#include "agents/views/snapshot_row.h"
#include "engine/model/gpt.h"
#include "ptc/digest.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

constexpr std::uint64_t kId = 7;
constexpr std::int64_t kStep = 40;
constexpr std::uint64_t kOrigin = 5;
const std::string kMachine = "this one";

ptc::Layout LayoutOn(const char* mesh) {
  const auto tensors = engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *tensors);
}

/// The bytes of the whole tensor.
std::vector<std::byte> ContentOf(const ptc::TensorSpec& spec, int tensor) {
  const auto elements = ptc::Box::Whole(spec.shape)->num_elements();
  std::vector<std::byte> out(static_cast<std::size_t>(elements * ptc::SizeBytes(spec.dtype)));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(tensor) * 13 + i / 251);
  }
  return out;
}

/// A node's share with what its devices hold, as a view leaves it.
std::shared_ptr<const HeldShare> ShareOf(const ptc::Layout& layout, std::int32_t node,
                                         std::optional<std::int32_t> guest = {}) {
  auto plan = std::make_shared<const engine::ViewPlan>(engine::ViewPlan::OfSnapshot(layout, guest));
  auto memory = *engine::ViewMemory::Create("view test", plan->bytes_of_node().at(node));
  const engine::ViewStamp stamp{kId, 1, 0, kStep, layout.hash(), plan->hash(), node};
  const auto& tensors = layout.collection().tensors();
  for (const engine::ViewCell& cell : plan->cells()) {
    if (cell.device.node != node || cell.is_fetched()) continue;
    const ptc::TensorSpec& spec = tensors[static_cast<std::size_t>(cell.tensor)];
    auto content = ContentOf(spec, cell.tensor);
    const std::int64_t element = ptc::SizeBytes(spec.dtype);
    engine::CopyCell(
        engine::CellView(cell.box, cell.box, element, memory.data(cell.offset_bytes)),
        engine::CellView(*ptc::Box::Whole(spec.shape), cell.box, element, content.data()));
  }
  memory.Stamp(stamp);
  return std::make_shared<const HeldShare>(
      HeldShare{"nano", layout, std::move(plan), stamp, std::move(memory), guest, kOrigin});
}

wire::ViewReply SharesOf(const std::vector<std::shared_ptr<const HeldShare>>& shares) {
  wire::ViewReply reply;
  reply.set_view(kId);
  Encode(SharedState{"nano", 1, 0, kStep, shares.front()->layout, shares.front()->guest, kOrigin},
         reply.mutable_job());
  for (const auto& share : shares) {
    wire::ViewShare* out = reply.add_shares();
    out->set_node(static_cast<std::int32_t>(share->stamp.node));
    out->set_bytes(share->memory.size_bytes());
    out->set_path(share->path());
    out->set_machine(kMachine);
  }
  return reply;
}

/// What the keeper holds; it survives the store.
struct Keeper {
  std::map<std::string, UniqueFd> kept;
  Status refusal = OkStatus();

  std::map<std::string, UniqueFd> Copies() const {
    std::map<std::string, UniqueFd> out;
    for (const auto& [name, fd] : kept) out.emplace(name, fd.Duplicate());
    return out;
  }
};

}  // namespace

class SnapshotStoreTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_keeper = {};
    m_disk.rows.clear();
    m_set_aside.clear();
    m_loop = std::make_unique<Loop>();
    m_thread = std::thread([this] { m_loop->Run(); });
    restart();
  }
  void cleanup() {
    OnLoop([this] { m_store.reset(); });
    m_loop->Stop();
    m_thread.join();
    m_loop.reset();
  }

  // This node has no device of the job, and nothing of the snapshot before.
  void aGuestFetchesItsWholeShare() {
    const ptc::Layout layout = LayoutOn("dp=1,tp=2,pp=1 on n1g0,n1g1");
    const auto share = ShareOf(layout, 1, 0);
    const auto digests = completeAsGuest(SharesOf({share}));
    QVERIFY2(digests, digests ? "" : digests.error().ToString().c_str());
    for (const std::uint64_t digest : *digests) QCOMPARE(digest, std::uint64_t{0});  // only seconds
    QCOMPARE(rows().size(), 1);
    QCOMPARE(rows()[0].bytes(), share->memory.size_bytes());
    restart();  // the keeper holds it, and the journal says of whom it is the guest
    QCOMPARE(rows().size(), 1);
    QCOMPARE(rows()[0].origin(), kOrigin);
    const auto& cells = share->plan->cells();
    for (std::size_t i = 1; i < cells.size(); i += 2) {
      const auto own = resolve(cells[i]);
      QVERIFY(own.has_value());
      const std::byte* const there = share->memory.data(cells[i - 1].offset_bytes);
      QVERIFY(std::equal(there, there + cells[i].size_bytes, own->cell.InPlace(0, 1).data()));
    }
    // A node that is not the guest has no share.
    const auto stranger = completeAsGuest(SharesOf({ShareOf(layout, 1, 2)}));
    QVERIFY(!stranger && stranger.error().code == ErrorCode::kFailedPrecondition);
  }

  void aShareFetchesTheCellsOfTheOtherNode_data() {
    QTest::addColumn<bool>("lanes");
    QTest::newRow("mapped") << false;
    QTest::newRow("over lanes") << true;
  }
  void aShareFetchesTheCellsOfTheOtherNode() {
    QFETCH(bool, lanes);
    const ptc::Layout layout = LayoutOn("dp=1,tp=1,pp=2 on n0g0,n1g0");
    const std::vector shares = {ShareOf(layout, 0), ShareOf(layout, 1)};
    wire::ViewReply reply = SharesOf(shares);
    NetContext context;
    std::unique_ptr<LaneServer> server;
    if (lanes) {
      LaneServerOptions options;
      options.endpoints = {"tcp://127.0.0.1:*"};
      server = *LaneServer::Start(
          context, std::move(options), [&](const LaneKey& key, const LaneCell& cell) {
            return key.attempt == kViewAttempt ? CellOf(shares[1], cell)
                                               : Result<SourceCell>(NotFound("another key"));
          });
      reply.mutable_shares(1)->set_machine("another one");
      reply.mutable_shares(1)->add_lanes(server->endpoints().front());
    }
    const auto digests = complete(reply, shares[0]);
    QVERIFY2(digests, digests ? "" : digests.error().ToString().c_str());
    int fetched = 0;
    const auto& tensors = layout.collection().tensors();
    for (const engine::ViewCell& cell : shares[0]->plan->cells()) {
      if (cell.device.node != 0) continue;
      fetched += cell.is_fetched() ? 1 : 0;
      const ptc::TensorSpec& spec = tensors[static_cast<std::size_t>(cell.tensor)];
      const auto content = ContentOf(spec, cell.tensor);
      const std::uint64_t expected = ptc::DigestBox(
          spec.dtype, spec.shape, *ptc::Box::Whole(spec.shape), content.data(), cell.box);
      QCOMPARE(ptc::DigestBox(spec.dtype, spec.shape, cell.box,
                              shares[0]->memory.data(cell.offset_bytes), cell.box),
               expected);
    }
    QVERIFY(fetched > 10);
    // The nodes' digests together are those of the whole state.
    const auto others = complete(SharesOf(shares), shares[1]);
    QVERIFY(others);
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const auto content = ContentOf(tensors[t], static_cast<int>(t));
      const ptc::Box whole = *ptc::Box::Whole(tensors[t].shape);
      QCOMPARE((*digests)[t] + (*others)[t],
               ptc::DigestBox(tensors[t].dtype, tensors[t].shape, whole, content.data(), whole));
    }
  }

  void aCompleteShareSurvivesTheAgent() {
    const ptc::Layout layout = LayoutOn("dp=1,tp=1,pp=2 on n0g0,n1g0");
    const std::vector shares = {ShareOf(layout, 0), ShareOf(layout, 1)};
    QVERIFY(complete(SharesOf(shares), shares[0]));
    QCOMPARE(m_keeper.kept.size(), std::size_t{1});
    QCOMPARE(rows().size(), 1);
    const auto before = resolve(shares[0]->plan->cells()[0]);
    QVERIFY(before);
    restart();
    QCOMPARE(rows().size(), 1);
    QVERIFY(rows()[0].view() == kId && rows()[0].job() == "nano");
    QCOMPARE(rows()[0].origin(), kOrigin);
    QCOMPARE(rows()[0].bytes(), shares[0]->memory.size_bytes());
    QVERIFY(::access(rows()[0].path().c_str(), R_OK) == 0);
    const auto cell = resolve(shares[0]->plan->cells()[0]);
    QVERIFY(cell);
    const auto packed = [](const SourceCell& source) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(source.cell.size_bytes()));
      [[maybe_unused]] const auto read = source.cell.Pack(0, bytes);
      return bytes;
    };
    QVERIFY(packed(*cell) == packed(*before));
    // It can be read like any share.
    wire::ViewReply reply = SharesOf(shares);
    reply.mutable_shares(0)->set_path(rows()[0].path());
    reply.mutable_shares()->DeleteSubrange(1, 1);
    const auto reader = ShareReader::Make(reply, {"nano", 1, 0, kStep, layout},
                                          std::make_shared<LaneReaders>(CurveKeys{}),
                                          {.machine = kMachine, .is_snapshot = true});
    QVERIFY2(reader, reader ? "" : reader.error().ToString().c_str());
    const auto& spec = layout.collection().tensors()[0];
    std::vector<std::byte> out(ContentOf(spec, 0).size());
    QVERIFY(reader->Read(0, *ptc::Box::Whole(spec.shape), out));
    QVERIFY(out == ContentOf(spec, 0));

    OnLoop([this] { m_store->Drop(kId); });
    QVERIFY(m_keeper.kept.empty());
    QVERIFY(m_disk.rows.empty());
    QVERIFY(!resolve(shares[0]->plan->cells()[0]));
    OnLoop([this] { m_store->Drop(kId); });  // twice does no harm
  }

  void whatDoesNotFitIsDropped() {
    const ptc::Layout layout = LayoutOn("dp=1,tp=1,pp=2 on n0g0,n1g0");
    const std::vector shares = {ShareOf(layout, 0), ShareOf(layout, 1)};
    const auto make = [&] { return complete(SharesOf(shares), shares[0]).has_value(); };
    QVERIFY(make());
    m_disk.rows.clear();  // the agent died between keeper and journal
    restart();
    QVERIFY(m_keeper.kept.empty() && rows().empty());

    QVERIFY(make());
    m_keeper.kept.clear();  // another keeper
    restart();
    QVERIFY(m_disk.rows.empty() && rows().empty());

    QVERIFY(make());
    std::memset(shares[0]->memory.data(0), 0, 8);  // the header
    restart();
    QVERIFY(m_keeper.kept.empty() && m_disk.rows.empty() && rows().empty());
  }

  void aShareThatCannotBeCompletedIsNotKept() {
    const ptc::Layout layout = LayoutOn("dp=1,tp=1,pp=2 on n0g0,n1g0");
    const std::vector shares = {ShareOf(layout, 0), ShareOf(layout, 1)};
    wire::ViewReply alone = SharesOf(shares);
    alone.mutable_shares()->DeleteSubrange(1, 1);
    const auto missing = complete(alone, shares[0]);
    QVERIFY(!missing && missing.error().code == ErrorCode::kDataLoss);
    QVERIFY(missing.error().ToString().find("no node that is left holds it") != std::string::npos);
    m_keeper.refusal = ResourceExhausted("256 descriptors are kept already");
    QVERIFY(!complete(SharesOf(shares), shares[0]));
    QVERIFY(m_disk.rows.empty());
    m_keeper.refusal = OkStatus();
    m_disk.refused = "snapshot/";
    QVERIFY(!complete(SharesOf(shares), shares[0]));
    m_disk.refused.reset();
    QVERIFY(m_keeper.kept.empty() && rows().empty());
  }

  void aDamagedRowIsSetAside() {
    const ptc::Layout layout = LayoutOn("dp=1,tp=1,pp=1 on n0g0");
    const auto share = ShareOf(layout, 0);
    QVERIFY(complete(SharesOf({share}), share));
    const std::string name = m_disk.rows.begin()->first;
    m_disk.rows[name] = "{";
    restart();
    QVERIFY(rows().empty() && m_keeper.kept.empty());
    QCOMPARE(m_disk.rows.size(), std::size_t{1});
    QCOMPARE(m_disk.rows.at("unreadable/" + name), std::string("{"));
    QCOMPARE(m_set_aside.size(), std::size_t{1});
    QVERIFY(m_set_aside[0].starts_with("row '" + name + "' of journal.db cannot be read"));
  }

  // With replicas on both nodes nothing is fetched, and each node alone has all of it.
  void eitherNodeIsEnough() {
    const ptc::Layout layout = LayoutOn("dp=2,tp=1,pp=1 on n0g0,n1g0");
    const std::vector shares = {ShareOf(layout, 0), ShareOf(layout, 1)};
    for (const int lost : {0, 1}) {
      wire::ViewReply reply = SharesOf(shares);
      reply.mutable_shares()->DeleteSubrange(lost, 1);
      const auto reader = ShareReader::Make(reply, {"nano", 1, 0, kStep, layout},
                                            std::make_shared<LaneReaders>(CurveKeys{}),
                                            {.machine = kMachine, .is_snapshot = true});
      QVERIFY2(reader, reader ? "" : reader.error().ToString().c_str());
      for (int t = 0; t < std::ssize(layout.collection().tensors()); ++t) {
        const auto& spec = layout.collection().tensors()[static_cast<std::size_t>(t)];
        std::vector<std::byte> out(ContentOf(spec, t).size());
        QVERIFY(reader->Read(t, *ptc::Box::Whole(spec.shape), out));
        QVERIFY(out == ContentOf(spec, t));
      }
    }
  }

 private:
  /// Runs `act` on the loop and waits for it.
  void OnLoop(const std::function<void()>& act) {
    std::promise<void> done;
    m_loop->Post([&] {
      act();
      done.set_value();
    });
    done.get_future().wait();
  }
  void restart() {
    OnLoop([this] {
      m_store.reset();
      SnapshotStore::World world;
      world.keep = [this](const std::string& name, int fd) -> Status {
        if (!m_keeper.refusal) return m_keeper.refusal;
        m_keeper.kept.insert_or_assign(name, UniqueFd(::dup(fd)));
        return OkStatus();
      };
      world.drop = [this](const std::string& name) -> Status {
        m_keeper.kept.erase(name);
        return OkStatus();
      };
      world.journal = &m_disk;
      world.machine = kMachine;
      m_store = std::make_unique<SnapshotStore>(*m_loop, std::move(world), CurveKeys{});
      QVERIFY(m_store->Recover(0, m_keeper.Copies(), &m_set_aside));
    });
  }
  Result<SnapshotStore::Digests> completeAsGuest(const wire::ViewReply& shares) {
    std::promise<Result<SnapshotStore::Digests>> done;
    m_loop->Post([&] {
      const auto report = [&](Result<SnapshotStore::Digests> digests) {
        done.set_value(std::move(digests));
      };
      m_store->CompleteAsGuest(shares, 0, report);
      m_store->CompleteAsGuest(shares, 0, report);  // a repeated message is ignored
    });
    return done.get_future().get();
  }
  Result<SnapshotStore::Digests> complete(const wire::ViewReply& shares,
                                          std::shared_ptr<const HeldShare> share) {
    std::promise<Result<SnapshotStore::Digests>> done;
    m_loop->Post([&] {
      m_store->Complete(shares, std::move(share), [&](Result<SnapshotStore::Digests> digests) {
        done.set_value(std::move(digests));
      });
    });
    return done.get_future().get();
  }
  google::protobuf::RepeatedPtrField<wire::HeldSnapshot> rows() {
    google::protobuf::RepeatedPtrField<wire::HeldSnapshot> out;
    OnLoop([&] { m_store->Describe(&out); });
    return out;
  }
  Result<SourceCell> resolve(const engine::ViewCell& cell) {
    return m_store->Resolve(kId, {0, cell.tensor, cell.box});
  }

  Keeper m_keeper;
  sim::MemoryStore m_disk;
  std::vector<std::string> m_set_aside;
  std::unique_ptr<Loop> m_loop;
  std::thread m_thread;
  std::unique_ptr<SnapshotStore> m_store;
};

TESSERA_TEST_APPLESS(SnapshotStoreTest)
#include "snapshot_store_test.moc"
