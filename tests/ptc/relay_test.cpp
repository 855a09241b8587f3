// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ptc/plan/plan.h"
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
using tessera::test::Job;
using tessera::test::On;

namespace {

constexpr int kCases = 2000;

/// The memory of all devices while a plan is carried out in two phases: the moves from old pieces,
/// then the forwarded moves. An element is its index from 1; 0 is not written yet.
class Machines {
 public:
  using Key = std::tuple<DeviceId, int, Box>;
  using Piece = std::vector<std::size_t>;

  Machines(const Job& job, const Topology& topology) : job_(job), topology_(topology) {
    Hold(job.from, old_, true);
    Hold(job.to, new_, false);
  }

  void Run(const Plan& plan) {
    for (const Move& move : plan.moves) {
      if (const auto* keep = std::get_if<Keep>(&move)) {
        Carry(old_, {keep->device, keep->tensor, keep->from}, {keep->device, keep->piece},
              keep->piece);
      } else if (const auto* local = std::get_if<LocalCopy>(&move)) {
        Carry(old_, {local->device, local->tensor, local->from}, {local->device, local->piece},
              local->cell);
      } else if (const auto* copy = std::get_if<RemoteCopy>(&move); copy && !copy->forwarded) {
        Carry(old_, {copy->source, copy->tensor, copy->from}, {copy->device, copy->piece},
              copy->cell);
        Count(*copy);
      }
    }
    const auto first = ports_;
    const auto arrived = new_;  // forwarded elements are not forwarded again
    for (const Move& move : plan.moves) {
      const auto* copy = std::get_if<RemoteCopy>(&move);
      if (copy == nullptr || !copy->forwarded) continue;
      Check(copy->source.node == copy->device.node, "passes on to another node");
      Carry(arrived, {copy->source, copy->tensor, copy->from}, {copy->device, copy->piece},
            copy->cell);
      Count(*copy);
    }
    auto then = ports_;
    for (const auto& [port, bytes] : first) then[port] -= bytes;
    seconds_in_phases_ = SecondsOf(first) + SecondsOf(then);
    auto expected = new_;
    for (auto& [key, piece] : expected) piece = Filled(std::get<int>(key), std::get<Box>(key));
    Check(new_ == expected, "an element of the target is missing");
  }

  const std::string& problem() const { return problem_; }
  std::int64_t received(DeviceId device) const {
    const auto it = received_.find(device);
    return it == received_.end() ? 0 : it->second;
  }
  std::int64_t network() const { return network_; }
  std::int64_t host() const { return host_; }
  /// The time of the port that finishes last.
  double seconds() const { return SecondsOf(ports_); }
  /// The same of each phase, added.
  double seconds_in_phases() const { return seconds_in_phases_; }

 private:
  using Ports = std::map<std::tuple<int, DeviceId, bool>, std::int64_t>;  // kind, name, out

  double SecondsOf(const Ports& ports) const {
    double most = 0;
    for (const auto& [port, bytes] : ports) {
      const auto& [kind, name, is_out] = port;
      double speed = topology_.host_bytes_per_second;
      if (kind == 1) speed = topology_.NetworkOf(name.node);
      if (kind == 2) speed = *topology_.rack_bytes_per_second;
      most = std::max(most, static_cast<double>(bytes) / speed);
    }
    return most;
  }

  const TensorSpec& Spec(int tensor) const {
    return job_.from.collection().tensors()[static_cast<std::size_t>(tensor)];
  }
  Piece Filled(int tensor, const Box& box) const {
    Piece piece = ElementsOf(Spec(tensor).shape, box);
    for (std::size_t& element : piece) ++element;
    return piece;
  }
  void Hold(const Layout& layout, std::map<Key, Piece>& memory, bool full) const {
    for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
      const DeviceId device = layout.mesh().devices()[static_cast<std::size_t>(rank)];
      for (int t = 0; t < static_cast<int>(job_.from.collection().tensors().size()); ++t) {
        for (const Box& box : layout.Boxes(rank, t)) {
          Piece piece = Filled(t, box);
          if (!full) std::fill(piece.begin(), piece.end(), 0);
          memory[{device, t, box}] = std::move(piece);
        }
      }
    }
  }
  void Check(bool good, const char* what) {
    if (!good && problem_.empty()) problem_ = what;
  }

  void Carry(const std::map<Key, Piece>& memory, const Key& from,
             const std::pair<DeviceId, Box>& to, const Box& cell) {
    const int tensor = std::get<int>(from);
    const auto source = memory.find(from);
    const auto target = new_.find({to.first, tensor, to.second});
    if (source == memory.end() || target == new_.end()) return Check(false, "a piece is not there");
    const Piece in_source = Filled(tensor, std::get<Box>(from));
    const Piece in_target = Filled(tensor, to.second);
    for (std::size_t element : Filled(tensor, cell)) {
      const auto at = std::find(in_source.begin(), in_source.end(), element) - in_source.begin();
      const auto into = std::find(in_target.begin(), in_target.end(), element) - in_target.begin();
      if (at == std::ssize(in_source) || into == std::ssize(in_target)) {
        return Check(false, "a cell is not in its piece");
      }
      Check(source->second[static_cast<std::size_t>(at)] == element, "sends what it does not have");
      std::size_t& place = target->second[static_cast<std::size_t>(into)];
      Check(place == 0, "writes an element twice");
      place = element;
    }
  }

  void Count(const RemoteCopy& copy) {
    const std::int64_t bytes = copy.cell.num_elements() * SizeBytes(Spec(copy.tensor).dtype);
    received_[copy.device] += bytes;
    const std::int32_t out = topology_.HostOf(copy.source);
    const std::int32_t in = topology_.HostOf(copy.device);
    (out == in ? host_ : network_) += bytes;
    const auto through = [&](int kind, DeviceId source, DeviceId device) {
      ports_[{kind, source, true}] += bytes;
      ports_[{kind, device, false}] += bytes;
    };
    if (out == in) return through(0, copy.source, copy.device);
    through(1, {out, 0}, {in, 0});
    if (topology_.rack_bytes_per_second && topology_.RackOf(out) != topology_.RackOf(in)) {
      through(2, {topology_.RackOf(out), 0}, {topology_.RackOf(in), 0});
    }
  }

  const Job& job_;
  const Topology topology_;  // tests pass temporaries
  std::map<Key, Piece> old_, new_;
  std::map<DeviceId, std::int64_t> received_;
  Ports ports_;
  double seconds_in_phases_ = 0;
  std::int64_t network_ = 0;
  std::int64_t host_ = 0;
  std::string problem_;
};

/// Whole speeds, so that equal times are equal numbers.
Topology AnyTopology(std::mt19937_64& rng) {
  Topology topology;
  topology.host_bytes_per_second = static_cast<double>(1 + rng() % 20);
  topology.network_bytes_per_second = static_cast<double>(1 + rng() % 3);
  if (rng() % 3 == 0) topology.host_of_node = {{1, 0}};
  if (rng() % 3 == 0) topology.network_of_host = {{2, 1.0 + static_cast<double>(rng() % 4)}};
  if (rng() % 4 == 0) {
    topology.rack_of_host = {{2, 1}};
    topology.rack_bytes_per_second = static_cast<double>(1 + rng() % 3);
  }
  return topology;
}

Plan Relayed(const Layout& from, const Layout& to, const Topology& topology) {
  return *MakePlan(from, to, topology, {.relaying = Relaying::kIfFaster});
}

std::int64_t NumForwarded(const Plan& plan) {
  return std::ranges::count_if(plan.moves, [](const Move& move) {
    const auto* copy = std::get_if<RemoteCopy>(&move);
    return copy != nullptr && copy->forwarded;
  });
}

}  // namespace

class RelayTest : public QObject {
  Q_OBJECT
 private slots:
  // A relayed plan works: devices forward only elements that have arrived, each element of the
  // target is written once, each device receives the same bytes, and no port is busier than the
  // busiest was.
  void relayedPlansMakeTheTarget() {
    std::mt19937_64 rng(tessera::test::Seed());
    int relayed = 0;
    for (int i = 0; i < kCases; ++i) {
      const Job job = AnyJob(rng);
      const Topology topology = AnyTopology(rng);
      const auto direct = MakePlan(job.from, job.to, topology);
      QVERIFY(direct);
      const Plan plan = Relayed(job.from, job.to, topology);
      Machines straight(job, topology);
      straight.Run(*direct);
      QVERIFY2(straight.problem().empty(), straight.problem().c_str());
      Machines machines(job, topology);
      machines.Run(plan);
      QVERIFY2(machines.problem().empty(), machines.problem().c_str());

      for (const auto& [device, bytes] : plan.peak_memory) {
        QCOMPARE(machines.received(device), straight.received(device));
      }
      QCOMPARE(plan.peak_memory, direct->peak_memory);
      QCOMPARE(plan.bytes.moved(), tessera::test::VolumeBound(job.from, job.to));
      QCOMPARE(plan.bytes.network, machines.network());
      QCOMPARE(plan.bytes.host, machines.host());
      QCOMPARE(plan.transfer_seconds, machines.seconds());
      QVERIFY(machines.seconds() <= straight.seconds());
      QVERIFY(plan.bytes.network <= direct->bytes.network);
      // Both phases, one after the other, take no longer than sending everything directly.
      QVERIFY(machines.seconds_in_phases() <= straight.seconds() * (1 + 1e-12));
      QCOMPARE(plan.hash == direct->hash, plan.moves == direct->moves);
      QCOMPARE(NumForwarded(plan) > 0, plan.bytes.network < direct->bytes.network);
      relayed += NumForwarded(plan) > 0;
    }
    QVERIFY(relayed > kCases / 20);
  }

  void equalInputsGiveEqualPlans() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    for (int i = 0; i < 300; ++i) {
      const Job job = AnyJob(rng);
      const Topology topology = AnyTopology(rng);
      const Layout from = *ParseLayout(ToJson(job.from));
      const Layout to = *ParseLayout(ToJson(job.to));
      const Plan once = Relayed(job.from, job.to, topology);
      const Plan again = Relayed(from, to, topology);
      QCOMPARE(once.hash, again.hash);
      QVERIFY(once.moves == again.moves);
      QCOMPARE(once.busiest_port, again.busiest_port);
    }
  }

  // Four devices of another node each receive a quarter, and send it to the others.
  void aNodeIsEnteredOnce() {
    const auto w = EqualTensors(1, {6400});
    const Layout from = On("dp=1 on n0g0", w);
    const Layout to = On("dp=4 on n1g0,n1g1,n1g2,n1g3", w);
    const auto direct = MakePlan(from, to, {});
    const Plan plan = Relayed(from, to, {});
    QCOMPARE(direct->bytes.network, 4 * 6400);
    QCOMPARE(plan.bytes.network, 6400);
    QCOMPARE(plan.bytes.host, 3 * 6400);
    QCOMPARE(plan.busiest_port, std::string("n0 out"));
    QCOMPARE(plan.busiest_port_bytes, 6400);
    QCOMPARE(plan.transfer_seconds, 6400 / 1e9);
    QCOMPARE(NumForwarded(plan), 12);
    const auto slice = [](std::int64_t begin, std::int64_t end) {
      return *Box::Make(std::vector<Interval>{{begin, end}});
    };
    const Box whole = slice(0, 6400);
    const std::vector<Move> begin(plan.moves.begin(), plan.moves.begin() + 4);
    const Box quarter = slice(0, 1600);
    QVERIFY(begin ==
            (std::vector<Move>{RemoteCopy{{0, 0}, {1, 0}, 0, quarter, whole, whole, false},
                               RemoteCopy{{1, 0}, {1, 1}, 0, quarter, whole, whole, true},
                               RemoteCopy{{1, 0}, {1, 2}, 0, quarter, whole, whole, true},
                               RemoteCopy{{1, 0}, {1, 3}, 0, quarter, whole, whole, true}}));
  }

  // Two nodes of one host do not relay to each other, so the bytes enter each of them.
  void nodesOfAHostRelayEachForItself() {
    const auto w = EqualTensors(1, {6400});
    const Layout from = On("dp=1 on n0g0", w);
    const Layout to = On("dp=4 on n1g0,n1g1,n2g0,n2g1", w);
    const Topology topology{.host_of_node = {{2, 1}}};
    const auto direct = MakePlan(from, to, topology);
    const Plan plan = Relayed(from, to, topology);
    QCOMPARE(plan.bytes.network, 2 * 6400);
    QCOMPARE(plan.bytes.host, 2 * 6400);
  }

  // Forwarded moves wait for arrivals. With slow ports inside the host, both phases take longer
  // than direct sends although no port is busier.
  void whatWouldTakeLongerIsSentStraight() {
    const auto w = EqualTensors(1, {6400});
    const Layout from = On("dp=1 on n0g0", w);
    const Layout to = On("dp=2 on n1g0,n1g1", w);
    const auto network_bytes = [&](double host_bytes_per_second) {
      const Topology topology{.host_bytes_per_second = host_bytes_per_second,
                              .network_bytes_per_second = 1e9};
      return Relayed(from, to, topology).bytes.network;
    };
    QCOMPARE(network_bytes(0.51e9), 6400);  // 6400 over the network, then 3200 inside
    QCOMPARE(network_bytes(0.49e9), 2 * 6400);
    QCOMPARE(network_bytes(0.1e9), 2 * 6400);
  }

  void nothingToRelayLeavesThePlan() {
    const auto w = EqualTensors(1, {6400});
    const Layout from = On("dp=1 on n0g0", w);
    for (const char* mesh : {"dp=2 on n0g0,n1g0", "dp=4 on n0g0,n0g1,n0g2,n0g3", "dp=1 on n0g0"}) {
      const Layout to = On(mesh, w);
      const auto direct = MakePlan(from, to, {});
      const Plan plan = Relayed(from, to, {});
      QVERIFY(plan.moves == direct->moves);
      QCOMPARE(plan.hash, direct->hash);
    }
  }
};

TESSERA_TEST_APPLESS(RelayTest)
#include "relay_test.moc"
