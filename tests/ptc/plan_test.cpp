// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/plan.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <set>

#include "ptc/digest.h"
#include "tests/ptc/equal_tensors.h"
#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/ptc/volume_bound.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::AnyJob;
using tessera::test::ElementsOf;
using tessera::test::EqualTensors;
using tessera::test::HeldElements;
using tessera::test::Job;
using tessera::test::On;

namespace {

constexpr int kCases = 2500;

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

/// The content of element `index` of a tensor. It differs for all places that a plan could mix up.
std::uint64_t ContentOf(int tensor, std::size_t index) {
  return Mix(static_cast<std::uint64_t>(tensor) << 32U | (index + 1));
}

/// The memory of all devices: one array per piece.
using PieceKey = std::tuple<DeviceId, int, Box>;
struct Element {
  std::uint64_t value = 0;
  int writes = 0;
  friend bool operator==(const Element&, const Element&) = default;
};
using Memory = std::map<PieceKey, std::vector<Element>>;

/// The pieces of all devices of a layout, each with its content.
Memory Fill(const Layout& layout) {
  Memory memory;
  const auto& tensors = layout.collection().tensors();
  for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
    const DeviceId device = layout.mesh().devices()[static_cast<std::size_t>(rank)];
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const int tensor = static_cast<int>(t);
      for (const Box& piece : layout.Boxes(rank, tensor)) {
        std::vector<Element>& elements = memory[{device, tensor, piece}];
        for (std::size_t index : ElementsOf(tensors[t].shape, piece)) {
          elements.push_back({ContentOf(tensor, index), 1});
        }
      }
    }
  }
  return memory;
}

/// Carries out a plan element by element. Fails the test if a move names a piece that its device
/// does not have, or elements outside of the piece.
class Executor {
 public:
  Executor(const Layout& to, const Memory& old) : old_(old), to_(to) {
    for (auto& [key, elements] : Fill(to)) fresh_[key].resize(elements.size());
  }

  bool Run(const Plan& plan) {
    for (const Move& move : plan.moves) {
      std::visit(
          Overloaded{[&](const Keep& m) { Kept(m); },
                     [&](const LocalCopy& m) {
                       Copy({m.device, m.tensor, m.from}, {m.device, m.tensor, m.piece}, m.cell);
                     },
                     [&](const RemoteCopy& m) {
                       good_ = good_ && m.source != m.device;
                       Copy({m.source, m.tensor, m.from}, {m.device, m.tensor, m.piece}, m.cell);
                     },
                     [&](const Drop& m) {
                       good_ = good_ && old_.contains({m.device, m.tensor, m.piece});
                       dropped_.insert({m.device, m.tensor, m.piece});
                     }},
          move);
    }
    // Every old piece is kept in part or dropped, and never both.
    for (const auto& [key, elements] : old_) {
      good_ = good_ && kept_.contains(key) != dropped_.contains(key);
    }
    return good_;
  }

  const Memory& result() const { return fresh_; }

 private:
  const Shape& ShapeOf(int tensor) const {
    return to_.collection().tensors()[static_cast<std::size_t>(tensor)].shape;
  }

  /// A kept piece is one range of the memory of the old piece, so it is moved as a range.
  void Kept(const Keep& m) {
    const auto source = old_.find({m.device, m.tensor, m.from});
    const auto target = fresh_.find({m.device, m.tensor, m.piece});
    if (source == old_.end() || target == fresh_.end()) {
      good_ = false;
      return;
    }
    const auto indices = ElementsOf(ShapeOf(m.tensor), m.from);
    const std::size_t first = ElementsOf(ShapeOf(m.tensor), m.piece).front();
    const auto start = static_cast<std::size_t>(std::find(indices.begin(), indices.end(), first) -
                                                indices.begin());
    for (std::size_t i = 0; i < target->second.size(); ++i) {
      if (start + i >= source->second.size()) {
        good_ = false;
        return;
      }
      Write(target->second[i], source->second[start + i]);
    }
    kept_.insert(source->first);
  }

  void Copy(const PieceKey& from, const PieceKey& to, const Box& cell) {
    const auto source = old_.find(from);
    const auto target = fresh_.find(to);
    if (source == old_.end() || target == fresh_.end()) {
      good_ = false;
      return;
    }
    const Shape& shape = ShapeOf(std::get<int>(from));
    const auto in_source = PositionsIn(shape, std::get<Box>(from));
    const auto in_target = PositionsIn(shape, std::get<Box>(to));
    for (std::size_t index : ElementsOf(shape, cell)) {
      if (!in_source.contains(index) || !in_target.contains(index)) {
        good_ = false;
        return;
      }
      Write(target->second[in_target.at(index)], source->second[in_source.at(index)]);
    }
  }

  static std::map<std::size_t, std::size_t> PositionsIn(const Shape& shape, const Box& piece) {
    std::map<std::size_t, std::size_t> positions;
    for (std::size_t index : ElementsOf(shape, piece)) positions.emplace(index, positions.size());
    return positions;
  }

  static void Write(Element& target, const Element& source) {
    target.value = source.value;
    ++target.writes;
  }

  const Memory& old_;
  const Layout& to_;
  Memory fresh_;
  std::set<PieceKey> kept_;
  std::set<PieceKey> dropped_;
  bool good_ = true;
};

/// Bytes by class and by device, counted element by element from ownership alone.
struct Count {
  std::int64_t stay = 0, host = 0, network = 0;
  std::map<DeviceId, std::int64_t> old_bytes, new_bytes;
};
Count CountElements(const Job& job, const Topology& topology) {
  Count count;
  std::set<DeviceId> devices(job.from.mesh().devices().begin(), job.from.mesh().devices().end());
  devices.insert(job.to.mesh().devices().begin(), job.to.mesh().devices().end());
  const auto& tensors = job.from.collection().tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const int tensor = static_cast<int>(t);
    std::map<DeviceId, std::vector<bool>> held, needed;
    for (DeviceId device : devices) {
      if (const auto rank = job.from.mesh().RankOf(device)) {
        held[device] = HeldElements(job.from, *rank, tensor);
      }
      if (const auto rank = job.to.mesh().RankOf(device)) {
        needed[device] = HeldElements(job.to, *rank, tensor);
      }
    }
    const std::int64_t size = SizeBytes(tensors[t].dtype);
    for (const auto& [device, elements] : held) {
      count.old_bytes[device] += size * std::count(elements.begin(), elements.end(), true);
    }
    for (const auto& [device, elements] : needed) {
      for (std::size_t i = 0; i < elements.size(); ++i) {
        if (!elements[i]) continue;
        count.new_bytes[device] += size;
        bool here = false;
        bool near = false;
        for (const auto& [holder, theirs] : held) {
          if (!theirs[i]) continue;
          here = here || holder == device;
          near = near || topology.HostOf(holder) == topology.HostOf(device);
        }
        (here ? count.stay : near ? count.host : count.network) += size;
      }
    }
  }
  return count;
}

DeviceId DeviceOf(const Move& move) {
  return std::visit([](const auto& m) { return m.device; }, move);
}
int TensorOf(const Move& move) {
  return std::visit([](const auto& m) { return m.tensor; }, move);
}
Box BoxOf(const Move& move) {
  return std::visit(
      Overloaded{[](const Keep& m) { return m.piece; }, [](const LocalCopy& m) { return m.cell; },
                 [](const RemoteCopy& m) { return m.cell; }, [](const Drop& m) { return m.piece; }},
      move);
}

/// The bytes through the port that finishes last, from the moves alone. Devices send and receive at
/// the speed of their ports inside a host, hosts at that of the network.
std::int64_t BusiestBytes(const Plan& plan, const Collection& collection,
                          const Topology& topology) {
  std::map<DeviceId, std::int64_t> out, in;
  std::map<std::int32_t, std::int64_t> host_out, host_in;
  for (const Move& move : plan.moves) {
    const auto* copy = std::get_if<RemoteCopy>(&move);
    if (!copy) continue;
    const auto& spec = collection.tensors()[static_cast<std::size_t>(copy->tensor)];
    const std::int64_t bytes = copy->cell.num_elements() * SizeBytes(spec.dtype);
    if (topology.HostOf(copy->source) == topology.HostOf(copy->device)) {
      out[copy->source] += bytes;
      in[copy->device] += bytes;
    } else {
      host_out[topology.HostOf(copy->source)] += bytes;
      host_in[topology.HostOf(copy->device)] += bytes;
    }
  }
  std::int64_t inside = 0;
  std::int64_t network = 0;
  for (const auto* ports : {&out, &in}) {
    for (const auto& [device, bytes] : *ports) inside = std::max(inside, bytes);
  }
  for (const auto* ports : {&host_out, &host_in}) {
    for (const auto& [host, bytes] : *ports) network = std::max(network, bytes);
  }
  const double inside_seconds = static_cast<double>(inside) / topology.host_bytes_per_second;
  const double seconds = static_cast<double>(network) / topology.network_bytes_per_second;
  return inside_seconds > seconds ? inside : network;
}

Topology AnyTopology(std::mt19937_64& rng) {
  Topology topology;
  if (rng() % 3 == 0) topology.host_of_node = {{1, 0}};  // nodes 0 and 1 share a host
  return topology;
}

CollectionPtr Tensors(int count, const Shape& shape, const std::vector<std::vector<Axis>>& cuts) {
  return EqualTensors(count, shape, cuts, DType::kF32);
}

}  // namespace

class PlanTest : public QObject {
  Q_OBJECT
 private slots:
  // Each target element is written exactly once with its content. Senders hold the elements they
  // send.
  void movesMakeTheTargetExactly() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < kCases; ++i) {
      const Job job = AnyJob(rng);
      const Memory start = Fill(job.from);
      const auto there = MakePlan(job.from, job.to, AnyTopology(rng));
      QVERIFY(there);
      Executor forth(job.to, start);
      QVERIFY(forth.Run(*there));
      QVERIFY(forth.result() == Fill(job.to));
      // The way back restores every bit.
      const auto back = MakePlan(job.to, job.from, AnyTopology(rng));
      QVERIFY(back);
      Executor home(job.from, forth.result());
      QVERIFY(home.Run(*back));
      QVERIFY(home.result() == start);
    }
  }

  void bytesAgreeWithElementCounts() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    std::int64_t network = 0;
    std::int64_t host = 0;
    std::int64_t local = 0;
    for (int i = 0; i < kCases; ++i) {
      const Job job = AnyJob(rng);
      const Topology topology = AnyTopology(rng);
      const auto plan = MakePlan(job.from, job.to, topology);
      QVERIFY(plan);
      const Count count = CountElements(job, topology);
      QCOMPARE(plan->bytes.kept + plan->bytes.device, count.stay);
      QCOMPARE(plan->bytes.host, count.host);
      QCOMPARE(plan->bytes.network, count.network);
      QCOMPARE(plan->bytes.moved(), count.host + count.network);
      QCOMPARE(tessera::test::VolumeBound(job.from, job.to), count.host + count.network);
      // The moves agree with the sums.
      std::int64_t remote = 0;
      PlanBytes by_kind;
      std::map<DeviceId, std::int64_t> kept;
      std::set<std::pair<int, Box>> single;
      for (const Move& move : plan->moves) {
        const auto tensor = static_cast<std::size_t>(TensorOf(move));
        const auto& spec = job.from.collection().tensors()[tensor];
        const std::int64_t bytes = BoxOf(move).num_elements() * SizeBytes(spec.dtype);
        if (std::holds_alternative<Keep>(move)) kept[DeviceOf(move)] += bytes;
        if (std::holds_alternative<Keep>(move)) by_kind.kept += bytes;
        if (std::holds_alternative<LocalCopy>(move)) by_kind.device += bytes;
        if (!std::holds_alternative<RemoteCopy>(move)) continue;
        remote += bytes;
        int holders = 0;
        const std::size_t element = ElementsOf(spec.shape, BoxOf(move)).front();
        for (int rank = 0; rank < job.from.mesh().num_ranks(); ++rank) {
          holders += HeldElements(job.from, rank, TensorOf(move))[element];
        }
        if (holders == 1) single.insert({TensorOf(move), BoxOf(move)});
      }
      QCOMPARE(remote, plan->bytes.moved());
      QCOMPARE(by_kind.kept, plan->bytes.kept);
      QCOMPARE(by_kind.device, plan->bytes.device);
      QCOMPARE(plan->single_source_pieces, static_cast<std::int64_t>(single.size()));
      QCOMPARE(plan->busiest_port_bytes, BusiestBytes(*plan, job.from.collection(), topology));
      std::map<DeviceId, std::int64_t> peak;
      for (const auto* layout : {&job.from, &job.to}) {
        for (DeviceId device : layout->mesh().devices()) peak[device] = 0;
      }
      for (const auto& [device, bytes] : count.old_bytes) peak[device] += bytes;
      for (const auto& [device, bytes] : count.new_bytes) peak[device] += bytes;
      for (const auto& [device, bytes] : kept) peak[device] -= bytes;
      QCOMPARE(plan->peak_memory, peak);
      network += count.network;
      host += count.host;
      local += plan->bytes.device;
    }
    QVERIFY(network > 0 && host > 0 && local > 0);
  }

  void plansAreEqualInEveryProcess() {
    std::mt19937_64 rng(tessera::test::Seed() + 2);
    for (int i = 0; i < 300; ++i) {
      const Job job = AnyJob(rng);
      const Topology topology = AnyTopology(rng);
      const auto plan = MakePlan(job.from, job.to, topology);
      const auto again = MakePlan(job.from, job.to, topology);
      const auto parsed =
          MakePlan(*ParseLayout(ToJson(job.from)), *ParseLayout(ToJson(job.to)), topology);
      QVERIFY(plan && again && parsed);
      QVERIFY(plan->moves == again->moves);
      QVERIFY(plan->moves == parsed->moves);
      QCOMPARE(plan->hash, again->hash);
      QCOMPARE(plan->hash, parsed->hash);
      QCOMPARE(plan->from_hash, job.from.hash());
      QCOMPARE(plan->to_hash, job.to.hash());
      const auto key = [](const Move& m) { return std::tuple(TensorOf(m), BoxOf(m), DeviceOf(m)); };
      QVERIFY(std::is_sorted(plan->moves.begin(), plan->moves.end(),
                             [&](const Move& a, const Move& b) { return key(a) < key(b); }));
    }
  }

  void identityMovesNothing() {
    std::mt19937_64 rng(tessera::test::Seed() + 3);
    for (int i = 0; i < 300; ++i) {
      const Job job = AnyJob(rng);
      const auto plan = MakePlan(job.from, job.from, {});
      QVERIFY(plan);
      QCOMPARE(plan->bytes.moved(), 0);
      QCOMPARE(plan->bytes.device, 0);
      QCOMPARE(plan->busiest_port_bytes, 0);
      for (const Move& move : plan->moves) QVERIFY(std::holds_alternative<Keep>(move));
    }
  }

  void goldenPlan() {
    const auto collection = Tensors(1, {8, 2}, {{Axis::kTp}});
    const auto plan = MakePlan(On("dp=1,tp=2 on n0g0,n0g1", collection),
                               On("dp=1,tp=4 on n0g0,n0g1,n1g0,n1g1", collection), {});
    QVERIFY(plan);
    const Box top = *Box::Make(std::vector<Interval>{{0, 4}, {0, 2}});
    const Box bottom = *Box::Make(std::vector<Interval>{{4, 8}, {0, 2}});
    const auto part = [](std::int64_t begin) {
      return *Box::Make(std::vector<Interval>{{begin, begin + 2}, {0, 2}});
    };
    const std::vector<Move> expected = {
        Keep{{0, 0}, 0, part(0), top}, RemoteCopy{{0, 0}, {0, 1}, 0, part(2), part(2), top},
        RemoteCopy{{0, 1}, {1, 0}, 0, part(4), part(4), bottom}, Drop{{0, 1}, 0, bottom},
        RemoteCopy{{0, 1}, {1, 1}, 0, part(6), part(6), bottom}};
    QVERIFY(plan->moves == expected);
    QCOMPARE(plan->bytes.kept, 16);
    QCOMPARE(plan->bytes.host, 16);
    QCOMPARE(plan->bytes.network, 32);
    QCOMPARE(plan->busiest_port_bytes, 32);
    QCOMPARE(plan->single_source_pieces, 3);
    QCOMPARE(plan->transfer_seconds, 32 / 1e9);
    QCOMPARE(QString::fromStdString(Hex16(plan->hash)), QString("a8888db3f4243d7c"));
  }

  // Column cut of a row-major matrix: the half that stays is not one range of the old memory.
  void aColumnHalfIsRepackedAndARowHalfIsKept() {
    const auto columns = Tensors(1, {4, 8}, {{}, {Axis::kTp}});
    const auto rows = Tensors(1, {8, 4}, {{Axis::kTp}, {}});
    const auto repacked = MakePlan(On("tp=1 on n0g0", columns), On("tp=2 on 1x2", columns), {});
    const auto kept = MakePlan(On("tp=1 on n0g0", rows), On("tp=2 on 1x2", rows), {});
    QCOMPARE(repacked->bytes.device, 64);
    QCOMPARE(repacked->bytes.kept, 0);
    QCOMPARE(kept->bytes.device, 0);
    QCOMPARE(kept->bytes.kept, 64);
  }

  // Four replicas send to four new devices of one host: no port carries more than one device needs.
  void replicasShareTheSending() {
    const auto collection = Tensors(16, {64}, {});
    const auto plan = MakePlan(On("dp=4 on 1x4", collection), On("dp=8 on 1x8", collection), {});
    QCOMPARE(plan->bytes.host, 4 * 16 * 64 * 4);
    QCOMPARE(plan->busiest_port_bytes, 16 * 64 * 4);
  }

  // Two hosts with one replica each send to a third host: half through each network port.
  void hostsShareTheNetwork() {
    const auto collection = Tensors(16, {64}, {});
    const auto plan =
        MakePlan(On("dp=3 on n0g0,n0g1,n1g0", collection), On("dp=2 on n2g0,n2g1", collection), {});
    std::map<std::int32_t, std::int64_t> sent;
    for (const Move& move : plan->moves) {
      if (const auto* copy = std::get_if<RemoteCopy>(&move)) {
        sent[copy->source.node] += copy->cell.num_elements();
      }
    }
    QCOMPARE(sent, (std::map<std::int32_t, std::int64_t>{{0, 16 * 64}, {1, 16 * 64}}));
  }

  void aNearHolderWinsOverAnIdleFarOne() {
    const auto collection = Tensors(8, {64}, {});
    const auto plan = MakePlan(On("dp=2 on n0g0,n1g0", collection),
                               On("dp=4 on n0g0,n0g1,n0g2,n0g3", collection), {});
    QCOMPARE(plan->bytes.network, 0);
    Topology one_host;
    one_host.host_of_node = {{0, 0}, {1, 0}};
    const auto shared = MakePlan(On("dp=2 on n0g0,n1g0", collection),
                                 On("dp=4 on n0g0,n0g1,n0g2,n0g3", collection), one_host);
    QCOMPARE(shared->bytes.network, 0);
    QVERIFY(shared->busiest_port_bytes < plan->busiest_port_bytes);
  }

  void otherCollectionsAreRefused_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("size");
    QTest::addColumn<QString>("message");
    QTest::newRow("a tensor less") << 1 << 4 << "tensor 'w1' is only in the old layout";
    QTest::newRow("a tensor more") << 3 << 4 << "tensor 'w2' is only in the new layout";
    QTest::newRow("another shape")
        << 2 << 8
        << "tensor 'w0' is param f32 [4] in the old layout and param f32 [8] in the new one";
  }
  void otherCollectionsAreRefused() {
    QFETCH(int, count);
    QFETCH(int, size);
    QFETCH(QString, message);
    const auto plan = MakePlan(On("dp=1 on n0g0", Tensors(2, {4}, {})),
                               On("dp=1 on n0g0", Tensors(count, {size}, {})), {});
    QVERIFY(!plan);
    QCOMPARE(plan.error().code, tessera::ErrorCode::kInvalidArgument);
    QCOMPARE(plan.error().ToString(), message.toStdString());
  }

  void hostsAreNamedByNodes() {
    Topology topology;
    topology.host_of_node = {{3, 1}};
    QCOMPARE(topology.HostOf({3, 0}), 1);
    QCOMPARE(topology.HostOf({1, 0}), 1);
    QCOMPARE(topology.HostOf({2, 0}), 2);
  }
};

TESSERA_TEST_APPLESS(PlanTest)
#include "plan_test.moc"
