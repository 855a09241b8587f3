// SPDX-License-Identifier: Apache-2.0
#include "ptc/schedule/schedule.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ptc/schedule/split_box.h"
#include "ptc/schedule/steps.h"
#include "tests/ptc/equal_tensors.h"
#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::AnyJob;
using tessera::test::ElementsOf;
using tessera::test::EqualTensors;
using tessera::test::Job;
using tessera::test::On;

namespace {

constexpr int kCases = 1000;

/// The memory of all devices while a schedule runs: pieces with the index (from 1) of each element
/// that has been written, else 0.
class Machines {
 public:
  using Key = std::tuple<DeviceId, int, Box>;
  using Piece = std::vector<std::size_t>;

  Machines(const Job& job, const Plan& plan, const Topology& topology)
      : job_(job), topology_(topology) {
    for (int rank = 0; rank < job.from.mesh().num_ranks(); ++rank) {
      const DeviceId device = job.from.mesh().devices()[static_cast<std::size_t>(rank)];
      for (int tensor = 0; tensor < NumTensors(); ++tensor) {
        for (const Box& box : job.from.Boxes(rank, tensor)) {
          old_[{device, tensor, box}] = Filled(tensor, box);
        }
      }
    }
    for (const Move& move : plan.moves) {
      if (const auto* keep = std::get_if<Keep>(&move)) {
        const Piece& from = old_.at({keep->device, keep->tensor, keep->from});
        Piece piece = Filled(keep->tensor, keep->piece);
        Check(std::search(from.begin(), from.end(), piece.begin(), piece.end()) != from.end());
        new_[{keep->device, keep->tensor, keep->piece}] = std::move(piece);
        kept_.insert({keep->device, keep->tensor, keep->piece});
      }
    }
  }

  /// The first error, or empty.
  const std::string& problem() const { return problem_; }
  std::int64_t peak(DeviceId device) const {
    const auto it = peak_.find(device);
    return it == peak_.end() ? 0 : it->second;
  }

  void Run(const Schedule& schedule, const ScheduleOptions& options) {
    Look();
    for (const Drop& drop : schedule.first_frees) Free(drop);
    for (const Round& round : schedule.rounds) RunRound(round, options);
    Look();
    // All needed elements are there.
    std::map<Key, Piece> expected;
    for (int rank = 0; rank < job_.to.mesh().num_ranks(); ++rank) {
      const DeviceId device = job_.to.mesh().devices()[static_cast<std::size_t>(rank)];
      for (int tensor = 0; tensor < NumTensors(); ++tensor) {
        for (const Box& box : job_.to.Boxes(rank, tensor)) {
          expected[{device, tensor, box}] = Filled(tensor, box);
        }
      }
    }
    Check(new_ == expected, "the target differs");
  }

 private:
  int NumTensors() const { return static_cast<int>(job_.from.collection().tensors().size()); }
  const TensorSpec& Spec(int tensor) const {
    return job_.from.collection().tensors()[static_cast<std::size_t>(tensor)];
  }
  Piece Filled(int tensor, const Box& box) const {
    Piece piece = ElementsOf(Spec(tensor).shape, box);
    for (std::size_t& element : piece) ++element;
    return piece;
  }
  void Check(bool good, const char* what = "a kept piece is no range of the old one") {
    if (!good && problem_.empty()) problem_ = what;
  }

  /// Writes that become visible at the end of the round.
  struct Write {
    Key key;
    std::size_t place;
    std::size_t value;
  };

  /// Reads a cell from a piece as it was before the round, and writes it into another piece.
  void Carry(const std::map<Key, Piece>& memory, const Key& from, const Key& to, const Box& cell) {
    const auto source = memory.find(from);
    if (source == memory.end()) return Check(false, "reads a piece that is not there");
    const int tensor = std::get<int>(from);
    const Piece in_source = Filled(tensor, std::get<Box>(from));
    const Piece in_target = Filled(tensor, std::get<Box>(to));
    for (std::size_t element : Filled(tensor, cell)) {
      const auto at = std::find(in_source.begin(), in_source.end(), element);
      const auto into = std::find(in_target.begin(), in_target.end(), element);
      if (at == in_source.end() || into == in_target.end()) {
        return Check(false, "a cell is not in its piece");
      }
      const std::size_t value = source->second[static_cast<std::size_t>(at - in_source.begin())];
      if (value != element) return Check(false, "sends bytes that it does not have");
      writes_.push_back({to, static_cast<std::size_t>(into - in_target.begin()), value});
    }
  }

  void RunRound(const Round& round, const ScheduleOptions& options) {
    for (const LocalCopy& copy : round.copies) {
      Carry(old_, {copy.device, copy.tensor, copy.from}, {copy.device, copy.tensor, copy.piece},
            copy.cell);
    }
    std::set<std::tuple<int, int, DeviceId>> busy;  // step, direction and kind, device or host
    std::map<std::pair<int, DeviceId>, int> messages_at;
    int steps = 0;
    for (const Message& message : round.messages) {
      const std::int32_t source_host = topology_.HostOf(message.source);
      const std::int32_t host = topology_.HostOf(message.destination);
      const bool is_near = source_host == host;
      const DeviceId out = is_near ? message.source : DeviceId{source_host, -1};
      const DeviceId in = is_near ? message.destination : DeviceId{host, -1};
      Check(message.source != message.destination, "sends to itself");
      Check(busy.insert({message.step, 0, out}).second, "two messages leave a port in a step");
      Check(busy.insert({message.step, 1, in}).second, "two messages enter a port in a step");
      ++messages_at[{0, out}];
      ++messages_at[{1, in}];
      steps = std::max(steps, message.step + 1);
      std::int64_t bytes = 0;
      for (const Transfer& transfer : message.transfers) {
        bytes += transfer.cell.num_elements() * SizeBytes(Spec(transfer.tensor).dtype);
        Carry(transfer.forwarded ? new_ : old_, {message.source, transfer.tensor, transfer.from},
              {message.destination, transfer.tensor, transfer.piece}, transfer.cell);
      }
      Check(bytes == message.bytes && bytes > 0, "a message says other bytes than it has");
      const bool one_element =
          message.transfers.size() == 1 && message.transfers.front().cell.num_elements() == 1;
      Check(bytes <= options.message_bytes || one_element, "a message is too large");
    }
    int most = 0;
    for (const auto& [port, count] : messages_at) most = std::max(most, count);
    Check(steps == most, "more steps than messages at the busiest port");
    for (const Write& write : writes_) {
      Piece& piece = new_[write.key];
      if (piece.empty())
        piece.resize(Filled(std::get<int>(write.key), std::get<Box>(write.key)).size());
      Check(piece[write.place] == 0, "writes an element twice");
      piece[write.place] = write.value;
    }
    writes_.clear();
    Look();
    for (const Drop& drop : round.frees) Free(drop);
  }

  void Free(const Drop& drop) {
    Check(old_.erase({drop.device, drop.tensor, drop.piece}) == 1, "frees what is not there");
  }

  /// Counts the bytes of each device. Kept pieces are part of old pieces.
  void Look() {
    std::map<DeviceId, std::int64_t> now;
    const auto add = [&](const Key& key) {
      const auto& [device, tensor, box] = key;
      now[device] += box.num_elements() * SizeBytes(Spec(tensor).dtype);
    };
    for (const auto& [key, piece] : old_) add(key);
    for (const auto& [key, piece] : new_) {
      if (!kept_.contains(key)) add(key);
    }
    for (const auto& [device, bytes] : now) peak_[device] = std::max(peak_[device], bytes);
  }

  const Job& job_;
  const Topology topology_;  // tests pass temporaries
  std::map<Key, Piece> old_, new_;
  std::set<Key> kept_;
  std::vector<Write> writes_;
  std::map<DeviceId, std::int64_t> peak_;
  std::string problem_;
};

Topology AnyTopology(std::mt19937_64& rng) {
  Topology topology;
  topology.host_bytes_per_second = static_cast<double>(1 + rng() % 20);
  topology.network_bytes_per_second = static_cast<double>(1 + rng() % 3);
  if (rng() % 3 == 0) topology.host_of_node = {{1, 0}};
  if (rng() % 3 == 0) topology.network_of_host = {{2, 1.0 + static_cast<double>(rng() % 4)}};
  return topology;
}

std::int64_t Most(const std::map<DeviceId, std::int64_t>& bytes) {
  std::int64_t most = 0;
  for (const auto& [device, b] : bytes) most = std::max(most, b);
  return most;
}

}  // namespace

class ScheduleTest : public QObject {
  Q_OBJECT
 private slots:
  // Carried out round by round: devices send only elements that they have, all needed elements are
  // written once, and relaying never makes the busiest port busier.
  void schedulesMakeTheTarget() {
    std::mt19937_64 rng(tessera::test::Seed());
    int forwarding = 0;
    for (int i = 0; i < kCases; ++i) {
      const Job job = AnyJob(rng);
      const Topology topology = AnyTopology(rng);
      const auto plan = MakePlan(job.from, job.to, topology);
      QVERIFY(plan);
      double direct = 0;
      for (const bool relay : {false, true}) {
        const ScheduleOptions options{.relay = relay,
                                      .message_bytes = static_cast<std::int64_t>(1 + rng() % 200)};
        const auto schedule = MakeSchedule(*plan, job.from, job.to, topology, options);
        QVERIFY(schedule);
        Machines machines(job, *plan, topology);
        machines.Run(*schedule, options);
        QVERIFY2(machines.problem().empty(), machines.problem().c_str());
        for (const auto& [device, bytes] : schedule->peak_memory) {
          QCOMPARE(bytes, machines.peak(device));
          QCOMPARE(bytes, plan->peak_memory.at(device));
        }
        if (!relay) {
          direct = schedule->busiest.seconds;
          QCOMPARE(schedule->network_bytes, plan->bytes.network);
          QCOMPARE(schedule->host_bytes, plan->bytes.host);
          QVERIFY(schedule->rounds.size() <= 1);
          QCOMPARE(schedule->seconds, direct);
        } else {
          QVERIFY(schedule->busiest.seconds <= direct);
          QVERIFY(schedule->seconds <= direct);
          QVERIFY(schedule->network_bytes <= plan->bytes.network);
          QCOMPARE(schedule->network_bytes + schedule->host_bytes, plan->bytes.moved());
          forwarding += schedule->network_bytes < plan->bytes.network;
        }
      }
    }
    QVERIFY(forwarding > kCases / 10);
  }

  // A budget between the final bytes of the fullest device and the bytes without freeing is either
  // kept, or the error names the device that would exceed it.
  void budgetsAreKeptOrRefused() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    int kept = 0;
    int refused = 0;
    for (int i = 0; i < kCases; ++i) {
      const Job job = AnyJob(rng);
      const auto plan = MakePlan(job.from, job.to, {});
      QVERIFY(plan);
      std::int64_t least = 1;
      for (const Layout* layout : {&job.from, &job.to}) {
        for (int rank = 0; rank < layout->mesh().num_ranks(); ++rank) {
          least = std::max(least, layout->BytesOf(rank));
        }
      }
      const std::int64_t most = Most(plan->peak_memory);
      if (most <= least) continue;
      ScheduleOptions options;
      options.message_bytes = 64;
      options.relay = rng() % 2 == 0;
      options.memory_budget =
          least + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(most - least));
      const auto schedule = MakeSchedule(*plan, job.from, job.to, {}, options);
      if (!schedule) {
        QCOMPARE(schedule.error().code, tessera::ErrorCode::kResourceExhausted);
        QVERIFY(schedule.error().message.find("the memory budget is " +
                                              std::to_string(options.memory_budget)) !=
                std::string::npos);
        ++refused;
        continue;
      }
      Machines machines(job, *plan, {});
      machines.Run(*schedule, options);
      QVERIFY2(machines.problem().empty(), machines.problem().c_str());
      for (const auto& [device, bytes] : schedule->peak_memory) {
        QVERIFY(bytes <= options.memory_budget);
        QVERIFY(machines.peak(device) <= options.memory_budget);
      }
      ++kept;
    }
    QVERIFY(kept > kCases / 20 && refused > kCases / 20);
  }

  // A swap of halves between two devices, tensor by tensor, needs only the room of one tensor.
  void tensorByTensorNeedsOneTensorMore() {
    const auto w = EqualTensors(10, {100}, {{Axis::kTp}});
    const Layout from = On("tp=2 on n0g0,n1g0", w);
    const Layout to = On("tp=2 on n1g0,n0g0", w);
    const auto plan = MakePlan(from, to, {});
    ScheduleOptions options;
    options.memory_budget = 550;
    const auto schedule = MakeSchedule(*plan, from, to, {}, options);
    QVERIFY(schedule);
    QCOMPARE(schedule->rounds.size(), 10U);
    QCOMPARE(Most(schedule->peak_memory), 550);
    QCOMPARE(schedule->seconds, 10 * (50 / 1e9));

    options.memory_budget = 549;
    const auto refused = MakeSchedule(*plan, from, to, {}, options);
    QVERIFY(!refused);
    QCOMPARE(refused.error().ToString(),
             "device n0g0 needs 550 bytes to continue with tensor 'w0', the memory budget is 549");

    options.memory_budget = 1000;  // nothing must be freed
    const auto at_once = MakeSchedule(*plan, from, to, {}, options);
    QCOMPARE(at_once->rounds.size(), 1U);
    QVERIFY(at_once->rounds.front().frees.empty());
  }

  // Four devices of a new host: the tensor crosses once instead of four times.
  void aHostIsEnteredOnce() {
    const auto w = EqualTensors(1, {6400});
    const Layout from = On("dp=1 on n0g0", w);
    const Layout to = On("dp=4 on n1g0,n1g1,n1g2,n1g3", w);
    Topology topology;
    topology.host_bytes_per_second = 4e9;
    const auto plan = MakePlan(from, to, topology);
    const auto direct = MakeSchedule(*plan, from, to, topology, {.relay = false});
    const auto relayed = MakeSchedule(*plan, from, to, topology, {});
    QCOMPARE(direct->busiest, (PortLoad{6400 * 4 / 1e9, 6400 * 4, "n0 out"}));
    QCOMPARE(relayed->busiest, (PortLoad{6400 / 1e9, 6400, "n0 out"}));
    QCOMPARE(relayed->network_bytes, 6400);
    QCOMPARE(relayed->host_bytes, 3 * 6400);
    // Ports inside the host so slow that relaying takes longer than sending four times.
    topology.host_bytes_per_second = 1e8;
    const auto slow = MakeSchedule(*plan, from, to, topology, {});
    QCOMPARE(slow->network_bytes, 4 * 6400);
    QCOMPARE(slow->busiest, direct->busiest);
  }

  void messagesAreCutAndPutTogether() {
    const auto w = EqualTensors(3, {100});
    const Layout from = On("dp=1 on n0g0", w);
    const Layout to = On("dp=1 on n1g0", w);
    const auto plan = MakePlan(from, to, {});
    const auto bytes = [&](std::int64_t message_bytes) {
      const auto schedule = MakeSchedule(*plan, from, to, {}, {.message_bytes = message_bytes});
      std::vector<std::int64_t> sizes;
      for (const Message& message : schedule->rounds.front().messages) {
        sizes.push_back(message.bytes);
      }
      return sizes;
    };
    QCOMPARE(bytes(1000), (std::vector<std::int64_t>{300}));
    QCOMPARE(bytes(250), (std::vector<std::int64_t>{200, 100}));
    QCOMPARE(bytes(64), (std::vector<std::int64_t>{64, 64, 64, 36, 36, 36}));
  }

  void equalInputsGiveEqualSchedules() {
    std::mt19937_64 rng(tessera::test::Seed() + 2);
    for (int i = 0; i < 200; ++i) {
      const Job job = AnyJob(rng);
      const auto plan = MakePlan(job.from, job.to, {});
      const auto once = MakeSchedule(*plan, job.from, job.to, {}, {});
      const auto parsed =
          MakeSchedule(*plan, *ParseLayout(ToJson(job.from)), *ParseLayout(ToJson(job.to)), {}, {});
      QVERIFY(once && parsed);
      QCOMPARE(once->hash, parsed->hash);
      QVERIFY(once->rounds == parsed->rounds);
      const auto finer = MakeSchedule(*plan, job.from, job.to, {}, {.message_bytes = 1});
      QCOMPARE(finer->hash == once->hash, finer->rounds == once->rounds);
      const auto idle = MakeSchedule(*MakePlan(job.from, job.from, {}), job.from, job.from, {}, {});
      QVERIFY(idle->rounds.empty());
      QVERIFY(idle->busiest.port.empty());
    }
  }

  void badOptionsAreRefused() {
    const auto w = EqualTensors(1, {4});
    const Layout layout = On("dp=1 on n0g0", w);
    const auto plan = MakePlan(layout, layout, {});
    const auto budget = MakeSchedule(*plan, layout, layout, {}, {.memory_budget = -1});
    const auto message = MakeSchedule(*plan, layout, layout, {}, {.message_bytes = 0});
    QCOMPARE(budget.error().ToString(), "memory budget -1 is below 0");
    QCOMPARE(message.error().ToString(), "0 bytes per message are below 1");
  }

  // As many steps as messages at the busiest port, and no port twice in one.
  void stepsAreMatchings() {
    std::mt19937_64 rng(tessera::test::Seed() + 3);
    for (int i = 0; i < 1000; ++i) {
      const std::size_t ports = 1 + rng() % 8;
      std::vector<PortPair> messages;
      for (std::size_t m = rng() % 60; m > 0; --m)
        messages.push_back({rng() % ports, rng() % ports});
      const std::vector<int> steps = StepsOf(messages, ports);
      std::set<std::tuple<int, int, std::size_t>> busy;
      std::vector<int> out(ports);
      std::vector<int> in(ports);
      int last = 0;
      for (std::size_t m = 0; m < messages.size(); ++m) {
        QVERIFY(busy.insert({steps[m], 0, messages[m].out}).second);
        QVERIFY(busy.insert({steps[m], 1, messages[m].in}).second);
        ++out[messages[m].out];
        ++in[messages[m].in];
        last = std::max(last, steps[m] + 1);
      }
      QCOMPARE(last, std::max(*std::ranges::max_element(out), *std::ranges::max_element(in)));
    }
  }

  void boxesAreCutWithoutGaps() {
    std::mt19937_64 rng(tessera::test::Seed() + 4);
    for (int i = 0; i < 2000; ++i) {
      const int rank = static_cast<int>(rng() % 4);
      const Box box = rank == 0 ? Box::Scalar() : tessera::test::AnyBox(rng, rank, 12);
      const Shape whole(static_cast<std::size_t>(rank), 12);
      const auto most = static_cast<std::int64_t>(1 + rng() % 40);
      std::vector<std::size_t> elements;
      for (const Box& part : SplitInOrder(box, most)) {
        QVERIFY(part.num_elements() <= most);
        QVERIFY(ContiguousOffset(box, part));
        const auto own = ElementsOf(whole, part);
        elements.insert(elements.end(), own.begin(), own.end());
      }
      QCOMPARE(elements, ElementsOf(whole, box));

      elements.clear();
      const auto parts = SplitEvenly(box, most);
      QVERIFY(std::ssize(parts) <= most);
      QVERIFY(std::is_sorted(parts.begin(), parts.end()));
      for (const Box& part : parts) {
        const auto own = ElementsOf(whole, part);
        elements.insert(elements.end(), own.begin(), own.end());
      }
      std::sort(elements.begin(), elements.end());
      QCOMPARE(elements, ElementsOf(whole, box));
    }
  }
};

TESSERA_TEST_APPLESS(ScheduleTest)
#include "schedule_test.moc"
